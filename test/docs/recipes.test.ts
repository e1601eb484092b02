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
const service = telnyx({ applicationId: "1", accountSid: "f5586561-8ff0-4291-a51b-c7dfe4139ff9", machineDetection: "message" });`,
  vonage: `import { vonage } from "outdial/vonage";
const service = vonage({ applicationId: "00000000-0000-4000-8000-000000000000" });`,
} as const;

/** What each program prints, by its title. */
const recipes = {
  "A test of a flow":
    "0 flow said Press 1 to confirm.; 2100 callee pressed 1; 2100 flow said Thank you.\n2750 flow",
  "Remind somebody": "confirmed",
  "Alert one after another": "+12025550100 2",
  "Ask a list": "customer-7 3 2",
  "Click to call": "lead-7 failed busy",
  "Keep an answer in words": "why, true",
  "A reminder without a server": "completed",
  "An agent that books, leaves a message and transfers": "{ time: 'Monday' } transferred dialed",
} as const;

/** The pages with programs that name the service in one line. */
const sources = ["docs/recipes.md", "docs/simulated-calls.md"].map(read).join("\n");

const codeOf = (title: string): string =>
  new RegExp(`^## ${title}\\n[^]*?^\`\`\`ts.*\\n([^]*?)^\`\`\``, "m").exec(sources)?.[1] ?? "";

/** A block whose imports are the sources. */
const ofSources = (code: string): string =>
  code.replace(/from "outdial(\/[\w/]+)?"/g, (_, entry: string = "") => {
    const source = entries()[`.${entry}`] ?? expect.fail(entry);
    return `from "${path(source)}"`;
  });

/** The programs whose times are those of a carrier that detects no machine: it begins the flow at once. */
const timed: readonly string[] = ["A test of a flow"];

/** The recipes that have a carrier: outdial's own interface requires a URL more. */
const needsCarrier: readonly string[] = ["A reminder without a server"];

const cases = Object.entries(recipes).flatMap(([title, printed]) =>
  Object.entries(services)
    .filter(([name]) => !(name === "own" && needsCarrier.includes(title)))
    .map(([name, service]) => ({ title, printed, name, service })),
);

/** The program of a section with a service, as a file of a reader. */
const fileOf = (title: string, name: string, service: string): string => {
  const code = codeOf(title).replace(/^import .* from "outdial\/twilio";\n/m, "");
  const line = /^const service = .*;.*$/m;
  expect(code).toMatch(line);
  const given = timed.includes(title)
    ? service.replace(', machineDetection: "message"', "")
    : service;
  const file = join(folder, `${title.replaceAll(/\W+/g, "-")}-${name}.ts`);
  writeFileSync(file, ofSources(code.replace(line, given)));
  return file;
};

const node = path("test/node_modules/.bin/node");

describe("a program of docs/recipes.md and docs/simulated-calls.md", () => {
  test.each(cases)("$title, with the service $name", async ({ title, printed, name, service }) => {
    const file = fileOf(title, name, service);
    const { code, stdout, stderr } = await execute(node, [file]);
    expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: "", stdout: `${printed}\n` });
  });

  test.each(Object.entries(services))(
    "Test a flow on each push, with the service %s",
    async (name, service) => {
      const file = fileOf("Test a flow on each push", name, service);
      const { code, stdout } = await execute(node, ["--test", "--test-reporter=tap", file]);
      expect(code, stdout).toBe(0);
      expect(stdout).toMatch(/^# pass 1$/m);
    },
  );

  test.each(["An agent that books, leaves a message and transfers", "Test a flow on each push"])(
    "%s has as many lines as its section says",
    (title) => {
      const [, section = ""] =
        new RegExp(`^## ${title}\\n\\n(\\d+) lines`, "m").exec(read("docs/recipes.md")) ?? [];
      const lines = codeOf(title)
        .split("\n")
        .filter((line) => line.trim() && !line.startsWith("// "));
      expect(lines.length).toBe(Number(section));
    },
  );
});
