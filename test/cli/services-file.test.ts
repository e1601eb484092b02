import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, test } from "vitest";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import { carriers } from "../carriers/carriers.ts";
import { startEmulator } from "../carriers/stage.ts";
import { nobodysUrl } from "../nobody.ts";
import { begin, invoke, outdial } from "./cli.ts";
import { newFolder } from "./emulate.ts";

const secret = "a secret that was made at random";

const script = `
export default {
  onAnswer: () => ({ action: "gather", digits: 1, as: "visit", prompts: ["1 or 2?"], next: "bye" }),
  steps: { bye: () => ({ action: "say", prompts: ["Goodbye."] }) },
};`;

const numbers = (count: number) =>
  Array.from({ length: count }, (_, at) => `+1202557${String(1_000 + at)}`);

/** A folder with a list, a script and a file of services, and the words of commands about them. */
const folderOf = (services: unknown, contacts = 4) => {
  const folder = newFolder();
  const at = (name: string): string => join(folder, name);
  writeFileSync(at("people.csv"), `to_number\n${numbers(contacts).join("\n")}\n`);
  writeFileSync(at("script.mjs"), script);
  const file = at("services.json");
  writeFileSync(file, typeof services === "string" ? services : JSON.stringify(services));
  const ledger = at("people.outdial");
  return {
    ...{ at, file, ledger },
    dial: (...more: readonly string[]) => [
      ...["dial", at("people.csv"), "--services-file", file, "--script", at("script.mjs")],
      ...["--window", "always", ...more],
    ],
    listen: ["--listen", "127.0.0.1:0", "--yes"],
    rows: async () => {
      const { stdout } = await invoke(["results", ledger, "--json"]);
      return stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line));
    },
  };
};

/** A service of outdial's own interface, in the file. */
const own = (name: string, more: object = {}) => ({
  name,
  baseUrl: "http://127.0.0.1:9",
  apiKeyEnv: `${name.toUpperCase()}_KEY`,
  from_number: "+12025550199",
  ...more,
});

const keys = { MAIN_KEY: "a key of the first", SPARE_KEY: "a key of the second" };

const refused = async (services: unknown, ...more: readonly string[]) => {
  const { dial, listen } = folderOf(services);
  const { code, stderr } = await invoke(dial(...listen, ...more), {
    ...keys,
    SIGNING_SECRET: secret,
  });
  expect(code, stderr).toBe(2);
  return stderr.replace("outdial: ", "").replace(/; see `outdial help dial`\n$/, "");
};

describe("--services-file", () => {
  const twilio = {
    name: "main",
    service: "twilio",
    apiKeyEnv: "MAIN_KEY",
    from_number: "+12025550199",
  };
  const account = `AC${"0".repeat(32)}`;
  const shape = 'must be a JSON list of one service or more: [{ "name": "main", … }]';

  it.each([
    ["{", shape],
    ["{}", shape],
    ["[]", shape],
    [[1], ": service 1: the whole must be an object, not a number"],
    [[own("main"), own("main")], ": main: name is given twice"],
    [[own("Main")], /^: service 1: name must be a name, such as "main"/],
    [[{ ...own("main"), name: undefined }], ": service 1: name is missing"],
    [[own("main", { from_number: undefined })], ": main: from_number is missing"],
    [
      [own("main", { from_number: 12_025_550_199 })],
      ": main: from_number must be a text, or a list of texts",
    ],
    [[own("main", { from_number: "0171" })], /^: main: from_number must be an E.164 number/],
    [[own("main", { rate: "5" })], ": main: rate must be a number"],
    [[own("main", { rate: 0 })], /^: main: rate must be above 0/],
    [
      [own("main"), own("spare", { concurrency: 1.5 })],
      /^: spare: concurrency must be a whole number from 1/,
    ],
    [
      [own("main", { baseUrl: undefined })],
      ": main: give baseUrl, or service, the name of a carrier",
    ],
    [[own("main", { baseUrl: "http://example.com" })], /^: main: baseUrl .*https/],
    [
      [own("main", { base_url: "https://a.example" })],
      ": main: base_url is unknown: did you mean baseUrl?",
    ],
    [
      [own("main", { apiKey: keys.MAIN_KEY })],
      ": main: apiKey is unknown: did you mean apiKeyEnv?",
    ],
    [
      [own("main", { apiKeyEnv: keys.MAIN_KEY })],
      ": main: apiKeyEnv must be the name of an environment variable",
    ],
    [
      [own("main", { apiKeyEnv: "OTHER_KEY" })],
      ": main: the variable that apiKeyEnv names is not set",
    ],
    [[own("main", { apiKeyEnv: undefined })], /^: main: give either apiKeyEnv, .* or keyFile$/],
    [[own("main", { keyFile: "key" })], /^: main: give either apiKeyEnv, .* or keyFile$/],
    [
      [own("main", { apiKeyEnv: undefined, keyFile: "away" })],
      ": main: keyFile cannot be read (ENOENT)",
    ],
    [
      [own("main", { flow_url: "https://a.example" })],
      ": main: flow_url cannot be beside --script, which is the flow",
    ],
    [
      [{ ...twilio, service: "twilo", account }],
      ": main: there is no such service (did you mean twilio?)",
    ],
    [[twilio], ": main: account is missing"],
    [[{ ...twilio, account: "AC1" }], /^: main: account must be/],
    [
      [{ ...twilio, account, rate: 5 }],
      ": main: rate must be at most 1, the callsPerSecond of twilio",
    ],
    [[{ ...twilio, account, callsPerSecond: -1 }], /^: main: callsPerSecond must be/],
    [
      [{ ...twilio, account, signatureSecretEnv: "NONE" }],
      ": main: the variable that signatureSecretEnv names is not set",
    ],
  ])("%j is refused, which names the service and the field", async (services, rule) => {
    const text = await refused(services);
    expect(text).toMatch(/^--services-file/);
    const rest = text.slice("--services-file".length);
    if (typeof rule === "string") expect(rest.trim()).toBe(rule);
    else expect(rest).toMatch(rule);
    expect(text).not.toContain(keys.MAIN_KEY);
    expect(text).not.toContain("12025550199");
  });

  it("cannot be beside the options that each service has of its own", async () => {
    const text = await refused([own("main")], "--rate", "5", "--from", "+12025550199");
    expect(text).toBe(
      "--from, --rate cannot be beside --services-file: each service in it has its own",
    );
  });

  it("takes the place of --from, which is missing without it", async () => {
    const { at } = folderOf([]);
    const { stderr } = await invoke(["dial", at("people.csv"), "--window", "always"]);
    expect(stderr).toContain("--from is missing");
  });

  it("needs a flow and a receiver for each service, of its own or of the command line", async () => {
    const { at, file } = folderOf([
      own("main", {
        flow_url: "https://a.example/flow",
        status_callback_url: "https://a.example/status",
      }),
      own("spare", { status_callback_url: "https://a.example/status" }),
    ]);
    const env = { ...keys, SIGNING_SECRET: secret };
    const dial = (...more: readonly string[]) =>
      invoke(
        [
          "dial",
          at("people.csv"),
          "--services-file",
          file,
          "--window",
          "always",
          "--dry-run",
          ...more,
        ],
        env,
      );
    expect((await dial()).stderr).toContain(
      "--services-file: spare: flow_url is missing: give it, or --flow",
    );
    const { code, stderr } = await dial("--flow", "https://b.example/flow", "--no-record");
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(
      "  main: by http://127.0.0.1:9/, 1 per second, from +12025550199, flow https://a.example/flow\n",
    );
    expect(stderr).toContain(", flow https://b.example/flow\n");
    expect(stderr).toContain("2 per second: at least 2 s of dialling");
    expect(
      (await dial("--listen", "127.0.0.1:0", "--flow", "https://b.example/flow")).stderr,
    ).toContain("pass either --listen or --callback");
  });
});

/** The services of a list, each on an emulator of its own, and the file that names them. */
const dialledBy = async (
  kinds: readonly {
    readonly name: string;
    readonly emulated: EmulatorOptions;
    readonly more?: object;
  }[],
  options: EmulatorOptions = {},
) => {
  const env: Record<string, string> = { SIGNING_SECRET: secret };
  const services: object[] = [];
  const emulators = [];
  for (const { name, emulated, more = {} } of kinds) {
    const { emulator, baseUrl } = await startEmulator({ ...emulated, ...options });
    env[`${name.toUpperCase()}_KEY`] = emulator.apiKey;
    env[`${name.toUpperCase()}_SECRET`] = emulator.webhookSecret;
    services.push(own(name, { baseUrl, rate: 200, concurrency: 2, ...more }));
    emulators.push(emulator);
  }
  return { env, services, emulators };
};

const carrierKinds = carriers.map(({ name, emulated, service: { account } }) => ({
  ...{ name, emulated },
  more: {
    ...{ service: name, account, callsPerSecond: 200 },
    ...(name !== "twilio" && { signatureSecretEnv: `${name.toUpperCase()}_SECRET` }),
  },
}));

test("a list over outdial's own interface and every carrier: each call at one of them, with its answers", async () => {
  const kinds = [{ name: "main", emulated: {} }, ...carrierKinds];
  const { env, services, emulators } = await dialledBy(kinds, {
    callee: [{ type: "until-prompt" }, { type: "press", digits: "2" }],
  });
  const { dial, listen, rows, ledger } = folderOf(services, 12);
  const { code, stderr } = await invoke(dial(...listen), env);
  expect(code, stderr).toBe(0);
  const results = await rows();
  const by = new Set(results.map(({ service }) => service));
  expect([...by].sort()).toEqual(kinds.map(({ name }) => name).sort());
  for (const { disposition, answers, service, call_id } of results) {
    expect([disposition, answers]).toEqual(["completed", { visit: "2" }]);
    const at = kinds.findIndex(({ name }) => name === service);
    expect(emulators[at]?.calls.map(({ id }) => id)).toContain(call_id);
  }
  expect(emulators.flatMap(({ calls }) => calls)).toHaveLength(12);
  const report = await invoke(["report", ledger]);
  for (const { name } of kinds) expect(report.stdout).toMatch(new RegExp(`^ *${name} +\\d`, "m"));
});

test("a service that refuses the key, and one that refuses connections, pause alone, and the others call everybody", async () => {
  const { env, services, emulators } = await dialledBy([
    { name: "main", emulated: {} },
    { name: "spare", emulated: {} },
  ]);
  const down = own("down", { baseUrl: await nobodysUrl() });
  const closed = { ...services[0], name: "closed", apiKeyEnv: "CLOSED_KEY" };
  const { dial, listen, rows } = folderOf([down, closed, ...services], 8);
  // A process of its own: in this one a refused connection is unclear.
  const { code, stderr } = await outdial("node", dial(...listen), {
    ...{ ...env, DOWN_KEY: "a key of nobody's", CLOSED_KEY: "a key that is wrong" },
  });
  expect(code, stderr).toBe(0);
  const results = await rows();
  expect(results.map(({ disposition }) => disposition)).toEqual(Array(8).fill("completed"));
  expect([...new Set(results.map(({ service }) => service))].sort()).toEqual(["main", "spare"]);
  expect(emulators.flatMap(({ calls }) => calls)).toHaveLength(8);
});

test("the ledger belongs to the names: one may be added, another key, rate or order is the same list, and a list by flags another", async () => {
  const { env, services } = await dialledBy([
    { name: "main", emulated: {} },
    { name: "spare", emulated: {} },
  ]);
  const [main, spare] = services;
  const first = folderOf([main], 3);
  expect(await invoke(first.dial(...first.listen), env)).toMatchObject({ code: 0 });
  writeFileSync(first.file, JSON.stringify([spare, { ...main, rate: 7 }]));
  const again = await invoke(first.dial(...first.listen), env);
  expect(again.code, again.stderr).toBe(0);
  expect(again.stderr).toContain("0 contacts to call, of 3 contacts; 3 already in the ledger");
  writeFileSync(first.file, JSON.stringify([own("other")]));
  const other = await invoke(first.dial(...first.listen), {
    ...env,
    OTHER_KEY: "some key or other",
  });
  expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("another campaign") });
  const byFlags = await invoke(
    [
      ...["dial", first.at("people.csv"), "--script", first.at("script.mjs"), "--window", "always"],
      ...["--from", "+12025550199", "--base-url", "http://127.0.0.1:9", ...first.listen],
    ],
    { ...env, OUTDIAL_API_KEY: "some key or other" },
  );
  expect(byFlags).toMatchObject({ code: 2, stderr: expect.stringContaining("another campaign") });
});

test("a notification counts at the paths of its own service alone, whose URLs no other path verifies", async () => {
  const forged: number[] = [];
  const notify = async (request: Request): Promise<Response> => {
    const { origin, pathname, search } = new URL(request.url);
    const [, name = "", path = ""] = pathname.split("/");
    const other = `${origin}/${name === "main" ? "spare" : "main"}/${path}${search}`;
    const body = JSON.stringify({ type: "call.failed", call_id: "cs_9", data: { reason: "busy" } });
    const headers = { "Content-Type": "application/json" };
    if (path === "status") {
      forged.push((await fetch(other, { method: "POST", headers, body })).status);
    }
    return fetch(request);
  };
  const { env, services } = await dialledBy(
    [
      { name: "main", emulated: {} },
      { name: "spare", emulated: {} },
    ],
    { fetch: notify },
  );
  const { dial, listen, rows } = folderOf(services, 4);
  const { code, stderr } = await invoke(dial(...listen), env);
  expect(code, stderr).toBe(0);
  expect(stderr).toMatch(
    /Notifications arrive at \S+\/main\/status\nNotifications arrive at \S+\/spare\/status\n/,
  );
  expect(forged.length).toBeGreaterThan(11);
  expect([...new Set(forged)]).toEqual([401]);
  expect((await rows()).map(({ disposition }) => disposition)).toEqual(Array(4).fill("completed"));
});

describe("the calls of a list over two services", () => {
  /** A run whose calls ring until they are ended. */
  const ringing = async () => {
    const { env, services, emulators } = await dialledBy(
      [
        { name: "main", emulated: {} },
        {
          name: "twilio",
          emulated: carrierKinds[0]?.emulated ?? {},
          more: carrierKinds[0]?.more ?? {},
        },
      ],
      { ringDuration: 600_000, clock: "real", speed: 0.02 },
    );
    // Once the command is over nobody takes notifications: they would be tried again for hours at this speed.
    onTestFinished(() => {
      for (const emulator of emulators) emulator.reset();
    });
    const list = folderOf(services, 4);
    const running = begin(list.dial(...list.listen), env);
    await expect
      .poll(() => emulators.map(({ calls }) => calls.length), { timeout: 60_000 })
      .toEqual([2, 2]);
    return { env, emulators, list, running };
  };

  it("are ended by outdial stop --hang-up, each at its own service, and why explains one by the name", async () => {
    const { env, emulators, list, running } = await ringing();
    const stop = await invoke(
      ["stop", list.ledger, "--hang-up", "--services-file", list.file],
      env,
    );
    expect(stop).toMatchObject({ code: 0, stdout: expect.stringContaining("4 live calls ended") });
    await running.ended;
    expect((await list.rows()).map(({ service }) => service).sort()).toEqual([
      ...["main", "main", "twilio", "twilio"],
    ]);
    const id = emulators[0]?.calls[0]?.id ?? "";
    const why = (...more: readonly string[]) =>
      invoke(["why", id, "--services-file", list.file, ...more], env);
    expect(await why("--service", "main")).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("canceled"),
    });
    expect(await why()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(
        "--service must be one of those in --services-file: main, twilio",
      ),
    });
    expect(await why("--service", "main", "--account", "AC1")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--account cannot be beside --services-file"),
    });
  });
});

describe("dial --emulate with --services-file", () => {
  it("needs no secret, and calls by an emulator of each service, whose names the results have", async () => {
    const services = [
      own("main", { rate: 50, concurrency: 2 }),
      {
        ...carrierKinds[0]?.more,
        name: "spare",
        from_number: "+12025550198",
        rate: 50,
        concurrency: 2,
      },
    ];
    const { at, file } = folderOf(services, 8);
    const { code, stdout, stderr } = await invoke([
      ...["dial", at("people.csv"), "--services-file", file, "--script", at("script.mjs")],
      ...["--window", "always", "--emulate", "--callees", "press=2:100%", "--output", at("tried")],
      "--json",
    ]);
    expect(code, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      ...{ calls: 8, completed: 8, answers: { visit: { 2: 8 } } },
    });
    expect(stderr).toMatch(/ {2}main: by the emulator, 50 per second/);
  });
});
