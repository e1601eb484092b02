import { expect, test } from "vitest";
import { telnyx } from "../../src/carriers/telnyx/index.ts";
import { telnyxCarrier } from "../../src/carriers/telnyx/server/carrier.ts";
import { telnyxRoutes } from "../../src/carriers/telnyx/server/rest.ts";
import { twilio } from "../../src/carriers/twilio/index.ts";
import { twilioCarrier } from "../../src/carriers/twilio/server/carrier.ts";
import { twilioRoutes } from "../../src/carriers/twilio/server/rest.ts";
import { vonage } from "../../src/carriers/vonage/index.ts";
import {
  followed,
  replacements as nccoReplacements,
} from "../../src/carriers/vonage/server/ncco.ts";
import { vonageRoutes } from "../../src/carriers/vonage/server/rest.ts";
import { replacements, type VerbCarrier } from "../../src/carriers/xml/server/context.ts";
import { createEmulator } from "../../src/emulator/index.ts";
import type { Service } from "../../src/service.ts";
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

/** A path with ids that have the form of the carrier's, and the account's own. */
const sampleOf = (path: string, account: string): string =>
  path
    .replace(/:(\w+)(\{(?:[^{}]|\{[^{}]*\})*\})?/g, (_, name: string, pattern = "") => {
      if (name === "calls") return "Calls.json";
      if (name === "uuid") return "00000000-0000-4000-8000-000000000000";
      if (name === "account" || name === "application" || pattern.includes("AC[")) {
        return account + (pattern.includes("json") ? ".json" : "");
      }
      const prefix = /(CA|RE)\[/.exec(pattern)?.[1] ?? "";
      return prefix + "0".repeat(32) + (pattern.includes("json") ? ".json" : "");
    })
    .replaceAll("\\", "");

const params = {
  ...{ from_number: "+12025550199", to_number: "+12025550100" },
  ...{ flow_url: "https://app.test/flow", status_callback_url: "https://app.test/status" },
};

/** The operations of a carrier's API: a method that a path hasn't got is answered 405. */
const operationsOf = async (
  { client, name, account }: Service,
  app: { readonly routes: readonly { readonly path: string; readonly method: string }[] },
): Promise<string> => {
  await using emulator = createEmulator({ service: { name, account } });
  const { fetch, apiKey } = emulator;
  const { headers } = await client.encodeCall(params, "https://emulator.test", apiKey);
  const { Authorization = "" } = headers;
  const has = async (path: string, method: string): Promise<boolean> => {
    const init = { method, headers: { Authorization }, ...(method !== "GET" && { body: "" }) };
    const { status } = await fetch(`https://emulator.test${sampleOf(path, account)}`, init);
    expect(status, path).not.toBe(401);
    return status !== 405;
  };
  const lines = app.routes.map(async ({ path, method: only }) => {
    const methods = await Promise.all(
      ["GET", "POST", "PUT", "DELETE"].map(async (method) =>
        (only === "ALL" ? await has(path, method) : method === only) ? [method] : [],
      ),
    );
    return `- \`${pathOf(path)}\`: ${methods.flat().join(", ")}`;
  });
  return [...new Set(await Promise.all(lines))].join("\n");
};

const generated = async (): Promise<string> => {
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
    await operationsOf(twilio({ accountSid: `AC${"0".repeat(32)}` }), twilioRoutes(none)),
    "### REST: Telnyx",
    await operationsOf(telnyx({ applicationId: "1" }), telnyxRoutes(none)),
    "### REST: Vonage",
    await operationsOf(
      vonage({ applicationId: "00000000-0000-4000-8000-000000000000" }),
      vonageRoutes(none),
    ),
    "## What is not there",
    ["| verb, noun or action | instead |", "|---|---|"]
      .concat(Object.entries(absent).map(([name, instead]) => `| \`${name}\` | ${instead} |`))
      .join("\n"),
  ].join("\n\n");
};

test("docs/existing-apps.md has the verbs, operations and replacements of the emulator's code", async () => {
  const page = read("docs/existing-apps.md");
  expect(`${page.slice(page.indexOf("### TwiML and TeXML"))}`).toBe(`${await generated()}\n`);
});
