import { fileURLToPath } from "node:url";

const test = fileURLToPath(new URL("../", import.meta.url));

/** A runtime, and how it runs a file. */
export interface Runtime {
  readonly name: "node" | "deno" | "bun";
  readonly label: string;
  readonly command: readonly string[];
  /** So that the garbage can be collected on request. */
  readonly withGc: readonly string[];
  /** So that nothing is collected while bytes are counted; absent where the runtime can't count. */
  readonly withoutCollections?: readonly string[];
}

const bin = `${test}node_modules/.bin`;
const nodePath = `${test}node_modules/node/bin/node`;
const deno = [
  `${bin}/deno`,
  "run",
  "--quiet",
  "--no-prompt",
  "-A",
  `--config=${test}bench/deno.json`,
];
const v8 = ["--expose-gc", "--min-semi-space-size=256", "--max-semi-space-size=256"];

export const node: Runtime = {
  name: "node",
  label: "Node 24",
  command: [nodePath],
  withGc: [nodePath, "--expose-gc"],
  withoutCollections: [nodePath, ...v8],
};

export const runtimes: readonly Runtime[] = [
  node,
  {
    name: "deno",
    label: "Deno",
    command: deno,
    withGc: [...deno, "--v8-flags=--expose-gc"],
    withoutCollections: [...deno, `--v8-flags=${v8.join()}`],
  },
  { name: "bun", label: "Bun", command: [`${bin}/bun`], withGc: [`${bin}/bun`] },
];
