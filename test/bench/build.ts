// esbuild makes what is measured: files for the runtimes, and bundles as a user would deploy them.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type BuildFailure, type BuildOptions, build, type Plugin } from "esbuild";
import type { Subject } from "./subjects.ts";

/** This folder, with a slash at its end. */
export const here: string = fileURLToPath(new URL(".", import.meta.url));

/** Whether a package is in this folder's node_modules. */
export const isInstalled = (name: string): boolean => existsSync(`${here}node_modules/${name}`);

const built = `${here}built/`;

/** Empties the folder of built files and copies `dist` there, so that a later build of `dist` changes nothing. */
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
      const copy = `${folder}${file.replace("./dist", "outdial")}`;
      return { path: copy, external, sideEffects: false };
    }),
});

/** Imports of some packages stay as they are, but for those that nothing uses: esbuild drops those. */
const external = (is: (path: string, importer: string) => boolean): Plugin => ({
  name: "external",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path, importer }) =>
      is(path, importer) ? { path, external: true, sideEffects: false } : undefined,
    ),
});

const common: BuildOptions = { bundle: true, format: "esm", target: "es2022", logLevel: "silent" };

/** A TypeScript program that takes what is measured from clients.ts or operations.ts. */
const program = (contents: string): BuildOptions => ({
  stdin: { contents, resolveDir: here, loader: "ts" },
});

const buildFile = async (source: BuildOptions, name: string): Promise<string> => {
  const outfile = `${built}${name}.mjs`;
  const plugins = [toTheCopy("./", true), external(() => true)];
  await build({ ...common, ...source, platform: "node", plugins, outfile });
  return outfile;
};

/**
 * A file of ours for Node, Deno and Bun: plain JavaScript, so that no runtime is measured while it
 * strips types, with the imports of packages left in place.
 */
export const buildProgram = (path: string, name: string): Promise<string> =>
  buildFile({ entryPoints: [`${here}${path}`] }, name);

/** A module whose `connect` is an export of clients.ts or operations.ts. */
export const buildModule = (from: "clients" | "operations", name: string): Promise<string> =>
  buildFile(program(`export { ${name} as connect } from "./${from}.ts";`), name);

/** The shortest program that places a call, prints the id, and ends. */
export const buildFirstCall = (client: Subject["name"], baseUrl: string): Promise<string> => {
  const contents = `
    import { ${client} as connect } from "./clients.ts";
    console.log(await connect(${JSON.stringify(baseUrl)})());`;
  return buildFile(program(contents), `first-${client}`);
};

/** A program in one minified file, or why there is none. */
export type Bundle = { readonly code: string } | { readonly missing: string };

/** The scope of a package, or its name without one: `@vonage` has `@vonage/auth` and `@vonage/voice`. */
const ownerOf = (path: string): string => path.split("/")[0] ?? "";

/** A fetch handler that places one call, without the packages of other clients. */
const bundle = async (
  { name, peer = "ky" }: Pick<Subject, "name" | "peer">,
  baseUrl: string,
  options: BuildOptions,
): Promise<Bundle> => {
  const contents = `
    import { ${name} as connect } from "./clients.ts";
    export default {
      async fetch() { return new Response(await connect(${JSON.stringify(baseUrl)})()); }
    };`;
  const isOfAnother = (path: string, importer: string) =>
    importer === `${here}clients.ts` && ownerOf(path) !== ownerOf(peer);
  try {
    const { outputFiles } = await build({
      ...common,
      ...options,
      ...program(contents),
      plugins: [toTheCopy(built, false), external(isOfAnother)],
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
export const bundleForWorker = (client: Subject, baseUrl: string): Promise<Bundle> =>
  bundle(client, baseUrl, {
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    define: { "process.env.NODE_ENV": '"production"' },
  });

/** For Node, as a function in a cloud would be deployed. */
export const bundleForNode = (client: Subject, baseUrl: string): Promise<Bundle> =>
  bundle(client, baseUrl, { platform: "node" });
