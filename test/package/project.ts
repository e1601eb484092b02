import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
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
    patience: 120_000,
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
}

const packNow = async (): Promise<Packed> => {
  const folder = newFolder("pack");
  const printed = await npm(["pack", "--json", "--pack-destination", folder], path("."));
  const [{ filename, files }]: [{ filename: string; files: { path: string }[] }] =
    JSON.parse(printed);
  return { tarball: join(folder, filename), files: files.map((file) => file.path).sort() };
};

let packed: Promise<Packed> | undefined;

/** Packs it; once, as all files of tests here run in one process. */
export const pack = (): Promise<Packed> => {
  packed ??= packNow();
  return packed;
};

let installedOnce: Promise<string> | undefined;

const installNow = async (): Promise<string> => {
  const { tarball } = await pack();
  const project = newFolder("project");
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  await npm(["install", "--prefer-offline", "--no-audit", "--no-fund", tarball], project);
  cpSync(path("test/package/consumer"), project, { recursive: true });
  return project;
};

/** An empty project with the tarball installed, and the sources of a consumer in it: one's own copy. */
export const install = async (): Promise<string> => {
  installedOnce ??= installNow();
  const project = newFolder("copy");
  cpSync(await installedOnce, project, { recursive: true, verbatimSymlinks: true });
  return project;
};

/** A project as a beginner makes it: `npm init -y`, then the tarball. */
export const initialise = async (): Promise<string> => {
  const { tarball } = await pack();
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
