import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { verifySignature } from "@vonage/jwt";
import { describe, expect, it } from "vitest";
import { pem, publicKey } from "../unit/vonage/keys.ts";
import { type Ended, invoke } from "./cli.ts";
import {
  answering,
  beginUntilEnd,
  emulate,
  from,
  inShell,
  newFolder,
  openDashboard,
  serveUntilEnd,
  untilNotified,
} from "./emulate.ts";

/** A request as a carrier got it. */
interface Seen {
  readonly url: string | undefined;
  readonly authorization: string;
  readonly body: string;
}

/** A carrier as the tests of the command know it. */
interface Carrier {
  readonly name: string;
  readonly account: string;
  /** Another account, and what is none. */
  readonly other: string;
  readonly wrong: string;
  readonly wrongWords: string;
  readonly key: string;
  /** What it asks the carrier for with each `--machine-detection`. */
  readonly detects: Readonly<Record<"detect" | "message", RegExp>>;
  /** A piece of the key. */
  readonly piece: string;
  readonly path: string;
  readonly isOf: (authorization: string) => boolean;
  readonly toOf: (body: string) => unknown;
  /** Its answers to a call that it has placed, and to one that it has not. */
  readonly placed: object;
  readonly refused: (text: string) => object;
  readonly status: number;
  /** Calls a second without `--calls-per-second`. */
  readonly rate: number;
  /** What the emulator prints for an application, by its names. */
  readonly secrets: readonly string[];
  /** What the file that keeps the account calls the last of them. */
  readonly kept: "apiKey" | "webhookSecret";
  /** What it calls the audio of the sample. */
  readonly played: RegExp;
  /** What its dashboard says of the key, and how it refuses the number `nobody`. */
  readonly keyName: string;
  readonly noNumber: object;
}

const spki = String(publicKey.export({ type: "spki", format: "pem" }));
const token = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
const sid = "AC0123456789abcdef0123456789abcdef";

const carriers: readonly Carrier[] = [
  {
    name: "twilio",
    account: sid,
    other: "AC00000000000000000000000000000000",
    wrong: "SK0123456789abcdef0123456789abcdef",
    wrongWords: '"AC" and 32',
    key: token,
    detects: { detect: /MachineDetection=Enable/, message: /MachineDetection=DetectMessageEnd/ },
    piece: "0f1e2d",
    path: `/2010-04-01/Accounts/${sid}/Calls.json`,
    isOf: (authorization) => authorization === `Basic ${btoa(`${sid}:${token}`)}`,
    toOf: (body) => new URLSearchParams(body).get("To"),
    placed: { sid: "call-1" },
    refused: (message) => ({ code: 20003, message }),
    status: 201,
    rate: 1,
    secrets: ["auth token"],
    kept: "apiKey",
    played: /Play +for 3 s, http:\S+\/sample\/hello\.wav/,
    keyName: "Auth token",
    noNumber: {
      status: 400,
      message: "The 'To' number nobody is not a valid phone number.",
    },
  },
  {
    name: "vonage",
    account: "78d335fa-323d-0114-9c3d-d6f0d48968cf",
    other: "00000000-323d-0114-9c3d-d6f0d48968cf",
    wrong: "AC1",
    wrongWords: "",
    key: pem,
    detects: {
      detect: /"machine_detection":"continue"/,
      message: /"advanced_machine_detection":{[^}]*"mode":"detect_beep"/,
    },
    piece: pem.slice(100, 140),
    path: "/v1/calls",
    isOf: (authorization) => verifySignature(authorization.replace("Bearer ", ""), spki),
    toOf: (body) => `+${JSON.parse(body).to[0].number}`,
    placed: { uuid: "call-1" },
    refused: (detail) => ({ title: "Unauthorized", detail }),
    status: 201,
    rate: 3,
    secrets: ["private key", "signs with"],
    kept: "webhookSecret",
    played: /stream +for 3 s/,
    keyName: "Private key",
    noNumber: { status: 400 },
  },
  {
    name: "telnyx",
    account: "1494404757140276705",
    other: "1",
    wrong: "AC1",
    wrongWords: "the id of a TeXML application",
    key: `KEY${token}`,
    detects: {
      detect: /"MachineDetection":"Enable"/,
      message: /"MachineDetection":"DetectMessageEnd"/,
    },
    piece: "0f1e2d",
    path: "/v2/texml/calls/1494404757140276705",
    isOf: (authorization) => authorization === `Bearer KEY${token}`,
    toOf: (body) => JSON.parse(body).To,
    placed: { call_sid: "call-1" },
    refused: (detail) => ({ errors: [{ detail }] }),
    status: 200,
    rate: 1,
    secrets: ["API key"],
    kept: "apiKey",
    played: /Play +for 3 s, http:\S+\/sample\/hello\.wav/,
    keyName: "API key",
    noNumber: { status: 422, message: "To is not a valid phone number" },
  },
];

const urls = ["--flow", "https://app.test/flow", "--callback", "https://app.test/status"];
const callee = "+12025550123";

describe.each(carriers)("$name", (carrier) => {
  const { name, account, key } = carrier;
  const byFlags = ["--service", name, "--account", account];
  const byEnvironment = { OUTDIAL_SERVICE: name, OUTDIAL_ACCOUNT: account };
  const env = { OUTDIAL_API_KEY: key, SIGNING_SECRET: "a secret that was made at random" };
  const call = ["call", "--from", from, "--to", callee, ...urls];

  /** What the carrier is: a server on loopback, which keeps what it received. */
  const start = async (status = carrier.status) => {
    const seen: Seen[] = [];
    const { url: baseUrl } = await serveUntilEnd(async (request, response) => {
      let body = "";
      for await (const chunk of request) body += chunk;
      const { url, headers } = request;
      const { authorization = "" } = headers;
      seen.push({ url, authorization, body });
      const credentials = authorization.replace(/^\w+ /, "");
      const { placed, refused } = carrier;
      const answer = status < 300 ? placed : refused(`No ${credentials}`);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(answer));
    });
    return { seen, baseUrl };
  };

  /** No output has the key, what was sent of it, or a number. */
  const isQuiet = ({ stdout, stderr }: Ended, seen: readonly Seen[]): void => {
    for (const text of [stdout, stderr]) {
      expect(text).not.toContain(carrier.piece);
      for (const { authorization } of seen) expect(text).not.toContain(authorization.slice(-20));
      expect(text).not.toContain(callee.slice(2));
    }
  };

  it.each<[string, string[], Record<string, string>]>([
    ["flags", byFlags, {}],
    ["the environment", [], byEnvironment],
  ])("outdial call places a call, by %s", async (_, flags, more) => {
    const { seen, baseUrl } = await start();
    const ended = await invoke([...call, ...flags, "--base-url", baseUrl], { ...env, ...more });
    expect(ended).toEqual({ code: 0, stdout: "call-1\n", stderr: "" });
    expect(seen.map(({ url, body }) => [url, carrier.toOf(body)])).toEqual([
      [carrier.path, callee],
    ]);
    expect(carrier.isOf(seen[0]?.authorization ?? "")).toBe(true);
    expect(seen[0]?.body).not.toMatch(/record/i);
  });

  it("outdial call asks the carrier who answers, by --machine-detection", async () => {
    const { seen, baseUrl } = await start();
    const all = [...call, ...byFlags, "--base-url", baseUrl];
    for (const detection of ["detect", "message"] as const) {
      await invoke([...all, "--machine-detection", detection], env);
      expect(seen.at(-1)?.body).toMatch(carrier.detects[detection]);
    }
    await invoke(all, env);
    expect(seen.at(-1)?.body).not.toMatch(/detect/i);
    const wrong = await invoke([...all, "--machine-detection", "beep"], env);
    expect(wrong.stderr).toContain("--machine-detection must be one of detect, message");
    expect([wrong.code, seen.length]).toEqual([2, 3]);
  });

  it.each([
    [401, 1, "(no call was placed)"],
    [503, 3, "(a call may have been placed)"],
  ])("a refusal with %i exits %i, and shows no key", async (status, code, words) => {
    const { seen, baseUrl } = await start(status);
    const ended = await invoke([...call, ...byFlags, "--base-url", baseUrl], env);
    expect([ended.code, seen.length]).toEqual([code, 1]);
    expect(ended.stderr).toContain(`HTTP ${status} `);
    expect(ended.stderr).toContain(words);
    isQuiet(ended, seen);
  });

  it.each<[string[], Record<string, string>, string]>([
    [["--service", name], {}, `which account of ${name}? Set OUTDIAL_ACCOUNT, or pass --account`],
    [
      ["--service", name, "--account", carrier.wrong],
      {},
      `--account or OUTDIAL_ACCOUNT must be ${carrier.wrongWords}`,
    ],
    [["--service", `${name}s`, "--account", account], {}, `(did you mean ${name}?)`],
    [["--service", "toString", "--account", account], {}, "no such --service"],
    [byFlags, { OUTDIAL_API_KEY: "" }, "OUTDIAL_API_KEY is not set; see `outdial help call`\n"],
    [[...byFlags, "--key", "x"], {}, "the key cannot be an argument"],
  ])("%j with %j exits 2, and sends nothing", async (flags, more, words) => {
    const { seen, baseUrl } = await start();
    const given = { ...env, ...more };
    const ended = await invoke([...call, ...flags, "--base-url", baseUrl], given);
    expect([ended.code, ended.stdout]).toEqual([2, ""]);
    expect(ended.stderr).toContain(words);
    isQuiet(ended, seen);
    expect(seen).toHaveLength(0);
  });

  it("outdial dial calls the list, at the carrier's pace, and its ledger belongs to the account", async () => {
    const { seen, baseUrl } = await start();
    const list = join(newFolder(), "people.csv");
    writeFileSync(list, `to_number\n${answering}\n`);
    const dial = (flags: readonly string[], more: Readonly<Record<string, string>> = {}) =>
      invoke(
        [
          ...["dial", list, "--from", from, "--window", "always", ...urls],
          ...["--base-url", baseUrl, ...flags],
        ],
        { ...env, ...more },
      );
    const rate = ["--rate", String(carrier.rate + 1)];
    const tooFast = await dial([...byFlags, ...rate, "--dry-run"]);
    expect(tooFast.code).toBe(2);
    expect(tooFast.stderr).toContain(
      `--rate must be at most ${carrier.rate}, the --calls-per-second of ${name}`,
    );
    const faster = ["--calls-per-second", String(carrier.rate + 1)];
    expect((await dial([...byFlags, ...rate, ...faster, "--dry-run"])).code).toBe(0);
    const plan = await dial([...byFlags, "--dry-run"]);
    expect(plan.code).toBe(0);
    expect(plan.stderr).toContain(`by ${name}, account ${account}`);
    expect(plan.stderr).toContain(`not recorded, unless ${name} does so by itself`);
    expect(seen).toHaveLength(0);
    const ended = await dial([...byFlags, "--yes"]);
    expect(ended.code).toBe(0);
    expect(seen.map(({ body }) => carrier.toOf(body))).toEqual([answering]);
    const other = { OUTDIAL_SERVICE: name, OUTDIAL_ACCOUNT: carrier.other };
    const refused = await dial(["--yes"], other);
    expect([refused.code, seen.length]).toEqual([2, 1]);
    expect(refused.stderr).toContain("another campaign");
  });

  it("outdial emulator prints a line that places a call", async () => {
    const emulator = await emulate(name, account, newFolder());
    const [, key, words] = /^OUTDIAL_API_KEY='([^']+)' outdial (.*)$/.exec(emulator.line) ?? [];
    if (key && words) {
      // As a shell reads the line.
      const args = (await inShell(`printf '%s\\n' ${words}`)).trimEnd().split("\n");
      const { code, stderr } = await invoke(args, { OUTDIAL_API_KEY: key });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    } else {
      // The key reaches curl by its standard input: arguments are public.
      const command = emulator.line.slice(emulator.line.indexOf("|"));
      for (const secret of carrier.secrets) expect(command).not.toContain(emulator.field(secret));
      const placed = JSON.parse(await inShell(`${emulator.line} --silent`));
      expect(placed).toMatchObject({ to: answering, status: "queued" });
    }
    const text = await untilNotified(emulator);
    expect(text).toMatch(carrier.played);
    emulator.kill("SIGINT");
    const { code, stdout } = await emulator.ended;
    expect(code).toBe(0);
    expect(stdout.trimEnd()).toMatch(/\n1 call: 1 completed; \d notifications? delivered$/);
  });

  it("outdial emulator is what outdial call calls with the same flags", async () => {
    const emulator = await emulate(name, account, newFolder());
    const baseUrl = emulator.field("base URL");
    const sample = ["--flow", `${baseUrl}/sample/flow`, "--callback", `${baseUrl}/sample/status`];
    const [secret = ""] = carrier.secrets;
    const ended = await invoke(
      [
        ...["call", "--from", from, "--to", answering, ...sample],
        ...[...byFlags, "--base-url", baseUrl],
      ],
      { OUTDIAL_API_KEY: emulator.field(secret) },
    );
    expect([ended.code, ended.stderr]).toEqual([0, ""]);
    expect(ended.stdout).toMatch(/^\S{30,}\n$/);
    expect(await untilNotified(emulator)).toMatch(carrier.played);
  });

  it("its dashboard has the service's name, and places calls as the carrier takes them", async () => {
    const emulator = await emulate(name, account, newFolder());
    const { page, place, commandFor } = await openDashboard(emulator.field("dashboard"));
    expect(page).toContain(`<title>outdial emulator · ${name}</title>`);
    expect(page).toContain(carrier.keyName);
    for (const secret of carrier.secrets) expect(page).not.toContain(emulator.field(secret));
    expect(await place(answering)).toMatchObject({ status: carrier.status });
    await untilNotified(emulator);
    expect(await place("nobody")).toMatchObject(carrier.noNumber);
    expect(await commandFor(answering)).toEqual({ command: emulator.line });
  });

  it("outdial emulator --script has machines detected, once the script has a part for them", async () => {
    const folder = newFolder();
    const script = join(folder, "reminder.mjs");
    const machine = "+12025550106";
    // On Vonage the flow of a person runs until the machine is detected, and the application has answered that: minutes of
    // a time that is 50 times as fast.
    writeFileSync(
      script,
      `const say = (...prompts) => ({ action: "say", prompts });
       const pauses = (count) => Array(count).fill({ pause_ms: 180_000 });
       export default {
         onAnswer: ({ call }) => say("Hello, you.", ...pauses(call.to_number === "${machine}" ? 9 : 0)),
         onMachine: () => say("Hello, machine."),
       };`,
    );
    const emulator = await emulate(name, account, folder, "--script", script);
    const { place, commandFor } = await openDashboard(emulator.field("dashboard"));
    await place(answering);
    expect(await untilNotified(emulator)).not.toContain("Hello, machine.");
    await place(machine);
    expect(await untilNotified(emulator, 2)).toContain("Hello, machine.");
    expect(JSON.stringify(await commandFor(machine))).toMatch(/machine-?detection/i);
  });

  it("outdial dial --machine-detection has the carrier detect machines", async () => {
    const { seen, baseUrl } = await start();
    const list = join(newFolder(), "people.csv");
    writeFileSync(list, `to_number\n${answering}\n`);
    const flags = ["--from", from, "--window", "always", ...urls, "--base-url", baseUrl, "--yes"];
    const dial = ["dial", list, ...flags, "--machine-detection", "detect"];
    expect((await invoke([...dial, ...byFlags], env)).code).toBe(0);
    expect(seen[0]?.body).toMatch(/machine_?detection/i);
    const alone = await invoke(dial, { ...env, OUTDIAL_SERVICE: "" });
    expect([alone.code, seen.length]).toEqual([2, 1]);
    expect(alone.stderr).toContain("--machine-detection needs --service");
  });

  it("outdial emulator has the same secrets at each start, beside those of outdial's own interface", async () => {
    const folder = newFolder();
    const own = beginUntilEnd(["emulator", "--port", "0"], { XDG_STATE_HOME: folder });
    const key = /API key +(\S+)/.exec(await own.says(/^echo .*\n/m))?.[1];
    const secretsOf = async () => {
      const emulator = await emulate(name, account, folder);
      return carrier.secrets.map((secret) => emulator.field(secret));
    };
    const first = await secretsOf();
    expect(first.every(Boolean)).toBe(true);
    expect(await secretsOf()).toEqual(first);
    const kept = JSON.parse(readFileSync(join(folder, "outdial", "emulator.json"), "utf8"));
    expect(kept.apiKey).toBe(key);
    expect(kept[name][carrier.kept]).toBe(first.at(-1));
  });
});
