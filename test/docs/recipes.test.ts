import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { execute } from "../examples/execute.ts";
import { entries, path, read } from "./sources.ts";

// That each block prints what it says on outdial's own interface, on each runtime: test/package/snippets.test.ts.

const folder = mkdtempSync(join(tmpdir(), "outdial-recipes-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** How a reader replaces the line of a recipe that names the service. */
const services = {
  own: "const service = undefined;",
  twilio: `import { twilio } from "outdial/twilio";
const service = twilio({ accountSid: "AC${"0".repeat(32)}", machineDetection: "message" });`,
  telnyx: `import { telnyx } from "outdial/telnyx";
const service = telnyx({ applicationId: "1", machineDetection: "message" });`,
  vonage: `import { vonage } from "outdial/vonage";
const service = vonage({ applicationId: "00000000-0000-4000-8000-000000000000" });`,
} as const;

/** What each recipe prints: the reminder, the alert, the survey, click to call, an answer in words. */
const recipes = {
  "Remind somebody": "confirmed",
  "Alert one after another": "+12025550100 2",
  "Ask a list": "customer-7 3 2",
  "Click to call": "lead-7 failed busy",
  "Keep an answer in words": "why, true",
} as const;

const codeOf = (title: string): string =>
  new RegExp(`^## ${title}\\n[^]*?^\`\`\`ts\\n([^]*?)^\`\`\``, "m").exec(
    read("docs/recipes.md"),
  )?.[1] ?? "";

/** A block whose imports are the sources. */
const ofSources = (code: string): string =>
  code.replace(/from "outdial(\/[\w/]+)?"/g, (_, entry: string = "") => {
    const source = entries()[`.${entry}`] ?? expect.fail(entry);
    return `from "${path(source)}"`;
  });

describe.each(Object.entries(recipes))("the recipe %s", (title, printed) => {
  test.each(Object.entries(services))("with the service %s", async (name, service) => {
    const code = codeOf(title);
    const line = /^const service = undefined;.*$/m;
    expect(code).toMatch(line);
    const file = join(folder, `${title.replaceAll(" ", "-")}-${name}.ts`);
    writeFileSync(file, ofSources(code.replace(line, service)));
    const {
      code: exit,
      stdout,
      stderr,
    } = await execute(path("test/node_modules/.bin/node"), [file]);
    expect({ exit, stderr, stdout }).toEqual({ exit: 0, stderr: "", stdout: `${printed}\n` });
  });
});
