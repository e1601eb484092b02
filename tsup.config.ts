import { readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { build, type Plugin } from "esbuild";
import type { Options } from "tsup";
import type { Node } from "typescript";

/**
 * Marks every call at the top level of a module as pure, so that a bundler drops the schemas and tables
 * that an application does not use. Nothing in this package has an effect when it is imported.
 */
const withPureCalls = async (code: string): Promise<string> => {
  // Only here: vitest imports this file too, and needs no compiler. An import would look for its names for two seconds.
  const ts: typeof import("typescript") = createRequire(import.meta.url)("typescript");
  const file = ts.createSourceFile("chunk.js", code, ts.ScriptTarget.Latest, true);
  const calls: number[] = [];
  const visit = (node: Node): void => {
    if (ts.isFunctionLike(node)) return;
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) calls.push(node.getStart());
    ts.forEachChild(node, visit);
  };
  for (const statement of file.statements) {
    if (ts.isVariableStatement(statement)) visit(statement);
  }
  return calls.reduceRight(
    (text, at) => `${text.slice(0, at)}/* @__PURE__ */ ${text.slice(at)}`,
    code,
  );
};

/** A statement of SQL up to what is nested in it: minifiers leave its text as it is. */
const sql =
  /`(select |insert (or ignore )?into|update (or ignore )?outdial|create (table|index|trigger|\$)|with \w+ as|exists \()[^`]*`/g;

/** Has statements of SQL on one line, which saves 300 bytes of a campaign: in SQL, no text has a line break. */
const withSqlOnOneLine = (code: string): string =>
  code.replace(sql, (statement) => statement.replace(/\s*\n\s*/g, " "));

const bundleSuffix = "?bundle";

/** A script or a style sheet with all its imports, minified, as text. */
const bundle = async (file: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
};

const textSuffix = "?text";

/** Lets tsup import a page's script and style sheet as text, by `./main.ts?bundle`, and any file as it is, by `?text`. */
const bundledPage: Plugin = {
  name: "bundled-page",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?text$/ }, ({ path, resolveDir }) => ({
      path: resolve(resolveDir, path),
      namespace: "text",
    }));
    onLoad({ filter: /.*/, namespace: "text" }, async ({ path }) => ({
      contents: await readFile(path.slice(0, -textSuffix.length), "utf8"),
      loader: "text",
    }));
    onResolve({ filter: /\?bundle$/ }, ({ path, resolveDir }) => ({
      // With the suffix: tsup's own plugin takes every path that ends in `.css`.
      path: resolve(resolveDir, path),
      namespace: "bundled-page",
    }));
    onLoad({ filter: /.*/, namespace: "bundled-page" }, async ({ path }) => ({
      contents: await bundle(path.slice(0, -bundleSuffix.length)),
      loader: "text",
    }));
  },
};

/** The same for vitest, whose tests import the sources. */
export const bundledPageInVite = {
  name: "bundled-page",
  enforce: "pre",
  resolveId(path: string, importer = ""): string | undefined {
    if (path.endsWith(textSuffix)) {
      return `\0${resolve(importer, "..", path.slice(0, -textSuffix.length))}.text`;
    }
    if (!path.endsWith(bundleSuffix)) return;
    return `\0${resolve(importer, "..", path.slice(0, -bundleSuffix.length))}.bundled`;
  },
  async load(id: string): Promise<string | undefined> {
    if (id.startsWith("\0") && id.endsWith(".text")) {
      return `export default ${JSON.stringify(await readFile(id.slice(1, -".text".length), "utf8"))};`;
    }
    if (!id.startsWith("\0") || !id.endsWith(".bundled")) return;
    return `export default ${JSON.stringify(await bundle(id.slice(1, -".bundled".length)))};`;
  },
} as const;

const config: Options = {
  entry: {
    index: "src/index.ts",
    fetch: "src/fetch.ts",
    "calls/index": "src/calls/index.ts",
    "campaigns/index": "src/campaigns/index.ts",
    "campaigns/workers/index": "src/campaigns/workers/index.ts",
    "callbacks/index": "src/callbacks/index.ts",
    "flows/index": "src/flows/index.ts",
    "agents/index": "src/agents/index.ts",
    "testing/index": "src/testing/index.ts",
    "twilio/index": "src/carriers/twilio/index.ts",
    "vonage/index": "src/carriers/vonage/index.ts",
    "telnyx/index": "src/carriers/telnyx/index.ts",
    "emulator/index": "src/emulator/index.ts",
    "cli/main": "src/cli/main.ts",
  },
  format: "esm",
  target: "es2022",
  platform: "neutral",
  // The operator of an exchange installs the decoder of MP3.
  external: [/^node:/, "mpg123-decoder"],
  // `node:sqlite` has no name without it.
  removeNodeProtocol: false,
  noExternal: [
    /^@clack\//,
    "fast-string-truncated-width",
    "fast-string-width",
    "fast-wrap-ansi",
    "sisteransi",
    "hono",
    "@hono/node-server",
    "@noble/hashes",
    "libphonenumber-js",
    "saxes",
    "xmlchars",
  ],
  clean: true,
  // Of src/http/ky.ts: in the built package `no-bare-imports` does without, as a chunk stands before what it imports of npm.
  esbuildOptions: (options) => {
    options.logOverride = { "ignored-bare-import": "silent" };
  },
  esbuildPlugins: [bundledPage],
  // The declarations name Symbol.dispose, which a user's own `lib` may lack.
  dts: { banner: '/// <reference lib="esnext.disposable" />' },
  plugins: [
    { name: "pure-calls", renderChunk: async (code) => ({ code: await withPureCalls(code) }) },
    { name: "sql-on-one-line", renderChunk: (code) => ({ code: withSqlOnOneLine(code) }) },
    {
      // esbuild imports a chunk for its effects even where it has none, and bundlers warn of that.
      name: "no-bare-imports",
      renderChunk: (code) => ({ code: code.replace(/^import "\.[^"]+";\n/gm, "") }),
      // What was imported for its effects only is empty, and nothing imports it any more.
      buildEnd: async ({ writtenFiles }) => {
        const empty = writtenFiles.filter(({ size }) => size === 0);
        await Promise.all(empty.map(({ name }) => rm(name)));
      },
    },
  ],
};

export default config;
