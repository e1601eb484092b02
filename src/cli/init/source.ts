import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { version } from "../../../package.json";

/** Where a new project gets outdial from. */
export type Source =
  | { readonly kind: "registry"; readonly range: string }
  /** A tarball or a folder. */
  | { readonly kind: "file"; readonly path: string }
  /** A tarball. */
  | { readonly kind: "url"; readonly url: string };

/** A source as package.json has it. */
export const specOf = (source: Source): string => {
  if (source.kind === "registry") return source.range;
  return source.kind === "file" ? `file:${source.path}` : source.url;
};

/**
 * What `--package` or a package.json names: a version, a path or a URL. Anything else, such as `workspace:*`, is nothing
 * that another project can install.
 *
 * @param folder - what a path is relative to
 */
export const sourceOf = (spec: string, folder: string): Source | undefined => {
  if (/^https?:\/\//.test(spec)) return { kind: "url", url: spec };
  const [, path] = /^(?:file:(?:\/\/(?=\/))?)?(.+)$/.exec(spec) ?? [];
  if (path && (spec.startsWith("file:") || /^[./]|\.tgz$|\.tar\.gz$/.test(path))) {
    const found = resolve(folder, path);
    return existsSync(found) ? { kind: "file", path: found } : undefined;
  }
  const range = spec.replace(/^npm:(?:outdial@)?/, "");
  return /^[\w.^~<>=*| -]+$/.test(range) ? { kind: "registry", range } : undefined;
};

const readJson = (file: string): unknown => {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return;
  }
};

/** A text inside of a JSON value. */
const textAt = (json: unknown, ...path: readonly string[]): string | undefined => {
  let value = json;
  for (const name of path) {
    if (typeof value !== "object" || value === null) return;
    value = new Map<string, unknown>(Object.entries(value)).get(name);
  }
  return typeof value === "string" ? value : undefined;
};

/** A folder, the one that it is in, and so on. */
const upwards = (folder: string): readonly string[] => {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...upwards(above)];
};

/** The folder of the package that this command is part of. */
const packageFolder = (): string => {
  const here = dirname(fileURLToPath(import.meta.url));
  return upwards(here).find((folder) => existsSync(join(folder, "package.json"))) ?? here;
};

/** What a project's package.json calls outdial, or, where that does not name it, what npm has noted as installed. */
const namedIn = (project: string): string | undefined => {
  const manifest = readJson(join(project, "package.json"));
  const lists = ["dependencies", "devDependencies", "optionalDependencies"];
  const [spec] = lists.flatMap((list) => textAt(manifest, list, "outdial") ?? []);
  if (spec !== undefined) return spec;
  // `npm install --no-save`, and workspaces. A path is relative to the project, although the file is in node_modules.
  const noted = readJson(join(project, "node_modules/.package-lock.json"));
  return textAt(noted, "packages", "node_modules/outdial", "resolved");
};

/**
 * What this command was installed from, so that a new project gets the same code. Every package manager writes that into
 * the package.json of the project that it installs into. A version is named only if it is sure to come out of a registry:
 * a release names its repository, and a package of one's own does not. The name on npm may be somebody else's.
 *
 * @returns nothing where it is unknown
 */
export const installedFrom = (folder: string = packageFolder()): Source | undefined => {
  const release: Source = { kind: "registry", range: `^${version}` };
  if (existsSync(join(folder, "src"))) return { kind: "file", path: folder };
  const manifest = readJson(join(folder, "package.json"));
  if (textAt(manifest, "repository", "url")) return release;
  for (const project of upwards(dirname(folder))) {
    const spec = namedIn(project);
    if (spec === undefined) continue;
    const source = sourceOf(spec, project);
    return source?.kind === "registry" ? release : source;
  }
};
