import { lstat, mkdir, mkdtemp, readFile, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { exits, Failure } from "../command.ts";
import { codeOf } from "../terminal.ts";

/** The files of a project, before they are written. */
export interface Plan {
  /** The text of each file to write, by its name. */
  readonly texts: Readonly<Record<string, string>>;
  /** Those of them that are there already, and are overwritten. */
  readonly overwritten: readonly string[];
  /** Those to which lines are added. */
  readonly extended: readonly string[];
  /** Files that are there already, and stay as they are. */
  readonly kept: readonly string[];
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EROFS: "the file system is read-only",
  ENOSPC: "the disk is full",
  EDQUOT: "the quota is used up",
  EFBIG: "the limit of a file's size is reached",
  EEXIST: "a file has its name",
  ENOTDIR: "a part of its path is a file",
  // Of a file system that is read-only, too: Node reports that as a folder that is not there.
  ENOENT: "a part of its path is a link to nothing, or cannot be made",
  ENAMETOOLONG: "its name is too long",
  ELOOP: "its path is a loop of links",
};

const unwritable = (what: string, error: unknown): Failure => {
  const code = codeOf(error) ?? "unknown";
  const reason = reasons[code];
  const why = reason ? `${reason} (${code})` : code;
  return new Failure(`${what} cannot be written: ${why}; nothing was written`, exits.refused);
};

/** What has a name in a folder; nothing where the folder is missing too. */
const found = async (
  folder: string,
  name: string,
): Promise<"file" | "folder" | "other" | undefined> => {
  try {
    const stats = await lstat(join(folder, name));
    if (stats.isDirectory()) return "folder";
    return stats.isFile() ? "file" : "other";
  } catch {
    return;
  }
};

/** A list of what git ignores, with those lines of ours that it lacks, or nothing if it has all. */
const extend = (present: string, ours: string): string | undefined => {
  const lines = new Set(present.split(/\r?\n/).map((line) => line.trim()));
  const missing = ours.split("\n").filter((line) => line && !lines.has(line));
  if (missing.length === 0) return;
  const end = present.includes("\r\n") ? "\r\n" : "\n";
  const gap = present === "" || present.endsWith("\n") ? "" : end;
  return present + gap + missing.map((line) => line + end).join("");
};

/**
 * Compares the files of a project with those in its folder. A README that is there stays, unless `force`; what git
 * ignores is added to a list that is there, and never removed from it.
 *
 * @throws {Failure} if a folder has the name of a file
 */
export const planOf = async (
  folder: string,
  files: Readonly<Record<string, string>>,
  force: boolean,
): Promise<Plan> => {
  const texts: Record<string, string> = {};
  const overwritten: string[] = [];
  const extended: string[] = [];
  const kept: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    const present = await found(folder, name);
    if (present === "folder") {
      throw new Failure(`${name} is a folder, and nothing was written`, exits.refused);
    }
    if (name === "README.md" && present && !force) {
      kept.push(name);
      continue;
    }
    if (name === ".gitignore" && present === "file") {
      const before = await readFile(join(folder, name), "utf8").catch((error: unknown) => {
        throw unwritable(name, error);
      });
      const more = extend(before, text);
      if (more !== undefined) texts[name] = more;
      (more === undefined ? kept : extended).push(name);
      continue;
    }
    texts[name] = text;
    if (present) overwritten.push(name);
  }
  return { texts, overwritten, extended, kept };
};

/** Removes folders that are empty, from one up to the first that was made. */
const unmake = async (folder: string, first: string | undefined): Promise<void> => {
  if (first === undefined) return;
  const last = resolve(first);
  for (let each = resolve(folder); each.length >= last.length; each = dirname(each)) {
    await rmdir(each).catch(() => undefined);
  }
};

/**
 * Writes the files: all of them into a folder beside their places at first, so that a disk that is full leaves nothing.
 *
 * @throws {Failure} with what cannot be written, or with a file that somebody else has written meanwhile
 */
export const write = async (folder: string, plan: Plan): Promise<void> => {
  let what = "the folder";
  let first: string | undefined;
  let staged: string | undefined;
  try {
    first = await mkdir(folder, { recursive: true });
    staged = await mkdtemp(join(folder, ".outdial-init-"));
    for (const [name, text] of Object.entries(plan.texts)) {
      what = name;
      await writeFile(join(staged, name), text, { flag: "wx" });
    }
    for (const name of Object.keys(plan.texts)) {
      const isExpected = plan.overwritten.includes(name) || plan.extended.includes(name);
      if (!isExpected && (await found(folder, name))) {
        throw new Failure(`${name} exists by now, and nothing was written`, exits.refused);
      }
    }
    // It replaces a link, and does not follow it.
    for (const name of Object.keys(plan.texts)) {
      what = name;
      await rename(join(staged, name), join(folder, name));
    }
    await rm(staged, { recursive: true });
  } catch (error) {
    if (staged) await rm(staged, { recursive: true, force: true });
    await unmake(folder, first);
    throw error instanceof Failure ? error : unwritable(what, error);
  }
};
