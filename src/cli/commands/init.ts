import { carrierNamed, carriers } from "../../carriers/carriers.ts";
import {
  type Command,
  defineCommand,
  exits,
  Failure,
  type Host,
  UsageError,
  type Values,
} from "../command.ts";
import { type Plan, planOf, write } from "../init/files.ts";
import {
  filesOf,
  isTarget,
  isTemplate,
  lines,
  quoted,
  stepsOf,
  type TargetName,
  type TemplateName,
  targets,
  targetsOf,
  templates,
} from "../init/project.ts";
import { installedFrom, type Source, sourceOf, specOf } from "../init/source.ts";
import { jsonLine, type Paint } from "../terminal.ts";

const flags = {
  on: {
    type: "string",
    value: "runtime",
    choices: Object.keys(targets),
    help: `${Object.keys(targets).join(", ")}; asked for on a terminal`,
  },
  template: {
    type: "string",
    value: "kind",
    choices: Object.keys(templates),
    help: "reminder, or agent: a voice agent; default: reminder",
  },
  service: {
    type: "string",
    value: "name",
    choices: Object.keys(carriers),
    help: `${Object.keys(carriers).join(", ")}; default: outdial's own interface`,
  },
  package: {
    type: "string",
    value: "version",
    help: "version or tarball of outdial; default: what this command is from",
  },
  force: { type: "boolean", help: "overwrites files that exist" },
  json: { type: "boolean", help: "the result as one line of JSON; errors too, on stderr" },
} as const;

/** What to create, and where. */
interface Wanted {
  readonly folder: string;
  readonly target: TargetName;
  readonly template: TemplateName;
}

/** @throws {UsageError} if it is empty, as an unset variable of a script is, or no name that can be printed */
const checked = (folder: string): string => {
  if (folder === "") throw new UsageError("<dir> is empty: leave it out for the current folder");
  if (/\p{Cc}/u.test(folder)) throw new UsageError("<dir> has a control character");
  return folder;
};

/** @throws {UsageError} if something is not given and nobody can be asked */
const wantedOf = async (
  [given]: readonly string[],
  { on, template: named = "reminder", json }: Values<typeof flags>,
  { terminal, signal }: Host,
): Promise<Wanted> => {
  const folder = given === undefined ? undefined : checked(given);
  const template = isTemplate(named) ? named : "reminder";
  const possible = targetsOf(template);
  if (on && isTarget(on)) {
    if (!possible.includes(on)) {
      const rule = `--template ${template} needs --on ${possible.join(", ")}`;
      throw new UsageError(`${rule}: one process that keeps the media sockets of its calls`);
    }
    return { folder: folder ?? ".", target: on, template };
  }
  if (json || !terminal.isInteractive) {
    throw new UsageError(`--on is missing: ${possible.join(", ")}`);
  }
  const { askFolder, askTarget } = await import("../init/questions.ts");
  return {
    folder: folder ?? checked(await askFolder(signal)),
    target: await askTarget(possible, signal),
    template,
  };
};

/** @throws {UsageError} if it is unknown where outdial comes from */
const sourceFor = (named: string | undefined): Source => {
  if (named !== undefined) {
    const source = sourceOf(named, process.cwd());
    if (source) return source;
    throw new UsageError(
      "--package must be a version, the URL of a tarball, or a path that exists",
    );
  }
  const source = installedFrom();
  if (source) return source;
  throw new UsageError(
    "it is unknown what this outdial was installed from, and another package may have its name on npm: " +
      "pass --package with the path of its tarball",
  );
};

/** @throws {Failure} if files exist that may not be overwritten */
const checkExisting = async (
  { overwritten }: Plan,
  { force, json }: Values<typeof flags>,
  { terminal, signal }: Host,
): Promise<void> => {
  if (overwritten.length === 0 || force) return;
  if (!json && terminal.isInteractive) {
    const { askOverwrite } = await import("../init/questions.ts");
    if (await askOverwrite(overwritten, signal)) return;
    throw new Failure("nothing was written", exits.refused);
  }
  const verb = overwritten.length > 1 ? "exist" : "exists";
  throw new Failure(
    `${overwritten.join(", ")} ${verb}, and nothing was written: name a new folder, or pass --force to overwrite`,
    exits.refused,
    { existing: overwritten },
  );
};

/** What became of a file. */
const fateOf = (name: string, { overwritten, extended, kept }: Plan): string => {
  if (kept.includes(name)) return "kept";
  if (extended.includes(name)) return "extended";
  return overwritten.includes(name) ? "overwritten" : "created";
};

/** The files, and what to type next. */
const summary = (
  { folder, target, template }: Wanted,
  source: Source,
  names: readonly string[],
  plan: Plan,
  paint: Paint,
): string => {
  const steps = lines(stepsOf(target, template, source), (comment) => paint("dim", comment));
  const all = folder === "." ? steps : [`cd ${quoted(folder)}`, ...steps];
  return [
    ...names.map((name) => `${fateOf(name, plan)}  ${name}`),
    plan.kept.includes("README.md") ? "\nNext:\n" : "\nNext, as README.md says:\n",
    ...all.map((line) => `  ${line.replaceAll("\n", "\n  ")}`),
  ].join("\n");
};

/** `outdial init`: a new project that places a call, speaks, and takes a key. */
export const command: Command = defineCommand({
  args: ["dir?"],
  flags,
  example: "init reminders --on worker",
  notes: [
    `Six files: an application that places calls, asks the callee to press 1 or 2, and receives their
notifications; its test on the emulator, and a README. They contain no key. The folder is the
current one by default.`,
    `--template agent: a voice agent with a tool, a voicemail message and a transfer, on Node, Deno or
Bun. Its test is simulated calls, which fail when it talks over the caller.`,
    `A file that exists is overwritten only with --force, or if you say so on a terminal. A README that
exists stays without --force, and lines are added to a .gitignore.`,
  ],
  exits: {
    0: "the project is written",
    1: "a file exists, or cannot be written",
    2: "the command line is wrong",
    130: "a question was canceled",
  },
  run: async ({ flags: given, args, ...host }) => {
    const source = sourceFor(given.package);
    const wanted = await wantedOf(args, given, host);
    const { folder, target, template } = wanted;
    const { service } = given;
    const project = service === undefined ? undefined : carrierNamed(service)?.project;
    const files = filesOf({ target, template, service: project }, folder, source);
    const names = Object.keys(files);
    const plan = await planOf(folder, files, given.force ?? false);
    await checkExisting(plan, given, host);
    await write(folder, plan);
    const { overwritten, extended, kept } = plan;
    const chosen = { ...(given.template && { template }), ...(service && { service }) };
    const result = { dir: folder, on: target, ...chosen, outdial: specOf(source), files: names };
    const line = given.json ? jsonLine({ ...result, overwritten, extended, kept }) : undefined;
    await host.terminal.print(line ?? summary(wanted, source, names, plan, host.terminal.paint));
    return exits.done;
  },
});
