import { expect, test } from "vitest";
import { replacements } from "../../src/emulator/markup/absent.ts";
import type { VerbCarrier } from "../../src/emulator/markup/context.ts";
import { telnyxCarrier } from "../../src/emulator/telnyx/carrier.ts";
import { telnyxRoutes } from "../../src/emulator/telnyx/rest.ts";
import { twilioCarrier } from "../../src/emulator/twilio/carrier.ts";
import { twilioRoutes } from "../../src/emulator/twilio/rest.ts";
import { followed, replacements as nccoReplacements } from "../../src/emulator/vonage/ncco.ts";
import { vonageRoutes } from "../../src/emulator/vonage/rest.ts";
import { read } from "./sources.ts";

const newId = () => "";

/** Names in the order of the alphabet, as code. */
const names = (list: readonly string[] = []): string =>
  list.map((name) => `\`${name}\``).join(", ");

const verbTable = (
  twilio: VerbCarrier["attributes"],
  telnyx: VerbCarrier["attributes"],
): string => {
  const elements = [...new Set([...Object.keys(twilio), ...Object.keys(telnyx)])].filter(
    (name) => name !== "Response",
  );
  const cell = (attributes: VerbCarrier["attributes"], name: string) =>
    Object.hasOwn(attributes, name) ? names(attributes[name]) || "yes" : "no";
  const rows = elements.map(
    (name) => `| \`${name}\` | ${cell(twilio, name)} | ${cell(telnyx, name)} |`,
  );
  return ["| verb or noun | Twilio | Telnyx |", "|---|---|---|", ...rows].join("\n");
};

/** A path as a reader knows it: without the patterns of its parameters. */
const pathOf = (path: string): string =>
  path.replace(/:(\w+)(\{(?:[^{}]|\{[^{}]*\})*\})?/g, (_, name: string, pattern = "") => {
    const literal = /^\{([A-Z][a-z]+)\(/.exec(pattern)?.[1];
    const suffixes = [".json", ".wav", ".mp3"].filter((each) => pattern.includes(`\\${each}`));
    const [suffix = ""] = suffixes.includes(".wav") ? [""] : suffixes;
    return (literal ?? `{${name === "file" ? "sid" : name}}`) + suffix;
  });

const pathsOf = (app: { readonly routes: readonly { readonly path: string }[] }): string =>
  [...new Set(app.routes.map(({ path }) => pathOf(path)))]
    .map((path) => `- \`${path}\``)
    .join("\n");

const generated = (): string => {
  const none = {} as never;
  const absent = { ...replacements, ...nccoReplacements };
  const actions = Object.entries(followed).map(
    ([name, fields]) => `| \`${name}\` | ${names(fields)} |`,
  );
  return [
    "### TwiML and TeXML",
    verbTable(twilioCarrier(newId, newId).attributes, telnyxCarrier("1", none, newId).attributes),
    "### NCCO",
    ["| action | fields |", "|---|---|", ...actions].join("\n"),
    "### REST: Twilio",
    pathsOf(twilioRoutes(none)),
    "### REST: Telnyx",
    pathsOf(telnyxRoutes(none)),
    "### REST: Vonage",
    pathsOf(vonageRoutes(none)),
    "## What is not there",
    ["| verb, noun or action | instead |", "|---|---|"]
      .concat(Object.entries(absent).map(([name, instead]) => `| \`${name}\` | ${instead} |`))
      .join("\n"),
  ].join("\n\n");
};

test("docs/existing-apps.md has the verbs, operations and replacements of the emulator's code", () => {
  const page = read("docs/existing-apps.md");
  expect(`${page.slice(page.indexOf("### TwiML and TeXML"))}`).toBe(`${generated()}\n`);
});
