import { defineConfig } from "tsup";

export default defineConfig({
  entry: {
    index: "src/index.ts",
    fetch: "src/fetch.ts",
    "calls/index": "src/calls/index.ts",
    "campaigns/index": "src/campaigns/index.ts",
    "campaigns/workers/index": "src/campaigns/workers/index.ts",
    "callbacks/index": "src/callbacks/index.ts",
    "flows/index": "src/flows/index.ts",
    "agents/index": "src/agents/index.ts",
    "emulator/index": "src/emulator/index.ts",
    "cli/main": "src/cli/main.ts",
  },
  format: "esm",
  target: "es2022",
  platform: "neutral",
  external: [/^node:/],
  // `node:sqlite` has no name without it.
  removeNodeProtocol: false,
  noExternal: ["hono", "@hono/node-server", "@noble/hashes", "csv-parse", "libphonenumber-js"],
  clean: true,
  // The declarations name Symbol.dispose, which a user's own `lib` may lack.
  dts: { banner: '/// <reference lib="esnext.disposable" />' },
  plugins: [
    {
      // esbuild imports a chunk for its effects even where it has none, and bundlers warn of that.
      name: "no-bare-imports",
      renderChunk: (code) => ({ code: code.replace(/^import "\.[^"]+";\n/gm, "") }),
    },
  ],
});
