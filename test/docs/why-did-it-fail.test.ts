// docs/why-did-it-fail.md has a row for everything that the code has a word for, and for nothing else.
import { expect, test } from "vitest";
import { refusals } from "../../src/callbacks/errors.ts";
import { areaWords, reasonWords } from "../../src/calls/explanations.ts";
import { reasons as telnyxReasons } from "../../src/carriers/telnyx/wire.ts";
import { areas } from "../../src/carriers/twilio/live.ts";
import { twilioCarrier } from "../../src/carriers/twilio/server/carrier.ts";
import { answeredBy, statuses as vonageStatuses } from "../../src/carriers/vonage/wire.ts";
import { statuses as markupStatuses } from "../../src/carriers/xml/forms.ts";
import { read } from "./sources.ts";

const page = read("docs/why-did-it-fail.md");

/** The rows of the table whose header begins with a word, below a heading. */
const rowsOf = (heading: string, first: string, nth = 0): readonly (readonly string[])[] => {
  const [, section = ""] = page.split(new RegExp(`^## ${heading}$`, "m"));
  const tables = [
    ...section.matchAll(new RegExp(`^\\| ${first} \\|.*\\n\\|[-|]+\\n((?:\\|.*\\n)+)`, "gm")),
  ];
  const lines = tables[nth]?.[1]?.trim().split("\n") ?? expect.fail(`${heading}: ${first}`);
  return lines.map((line) => line.slice(2, -2).split(" | "));
};

const keysOf = (rows: readonly (readonly string[])[]): readonly string[] =>
  rows.map(([key = ""]) => key.replaceAll("`", "")).sort();

const cells: ReadonlyMap<string, string> = new Map(
  rowsOf("Reasons", "reason").map(([reason = "", means = ""]) => [reason, means]),
);

test("each reason has its row, with what it means and what to do", () => {
  expect(keysOf(rowsOf("Reasons", "reason"))).toEqual(Object.keys(reasonWords).sort());
  for (const row of rowsOf("Reasons", "reason")) expect(row.filter(Boolean)).toHaveLength(3);
  expect(cells.size).toBe(Object.keys(reasonWords).length);
});

/** The state or the reason that a row names, for each of its keys. */
const second = (rows: readonly (readonly string[])[]) =>
  Object.fromEntries(
    rows.map(([key = "", named = ""]) => [key, named].map((cell) => cell.replaceAll("`", ""))),
  );

test("each CallStatus of Twilio's and Telnyx' has its row, with what outdial makes of it", () => {
  const rows = second(rowsOf("The words of each carrier", "status"));
  const known = [...markupStatuses].map(([status, { type, reason }]) => [
    status,
    reason ?? type.slice("call.".length),
  ]);
  expect(rows).toEqual({ queued: "initiated", ...Object.fromEntries(known) });
});

test("each HangupCause of Telnyx' that says more has its row", () => {
  const rows = second(rowsOf("The words of each carrier", "status and cause"));
  expect(rows).toEqual(Object.fromEntries(telnyxReasons));
});

test("each status and detail of Vonage's has its row", () => {
  const rows = second(rowsOf("The words of each carrier", "status", 1));
  const known = [...vonageStatuses].flatMap(([status, { type, reason, details = {} }]) => [
    [status, reason ?? type.slice("call.".length)],
    ...Object.entries(details).map(([detail, other]) => [`${status} ${detail}`, other]),
  ]);
  const detected = [...answeredBy.keys()].map((status) => [status, "answered"]);
  expect(rows).toEqual(Object.fromEntries([...known, ...detected]));
});

test("each area of Twilio's codes, and each code of the emulator, has its row", () => {
  expect(keysOf(rowsOf("Twilio", "codes"))).toEqual(
    Object.keys(areas)
      .map((two) => `${two}…`)
      .sort(),
  );
  expect(new Set(Object.values(areas))).toEqual(new Set(Object.keys(areaWords)));
  const { codes, documentCodes } = twilioCarrier(
    () => "",
    () => "",
  );
  const known = new Set([...Object.values(codes), ...Object.values(documentCodes)].map(String));
  expect(keysOf(rowsOf("Twilio", "code"))).toEqual([...known].sort());
});

test("each refusal of a handler has its row", () => {
  expect(keysOf(rowsOf("Your own handler refuses", "refusal"))).toEqual(
    Object.keys(refusals).sort(),
  );
});
