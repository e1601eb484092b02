import { cpSync, existsSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { type Ended, execute, path } from "../examples/execute.ts";
import { install } from "../package/project.ts";
import { programs } from "../runtimes/programs.ts";
import type { Runtime } from "./case.ts";
import type { ListName } from "./run.ts";

const { node22, node24, node26, deno, bun } = programs;

/** What runs the list in each runtime, in a folder that is laid out as this repository. */
const commandFor = (peer: string): Readonly<Record<Runtime, readonly string[]>> => ({
  node22: [...node22, "test/runtimes/node.ts", peer, "node22"],
  node24: [...node24, "test/runtimes/node.ts", peer, "node24"],
  node26: [...node26, "test/runtimes/node.ts", peer, "node26"],
  deno: [
    ...deno,
    "--no-config",
    "--node-modules-dir=manual",
    "--allow-net=127.0.0.1,localhost",
    "test/runtimes/deno.ts",
    peer,
  ],
  bun: [...bun, "test/runtimes/bun.ts", peer],
  workerd: [...node24, "test/runtimes/workerd.ts", peer],
  edge: [...node24, "test/runtimes/edge.ts", peer],
  "happy-dom": [...node24, "node_modules/vitest/vitest.mjs", "run", "runtimes/happy-dom"],
  chromium: [...node24, "test/runtimes/chromium.ts", peer],
});

/** A project that has the packed package installed, with the list in it, and with what the list imports. */
const makeProject = (): string => {
  const project = install();
  for (const used of [
    "test/conformance",
    "test/random.ts",
    "test/runtimes",
    "test/stub-server",
    "examples/own-agent",
  ]) {
    cpSync(path(used), join(project, used), { recursive: true });
  }
  const modules = join(project, "node_modules");
  for (const folder of ["node_modules", "test/node_modules"].map(path)) {
    for (const name of readdirSync(folder)) {
      if (!existsSync(join(modules, name))) symlinkSync(join(folder, name), join(modules, name));
    }
  }
  return project;
};

/**
 * Runs the list in a runtime, on the packed package, and returns all that the runtime printed.
 *
 * @param list - what is run instead of the whole list
 */
export const launch = async (runtime: Runtime, peer: string, list?: ListName): Promise<Ended> => {
  const [command = "", ...args] = commandFor(peer)[runtime];
  const env = {
    PEER: peer,
    LIST: list ?? "",
    CHROMIUM_PATH: process.env.CHROMIUM_PATH ?? "",
  };
  if (list && runtime !== "happy-dom") args.push(list);
  return execute(command, args, env, { cwd: makeProject(), patience: 590_000 });
};
