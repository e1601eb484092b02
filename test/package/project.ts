import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execute, path } from "../examples/execute.ts";

/** The names under which a user imports the package: "outdial", "outdial/calls", … */
export const entries: readonly string[] = Object.keys(
  JSON.parse(readFileSync(path("package.json"), "utf8")).exports,
).map((key) => key.replace(".", "outdial"));

/** What npm takes from its surroundings: where its registry and its cache are. */
const surroundings: Record<string, string> = {};
for (const [name, value] of Object.entries(process.env)) {
  if (value !== undefined && name !== "PATH") surroundings[name] = value;
}

const npm = async (args: readonly string[], cwd: string): Promise<string> => {
  const { code, stdout, stderr } = await execute("npm", args, surroundings, {
    cwd,
    patience: 850_000,
  });
  if (code !== 0) throw new Error(`npm ${args.join(" ")}: ${stderr}`);
  return stdout;
};

/** Outside of this repository, so that nothing in it can be found from there. */
const newFolder = (name: string): string => mkdtempSync(join(tmpdir(), `outdial-${name}-`));

/** The package as `npm publish` would send it. */
export interface Packed {
  /** The path of the tarball, in a folder of its own. */
  readonly tarball: string;
  /** The paths inside it, sorted. */
  readonly files: readonly string[];
  /** An empty project in which it is installed. */
  readonly project: string;
}

/** Vitest's global set-up: packs the package and installs it, once for all projects of a run. */
export const setup = async (): Promise<(() => void) | undefined> => {
  if (process.env.PACKED) return;
  const folder = newFolder("packed");
  // Without `prepack`, which builds: what is built is under test.
  const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
  const printed = await npm(pack, path("."));
  const [{ filename, files }]: [{ filename: string; files: { path: string }[] }] =
    JSON.parse(printed);
  const tarball = join(folder, filename);
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  await npm(["install", "--prefer-offline", "--no-audit", "--no-fund", tarball], project);
  const packed: Packed = { tarball, files: files.map((file) => file.path).sort(), project };
  process.env.PACKED = JSON.stringify(packed);
  return () => rmSync(folder, { recursive: true });
};

/** What the set-up has packed. */
export const packed = (): Packed => JSON.parse(process.env.PACKED ?? "");

/** A copy of the project that has the tarball installed. */
export const install = (): string => {
  const project = newFolder("copy");
  cpSync(packed().project, project, { recursive: true, verbatimSymlinks: true });
  return project;
};

/** The same, with the sources of a consumer in it. */
export const installConsumer = (): string => {
  const project = install();
  cpSync(path("test/package/consumer"), project, { recursive: true });
  return project;
};

/** A project as a beginner makes it: `npm init -y`, then the tarball. */
export const initialise = async (): Promise<string> => {
  const { tarball } = packed();
  const project = newFolder("beginner");
  await npm(["init", "-y"], project);
  await npm(["install", "--prefer-offline", "--no-audit", "--no-fund", tarball], project);
  return project;
};

/** The packages in a project, hidden folders apart. */
export const installed = (project: string): string[] =>
  readdirSync(join(project, "node_modules"))
    .filter((name) => !name.startsWith("."))
    .sort();
