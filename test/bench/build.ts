import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { type BuildFailure, type BuildOptions, build, type Plugin } from "esbuild";
import { here } from "./paths.ts";

const built = `${here}built/`;

/** Begins with a copy of `dist` alone: a build in the middle of a run would be measured otherwise. */
export const clearBuilt = (): void => {
  rmSync(built, { recursive: true, force: true });
  mkdirSync(built);
  cpSync(`${here}../../dist`, `${built}outdial`, { recursive: true });
  cpSync(`${here}../../package.json`, `${built}outdial/package.json`);
};

/** The file of each entry, as the package says: `./fetch` to `./dist/fetch.js`. */
const entries: Readonly<Record<string, { readonly default: string }>> = JSON.parse(
  readFileSync(`${here}../../package.json`, "utf8"),
).exports;

/** Imports of outdial lead to the copy: beside the files that are built, or into a bundle. */
const toTheCopy = (folder: string, external: boolean): Plugin => ({
  name: "to-the-copy",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^outdial(\/|$)/ }, ({ path }) => {
      const file = entries[path.replace("outdial", ".")]?.default ?? "";
      return { path: `${folder}${file.replace("./dist", "outdial")}`, external };
    }),
});

const common: BuildOptions = { bundle: true, format: "esm", target: "es2022", logLevel: "silent" };

const forFiles: BuildOptions = {
  packages: "external",
  platform: "node",
  plugins: [toTheCopy("./", true)],
};

/**
 * A file of ours for Node, Deno and Bun: plain JavaScript, so that no runtime is measured while it
 * strips types, with the imports of packages left in place.
 */
export const buildFile = async (entry: string, name: string): Promise<string> => {
  const outfile = `${built}${name}.mjs`;
  await build({
    ...common,
    entryPoints: [`${here}${entry}`],
    ...forFiles,
    outfile,
  });
  return outfile;
};

/** The shortest program that places a call, prints the id, and ends. */
export const buildFirstCall = async (client: string, baseUrl: string): Promise<string> => {
  const outfile = `${built}first-${client}.mjs`;
  const contents = `
    import { connect } from "./clients/${client}.ts";
    console.log(await connect(${JSON.stringify(baseUrl)})());`;
  await build({
    ...common,
    stdin: { contents, resolveDir: here, loader: "ts" },
    ...forFiles,
    outfile,
  });
  return outfile;
};

/** A program in one minified file, or why there is none. */
export type Bundle = { readonly code: string } | { readonly missing: string };

/** A module for the bundles: the client, and a fetch handler that places one call. */
const worker = (client: string, baseUrl: string) => `
  import { connect } from "./clients/${client}.ts";
  export default {
    async fetch() { return new Response(await connect(${JSON.stringify(baseUrl)})()); }
  };`;

const bundle = async (contents: string, options: BuildOptions): Promise<Bundle> => {
  try {
    const { outputFiles } = await build({
      ...common,
      ...options,
      plugins: [toTheCopy(built, false)],
      stdin: { contents, resolveDir: here, loader: "ts" },
      minify: true,
      write: false,
    });
    return { code: outputFiles?.[0]?.text ?? "" };
  } catch (error) {
    const { errors = [] }: Partial<BuildFailure> = Object(error);
    const names = errors.map(({ text }) => /^Could not resolve "(.+)"$/.exec(text)?.[1] ?? text);
    return { missing: [...new Set(names)].join(", ") };
  }
};

/** For a Worker without `nodejs_compat`, with the conditions that Cloudflare's own tool sets. */
export const bundleForWorker = (client: string, baseUrl: string): Promise<Bundle> =>
  bundle(worker(client, baseUrl), {
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    define: { "process.env.NODE_ENV": '"production"' },
  });

/** For Node, as a function in a cloud would be deployed. */
export const bundleForNode = (client: string, baseUrl: string): Promise<Bundle> =>
  bundle(worker(client, baseUrl), { platform: "node" });
