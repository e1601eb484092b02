import { fileURLToPath } from "node:url";

const modules = fileURLToPath(new URL("../node_modules/", import.meta.url));

/** How to run a file in each runtime that runs files; flags and the file follow. */
export const programs = {
  node22: [`${modules}node22/bin/node`],
  node24: [`${modules}node/bin/node`],
  node26: [`${modules}node26/bin/node`],
  deno: [`${modules}.bin/deno`, "run", "--no-prompt"],
  bun: [`${modules}.bin/bun`],
} as const;
