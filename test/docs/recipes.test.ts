import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { serve } from "@hono/node-server";
import { createEmulator } from "outdial/emulator";
import { afterAll, describe, expect, test } from "vitest";
import { execute } from "../examples/execute.ts";
import { started } from "../examples/started.ts";
import { anchorOf, entries, path, read } from "./sources.ts";

// That each block prints what it says on outdial's own interface, on each runtime: test/package/snippets.test.ts.

/** In this repository, where Deno finds the packages that the sources import. */
const folder = path("test/artefacts/recipes");
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
afterAll(() => rmSync(folder, { recursive: true }));

const accounts = {
  twilio: `AC${"0".repeat(32)}`,
  telnyx: "1",
  vonage: "00000000-0000-4000-8000-000000000000",
} as const;

/** How a reader replaces the line of a recipe that names the service. */
const services = {
  own: "const service = undefined;",
  twilio: `import { twilio } from "outdial/twilio";
const service = twilio({ accountSid: "${accounts.twilio}", machineDetection: "message" });`,
  telnyx: `import { telnyx } from "outdial/telnyx";
const service = telnyx({ applicationId: "${accounts.telnyx}", accountSid: "f5586561-8ff0-4291-a51b-c7dfe4139ff9", machineDetection: "message" });`,
  vonage: `import { vonage } from "outdial/vonage";
const service = vonage({ applicationId: "${accounts.vonage}" });`,
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
  "A spoken code without a server": "completed",
  "Find out why a call failed": "true false\nfalse true",
  "Hang up, and listen, from an admin page": "2 audio/wav",
  "An agent that books, leaves a message and transfers": "{ time: 'Monday' } transferred dialed",
} as const;

/** The pages with programs that name the service in one line. */
const page = ["docs/recipes.md", "docs/simulated-calls.md"].map(read).join("\n");

/** The blocks in a recipe of a language, such as `ts` or `ts file: app.ts`. */
const blocksOf = (title: string, language: string): readonly string[] => {
  const [, section = ""] =
    new RegExp(`^## ${title}\\n([^]*?)(?=^## |(?![^]))`, "m").exec(page) ?? [];
  return [...section.matchAll(new RegExp(`^\`{3}${language}\\n([^]*?)^\`{3}`, "gm"))].map(
    ([, code = ""]) => code,
  );
};

const blockOf = (title: string, language: string): string =>
  blocksOf(title, language)[0] ?? expect.fail(`${title} has no block ${language}`);

/** A block whose imports are the sources. */
const ofSources = (code: string): string =>
  code.replace(/from "outdial(\/[\w/]+)?"/g, (_, entry: string = "") => {
    const source = entries()[`.${entry}`] ?? expect.fail(entry);
    return `from "${path(source)}"`;
  });

/** The programs whose times are those of a carrier that detects no machine: it begins the flow at once. */
const timed: readonly string[] = ["A test of a flow"];

/** A block with the line of one service in the place of its own. */
const withService = (code: string, service: string): string => {
  const line = /^const service = .*;.*$/m;
  const bare = code.replace(/^import .* from "outdial\/twilio";\n/m, "");
  expect(bare).toMatch(line);
  return ofSources(bare.replace(line, service));
};

/** The recipes that have a carrier: outdial's own interface requires a URL more. */
const needsCarrier: readonly string[] = ["A spoken code without a server"];

const cases = Object.entries(recipes).flatMap(([title, printed]) =>
  Object.entries(services)
    .filter(([name]) => !(name === "own" && needsCarrier.includes(title)))
    .map(([name, service]) => ({ title, printed, name, service })),
);

const bin = (name: string): string => path(`test/node_modules/.bin/${name}`);

describe("a program of docs/recipes.md and docs/simulated-calls.md", () => {
  test.each(cases)("$title, with the service $name", async ({ title, printed, name, service }) => {
    const file = join(folder, `${title.replaceAll(/\W+/g, "-")}-${name}.ts`);
    const given = timed.includes(title)
      ? service.replace(', machineDetection: "message"', "")
      : service;
    writeFileSync(file, withService(blockOf(title, "ts"), given));
    const { code: exit, stdout, stderr } = await execute(bin("node"), [file]);
    expect({ exit, stderr, stdout }).toEqual({ exit: 0, stderr: "", stdout: `${printed}\n` });
  });

  test.each([
    ["", "twilio"],
    ["twilio", "twilio"],
    ["vonage", "vonage"],
  ])("Remind somebody, at the row %j of two carriers", async (CARRIER, name) => {
    const [program = "", table = ""] = blocksOf("Remind somebody", "ts");
    expect(table).toContain("const carriers = {");
    const file = join(folder, `two-carriers-${CARRIER}.ts`);
    writeFileSync(file, withService(program, ofSources(table)));
    const { code: exit, stdout, stderr } = await execute(bin("node"), [file], { CARRIER });
    const printed = `${name} string\nconfirmed\n`;
    expect({ exit, stderr, stdout }).toEqual({ exit: 0, stderr: "", stdout: printed });
  });

  test.each(Object.entries(services))(
    "Test a flow on each push, with the service %s",
    async (name, service) => {
      const file = join(folder, `reminder-${name}.test.ts`);
      const block = blockOf("Test a flow on each push", "ts file: reminder.test.ts");
      writeFileSync(file, withService(block, service));
      const command = ["--test", "--test-reporter=tap", file];
      const { code: exit, stdout } = await execute(bin("node"), command);
      expect(exit, stdout).toBe(0);
      expect(stdout).toMatch(/^# pass 1$/m);
    },
  );
});

/** A text with the changes of a diff, whose hunks are apart by `…`. */
const patched = (text: string, diff: string): string =>
  diff.split("…\n").reduce((before, hunk) => {
    const side = (without: string) =>
      hunk
        .split("\n")
        .filter((line) => line && !line.startsWith(without))
        .map((line) => line.slice(1))
        .join("\n");
    expect(before.split(side("+"))).toHaveLength(2);
    return before.replace(side("+"), () => side("-"));
  }, text);

test.each(Object.keys(services))("A Worker, with the service %s", async (name) => {
  const project = join(folder, `worker-${name}`);
  const command = blockOf("A Worker", "sh").trim().split(" ").slice(1);
  expect(command).toEqual(["init", "calls", "--on", "worker", "--service", "twilio"]);
  const service = name === "own" ? [] : ["--service", name];
  const made = await execute(bin("node"), [
    ...[path("dist/cli/main.js"), "init", project, "--on", "worker", "--package", "1.2.3"],
    ...service,
  ]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const [app = "", tests = ""] = blocksOf("A Worker", "diff");
  for (const [name, diff] of Object.entries({ "app.ts": app, "app.test.ts": tests })) {
    const file = join(project, name);
    writeFileSync(file, ofSources(patched(readFileSync(file, "utf8"), diff)));
  }
  const { code, stdout } = await execute(bin("node"), ["--test"], {}, { cwd: project });
  expect(code, stdout).toBe(0);
  expect(stdout).toContain("9 asks for no more calls");
});

/** The two commands of the recipe, at free ports of this machine. */
const servers = {
  Deno: [
    "deno",
    "serve",
    "--no-prompt",
    "--allow-env",
    "--allow-net",
    "--host=127.0.0.1",
    "--port=0",
  ],
  Bun: ["bun"],
} as const;

const both = Object.entries(servers).flatMap(([runtime, line]) =>
  Object.entries(services).map(([name, service]) => ({ runtime, line, name, service })),
);

test.each(both)("On Deno and on Bun: on $runtime, with the service $name", async (given) => {
  const { runtime, line, name, service } = given;
  const account = Object.entries(accounts).find(([carrier]) => carrier === name)?.[1];
  const title = "On Deno and on Bun";
  expect(blockOf(title, "sh")).toBe("deno serve --allow-env --allow-net app.ts\nbun app.ts\n");
  const file = join(folder, `app-${runtime}-${name}.ts`);
  writeFileSync(file, withService(blockOf(title, "ts file: app.ts"), service));
  const emulator = createEmulator({
    ...(account && { service: { name, account } }),
    clock: "instant",
    fetch: (request) => application.fetch(request),
  });
  const api = serve({
    fetch: (request) => emulator.fetch(request),
    hostname: "127.0.0.1",
    port: 0,
  });
  await once(api, "listening");
  const { port } = api.address() as AddressInfo;
  const [command, ...args] = line;
  const application = await started(command, [...args, file], {
    ...{
      OUTDIAL_API_KEY: emulator.apiKey,
      OUTDIAL_BASE_URL: `http://127.0.0.1:${port}`,
      PORT: "0",
    },
    ...{ APP_URL: "https://app.test", SIGNING_SECRET: randomUUID(), CALL_TOKEN: "token" },
  });
  const place = (token: string) =>
    application.fetch(
      new Request("https://app.test/call", {
        method: "POST",
        headers: { authorization: `Bearer ${token}` },
        body: "+12025550100",
      }),
    );
  expect((await place("another")).status).toBe(401);
  const response = await place("token");
  expect(response.status).toBe(201);
  const { id } = Object(await response.json());
  expect(await emulator.ended(id)).toMatchObject({ state: "completed", reason: "normal" });
  application.close();
  api.close();
  await emulator.close();
});

/** The lines of a block that a reader writes: not the imports, and not what the emulator needs or shows. */
const linesOf = (code: string): number => {
  const shown =
    /^(import|console\.|\/\*\*|\/\/|(const|await using) (emulator|\{ apiKey, fetch \}) = |await emulator\.)/;
  const statements = code.split(/\n(?=[^\s})\]])/).filter((statement) => !shown.test(statement));
  return statements.flatMap((one) => one.split("\n")).filter((line) => /^\s*[^\s/]/.test(line))
    .length;
};

const headings = [...page.matchAll(/^## (.*)$/gm)].map(([, words = ""]) => words);

test("the table of ten jobs has the lines of each recipe", () => {
  const table = page.slice(page.indexOf("## Ten jobs"), page.indexOf("\n## Remind"));
  const rows = [...table.matchAll(/^\| \d+ \| [^|]+ \| ([^|]+) \| (\d+) /gm)];
  expect(rows.length).toBeGreaterThan(5);
  for (const [row, recipe = "", lines] of rows) {
    const titles = [...recipe.matchAll(/\(#([\w-]+)\)/g)].map(([, anchor = ""]) => anchor);
    const counted = titles.map((anchor) => {
      const title = headings.find((heading) => anchorOf(heading) === anchor) ?? "";
      const [changes] = blocksOf(title, "diff");
      if (changes) return changes.split("\n").filter((line) => line.startsWith("+")).length;
      const blocks = blocksOf(title, "ts(?: file: (?:app|reminder\\.test)\\.ts)?").map(linesOf);
      return blocks.reduce((sum, each) => sum + each, 0);
    });
    expect(
      counted.reduce((sum, each) => sum + each, 0),
      row,
    ).toBe(Number(lines));
  }
  expect(table).toContain(`has ${linesOf(read("examples/list/alert.ts"))} lines then`);
  expect(table).toContain(`has ${linesOf(read("examples/list/survey.ts"))}.`);
});

const scripts = {
  alert: {
    shown: blockOf("Alert one after another", "ts file: alert.ts"),
    callees: "press=4:100%",
    args: ["--concurrency=1"],
    prints: { completed: 1, canceled: 2, answers: { ack: { 4: 1 } } },
  },
  survey: {
    shown: /^## The flow in the command\n.*?^`{3}ts\n(.*?)^`{3}/ms.exec(
      read("docs/at-scale.md"),
    )?.[1],
    callees: "press=4/5:100%",
    args: [],
    prints: { completed: 3, answers: { visit: { 4: 3 }, price: { 5: 3 } } },
  },
} as const;

const listed = Object.entries(scripts).flatMap(([script, each]) =>
  Object.keys(services).map((name) => ({ script, name, ...each })),
);

test.each(listed)("the $script of the command is its example, and runs as $name", async (each) => {
  const example = `examples/list/${each.script}.ts`;
  expect(each.shown).toBe(read(example));
  const file = join(folder, `${each.script}.ts`);
  writeFileSync(file, ofSources(read(example)));
  const list = join(folder, "oncall.csv");
  writeFileSync(list, "phone\n+12025550100\n+12025550120\n+12025550121\n");
  const { code, stdout, stderr } = await execute(bin("node"), [
    ...[path("dist/cli/main.js"), "dial", list, "--script", file, "--from", "+12025550199"],
    ...["--window", "always", "--emulate", "--callees", each.callees, "--json", ...each.args],
    ...(each.name === "own" ? [] : ["--service", each.name]),
  ]);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject(each.prints);
});
