import type { Command } from "./command.ts";
import type { Flag } from "./flags.ts";

type Row = readonly [left: string, right: string];

/** Two columns, the first as wide as it must be. */
const table = (rows: readonly Row[]): string => {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `    ${left.padEnd(width)}   ${right}`).join("\n");
};

const section = (title: string, rows: readonly Row[]): readonly string[] =>
  rows.length > 0 ? [`${title}\n${table(rows)}`] : [];

const flagText = (name: string, { value, multiple }: Flag): string =>
  `--${name}${value ? ` <${value}>` : ""}${multiple ? "…" : ""}`;

const wordText = (word: string): string =>
  word.endsWith("…") ? `<${word.slice(0, -1)}>…` : `<${word}>`;

/** The first line of a command's help: what must be given. */
const usage = ({ name, words = [], flags }: Command): string => {
  const all = Object.entries(flags);
  const required = all.filter(([, flag]) => flag.required);
  const parts = required.map(([flagName, flag]) => flagText(flagName, flag));
  const rest = all.length > required.length ? ["[options]"] : [];
  return ["outdial", name, ...words.map(wordText), ...parts, ...rest].join(" ");
};

/** What `outdial help <command>` prints. */
export const helpOf = (command: Command): string => {
  const { summary, flags, notes = [], exits } = command;
  const options = Object.entries(flags).map(
    ([name, flag]): Row => [flagText(name, flag), flag.help],
  );
  const codes = Object.entries(exits).map(([code, meaning]): Row => [code, meaning]);
  return [
    usage(command),
    summary,
    ...section("Options", options),
    ...notes,
    ...section("Exit codes", codes),
  ].join("\n\n");
};

/** What `outdial --help` prints. */
export const help = (commands: readonly Command[]): string =>
  [
    "outdial places outbound voice calls, and is the service on your own machine.",
    ...section(
      "Commands",
      commands.map(({ name, summary }): Row => [name, summary]),
    ),
    "`outdial help <command>` tells more; `outdial --version` which one this is.",
  ].join("\n\n");
