import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type Command,
  defineCommand,
  exits,
  Failure,
  type Host,
  UsageError,
  type Values,
} from "../command.ts";
import { filesOf, installedFrom, isTarget, type TargetName, targets } from "../init/project.ts";
import { codeOf, jsonLine, type Paint } from "../terminal.ts";

const flags = {
  on: {
    type: "string",
    value: "runtime",
    choices: Object.keys(targets),
    help: `${Object.keys(targets).join(", ")}; asked for on a terminal`,
  },
  package: {
    type: "string",
    value: "version",
    help: "outdial's version or tarball; default: where this command is from",
  },
  force: { type: "boolean", help: "overwrites files that exist" },
  json: { type: "boolean", help: "the result as one line of JSON; errors too, on stderr" },
} as const;

/** What to create, and where. */
interface Wanted {
  readonly folder: string;
  readonly target: TargetName;
}

/** @throws {UsageError} if something is not given and nobody can be asked */
const wantedOf = async (
  [folder]: readonly string[],
  { on, json }: Values<typeof flags>,
  { terminal, signal }: Host,
): Promise<Wanted> => {
  if (on && isTarget(on)) return { folder: folder ?? ".", target: on };
  if (json || !terminal.isInteractive) {
    throw new UsageError(`--on is missing: ${Object.keys(targets).join(", ")}`);
  }
  const { askFolder, askTarget } = await import("../init/questions.ts");
  return { folder: folder ?? (await askFolder(signal)), target: await askTarget(signal) };
};

/** @throws {Failure} if files exist that may not be overwritten */
const checkExisting = async (
  existing: readonly string[],
  { force, json }: Values<typeof flags>,
  { terminal, signal }: Host,
): Promise<void> => {
  if (existing.length === 0 || force) return;
  if (!json && terminal.isInteractive) {
    const { askOverwrite } = await import("../init/questions.ts");
    if (await askOverwrite(existing, signal)) return;
    throw new Failure("nothing was written", exits.refused);
  }
  const verb = existing.length > 1 ? "exist" : "exists";
  throw new Failure(
    `${existing.join(", ")} ${verb}, and nothing was written; --force overwrites`,
    exits.refused,
    { existing },
  );
};

/** @throws {Failure} with the file that cannot be written */
const write = async (folder: string, files: Readonly<Record<string, string>>): Promise<void> => {
  let file = "";
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      file = name;
      await writeFile(join(folder, name), content);
    }
  } catch (error) {
    const what = file || "the folder";
    throw new Failure(`${what} cannot be written: ${codeOf(error) ?? "unknown"}`, exits.refused);
  }
};

/** A path as an argument of a shell. */
const quoted = (path: string): string =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;

/** The files, and what to type next. */
const summary = (
  { folder, target }: Wanted,
  files: readonly string[],
  existing: readonly string[],
  paint: Paint,
): string => {
  const steps = targets[target].steps.map(([command, explanation = ""]) =>
    explanation ? `  ${command.padEnd(20)}   ${paint("dim", `# ${explanation}`)}` : `  ${command}`,
  );
  return [
    ...files.map((file) => `${existing.includes(file) ? "overwritten" : "created"}  ${file}`),
    "\nNext:\n",
    ...(folder === "." ? [] : [`  cd ${quoted(folder)}`]),
    ...steps,
  ].join("\n");
};

/** `outdial init`: a new project that places a call. */
export const command: Command = defineCommand({
  args: ["dir?"],
  flags,
  notes: [
    `Six files: an application that places calls and receives their notifications and flow requests, and
its test on the emulator. They contain no key. The folder is the current one by default.`,
    "A file that exists is overwritten only with --force, or if you say so on a terminal.",
  ],
  exits: {
    0: "the project is written",
    1: "a file exists, or cannot be written",
    2: "the command line is wrong",
    130: "a question was canceled",
  },
  run: async ({ flags: given, args, ...host }) => {
    const source = given.package ?? installedFrom();
    const wanted = await wantedOf(args, given, host);
    const { folder, target } = wanted;
    if (target === "deno" && /[:/]/.test(source)) {
      throw new UsageError(
        "Deno installs outdial from a registry only, and this one is not from there: pass --package",
      );
    }
    const files = filesOf(target, folder, source);
    const names = Object.keys(files);
    const existing = names.filter((name) => existsSync(join(folder, name)));
    await checkExisting(existing, given, host);
    await write(folder, files);
    const line = given.json
      ? jsonLine({ dir: folder, on: target, outdial: source, files: names, overwritten: existing })
      : undefined;
    await host.terminal.print(line ?? summary(wanted, names, existing, host.terminal.paint));
    return exits.done;
  },
});
