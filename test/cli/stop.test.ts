import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { create } from "../../src/calls/index.ts";
import { type CampaignOptions, openCampaign, openLedger } from "../../src/campaigns/index.ts";
import { liveOptionsOf } from "../../src/cli/live.ts";
import { serveNode } from "../../src/cli/serve.ts";
import { createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";
import { ServiceException } from "../../src/errors.ts";
import { begin, invoke, start } from "./cli.ts";
import { newFolder } from "./emulate.ts";

const secret = "a secret that was made at random";

interface Spoken {
  readonly name: string;
  readonly service?: EmulatorOptions["service"];
  readonly env: Readonly<Record<string, string>>;
}

const spokenBy = (name: string, account: string, more = {}): Spoken => ({
  name,
  service: { name, account },
  env: { OUTDIAL_SERVICE: name, OUTDIAL_ACCOUNT: account, ...more },
});

const own: Spoken = { name: "outdial", env: {} };

const services: readonly Spoken[] = [
  own,
  spokenBy("twilio", "AC0123456789abcdef0123456789abcdef"),
  spokenBy("vonage", "78d335fa-323d-0114-9c3d-d6f0d48968cf"),
  spokenBy("telnyx", "1494404757140276705", {
    OUTDIAL_ACCOUNT_SID: "f5586561-8ff0-4291-a51b-c7dfe4139ff9",
  }),
];

const isEnd = (url: string): boolean => url.endsWith("/hangup");

/** What stands between a command and the service: it may hold a request back. */
type Front = (request: Request) => Promise<unknown> | undefined;

/** An emulator at which every call rings until it is ended, and how the command finds it. */
const emulate = async ({ service, env }: Spoken, front: Front = () => undefined) => {
  const emulator = createEmulator({
    ...(service && { service }),
    ringDuration: 600_000,
    // A telephone rings for 30 or 60 s of each service's time: a busy machine needs longer to have 50 of them ring.
    speed: 0.02,
    fetch: async (request, init) => {
      if (!request.url.includes("/status")) return Response.json({ action: "hangup" });
      // A receiver that is gone has no notifications.
      return fetch(request, init).catch(() => new Response(null, { status: 204 }));
    },
  });
  const handler = async (request: Request) => {
    await front(request);
    return emulator.fetch(request);
  };
  const { port, stop } = await serveNode(handler, { hostname: "127.0.0.1", port: 0 });
  onTestFinished(async () => {
    emulator.reset();
    await emulator.close();
    await stop();
  });
  const baseUrl = `http://127.0.0.1:${port}`;
  return {
    emulator,
    baseUrl,
    env: {
      OUTDIAL_API_KEY: emulator.apiKey,
      OUTDIAL_BASE_URL: baseUrl,
      SIGNING_SECRET: secret,
      ...env,
    },
    live: () => emulator.calls.filter(({ state }) => !/completed|failed/.test(state)).length,
  };
};

const numbers = (count: number) =>
  Array.from({ length: count }, (_, index) => `+1303555${1000 + index}`);

/** A list of so many contacts, its ledger, and the command that dials it. */
const listOf = (count: number) => {
  const folder = newFolder();
  const list = join(folder, "people.csv");
  writeFileSync(list, `number\n${numbers(count).join("\n")}\n`);
  const ledger = join(folder, "people.outdial");
  const dial = (...more: readonly string[]) => [
    ...["dial", list, "--from", "+12025550199", "--flow", "http://127.0.0.1:9/flow"],
    ...["--window", "always", "--calls-per-second", "200"],
    ...(more.includes("--rate") ? [] : ["--rate", "200"]),
    ...["--concurrency", "50", "--listen", "127.0.0.1:0", "--yes", ...more],
  ];
  return { ledger, dial, stop: (...more: readonly string[]) => ["stop", ledger, ...more] };
};

/** A ledger whose calls are live, and whose process has ended. */
const abandoned = async (
  env: Readonly<Record<string, string>>,
  contacts: number,
  own?: CampaignOptions["create"],
) => {
  const list = listOf(contacts);
  const options = await liveOptionsOf({}, env);
  const database = new DatabaseSync(list.ledger);
  const campaign = await openCampaign(database, {
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    status_callback_url: "http://127.0.0.1:9/status",
    secret,
    create: own ?? ((params) => create(params, options)),
    window: "always",
    rate: 200,
  });
  await campaign.add(numbers(contacts).map((to_number) => ({ to_number })));
  await expect
    .poll(async () => {
      await campaign.step();
      await campaign.idle();
      return campaign.progress().waiting;
    })
    .toBe(0);
  await campaign.close();
  database.close();
  return list;
};

const eventsIn = (ledger: string): readonly string[] => {
  const database = new DatabaseSync(ledger);
  const events = Array.from(openLedger(database).audit(), ({ event }) => event);
  database.close();
  return events;
};

const count = (events: readonly string[], wanted: string): number =>
  events.filter((event) => event === wanted).length;

describe.each(services)("outdial stop --hang-up, at $name", (spoken) => {
  it("has the process that dials end 50 live calls, enter each, and begin no other", async () => {
    const { emulator, env, live } = await emulate(spoken);
    const { ledger, dial, stop } = listOf(60);
    const dialling = begin(dial(), env);
    await expect.poll(live).toBe(50);
    await expect.poll(() => count(eventsIn(ledger), "placed")).toBe(50);
    // Without a key: only the process that dials can end them.
    const stopped = await invoke(stop("--hang-up"), {});
    expect(stopped).toEqual({
      code: 0,
      stdout: "Stopped: no further call begins until outdial dial --resume. 50 live calls ended\n",
      stderr: "",
    });
    const { code, stderr } = await dialling.ended;
    expect(stderr).toContain("Stopped by outdial stop: the same command with --resume dials on.");
    expect(code).toBe(1);
    expect([live(), emulator.calls.length]).toEqual([0, 50]);
    expect(count(eventsIn(ledger), "ended")).toBe(50);
  });

  it("ends the calls itself where no process dials, and enters each", async () => {
    const { emulator, env, live } = await emulate(spoken);
    const { ledger, stop } = await abandoned(env, 3);
    expect(live()).toBe(3);
    const { code, stdout } = await invoke(stop("--hang-up", "--json"), env);
    expect(JSON.parse(stdout)).toEqual({ stopped: true, ended: 3, failed: [], unclear: [] });
    expect(code).toBe(0);
    expect([live(), emulator.calls.length]).toEqual([0, 3]);
    expect(count(eventsIn(ledger), "ended")).toBe(3);
  });
});

describe("outdial stop --hang-up", () => {
  it("ends the calls of a process that is killed on the way", async () => {
    let isKilled = false;
    const { promise: never, resolve: release } = Promise.withResolvers<void>();
    const { promise: began, resolve: begun } = Promise.withResolvers<void>();
    onTestFinished(() => release());
    // The process that dials gets no answer.
    const { env, live } = await emulate(own, ({ url }) => {
      if (!isEnd(url) || isKilled) return;
      begun();
      return never;
    });
    const { ledger, dial, stop } = listOf(5);
    const dialling = start("node", dial(), env);
    await expect.poll(live).toBe(5);
    // It knows their ids, too.
    await expect.poll(() => count(eventsIn(ledger), "placed")).toBe(5);
    const stopped = begin(stop("--hang-up"), env);
    await began;
    isKilled = true;
    dialling.kill("SIGKILL");
    const { code, stdout } = await stopped.ended;
    expect(stdout).toContain("5 live calls ended");
    expect(code).toBe(0);
    expect(live()).toBe(0);
    expect(count(eventsIn(ledger), "ended")).toBeGreaterThanOrEqual(5);
  });

  it("a call that is being placed is ended when its id arrives", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { promise: posted, resolve: post } = Promise.withResolvers<void>();
    const { env, emulator, live } = await emulate(own, ({ url }) => {
      if (isEnd(url)) return;
      post();
      return promise;
    });
    const { dial, stop } = listOf(1);
    const dialling = begin(dial(), env);
    await posted;
    const { code, stdout } = await invoke(stop("--hang-up"), env);
    expect(stdout).toMatch(/0 live calls ended\nMay be live, .* not known:\n {2}\+13035551000\n/);
    expect(code).toBe(3);
    resolve();
    await dialling.ended;
    expect([emulator.calls.length, live()]).toEqual([1, 0]);
  });

  it("lists a call that may have been placed, and has no id", async () => {
    const { env } = await emulate(own);
    const { stop } = await abandoned(env, 1, () => {
      throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
    });
    const { code, stdout } = await invoke(stop("--hang-up", "--json"), env);
    expect(JSON.parse(stdout)).toEqual({
      ...{ stopped: true, ended: 0, failed: [] },
      unclear: [{ contact: 1, to_number: "+13035551000" }],
    });
    expect(code).toBe(3);
  });

  it("says what it needs to end the calls of a dead process, and has stopped all the same", async () => {
    const { env, live } = await emulate(own);
    const { ledger, stop } = await abandoned(env, 2);
    const { code, stdout, stderr } = await invoke(stop("--hang-up"), {});
    expect(stdout).toMatch(/^Stopped: .* 0 live calls ended\n2 live calls could not be ended:\n/);
    expect(stderr).toMatch(/2 live calls could not be ended from here: which service\?/);
    expect(code).toBe(3);
    expect(live()).toBe(2);
    expect(eventsIn(ledger)).toContain("paused");
    const wrong = await invoke(stop("--hang-up"), { ...env, OUTDIAL_API_KEY: "ak_of_nobody_else" });
    expect(wrong.stdout).toContain("2 live calls could not be ended:");
    expect(wrong.code).toBe(3);
    expect((await invoke(stop("--hang-up"), env)).code).toBe(0);
    expect(live()).toBe(0);
  });
});

describe("outdial stop", () => {
  it("begins no further call, and lets the live ones go on", async () => {
    const { env, emulator, live } = await emulate(own);
    const { ledger, dial, stop } = listOf(60);
    const dialling = begin(dial(), env);
    await expect.poll(live).toBe(50);
    await expect.poll(() => count(eventsIn(ledger), "placed")).toBe(50);
    const { code, stdout } = await invoke(stop(), {});
    expect(stdout).toContain("dial --resume. 50 live calls: --hang-up ends them\n");
    expect(code).toBe(0);
    // Somebody takes each, and the flow hangs up.
    for (const { id } of emulator.calls) emulator.answer(id);
    await dialling.ended;
    expect([emulator.calls.length, live()]).toEqual([50, 0]);
    expect(count(eventsIn(ledger), "ended")).toBe(0);
  });

  it("is taken back by --resume alone, which the plan says", async () => {
    const { env, emulator } = await emulate(own);
    const { dial, stop } = listOf(2);
    const interrupted = begin(dial("--rate", "0.001"), env);
    await expect.poll(() => emulator.calls.length).toBe(1);
    await invoke(stop("--hang-up"), env);
    await interrupted.ended;
    const refused = await invoke(dial(), env);
    expect(refused.stderr).toMatch(/stopped by outdial stop: pass --resume to dial on/);
    expect([refused.code, emulator.calls.length]).toEqual([1, 1]);
    const dry = await invoke(dial("--dry-run"), env);
    expect(dry.stderr).toContain("warning: the ledger was stopped by outdial stop: pass --resume");
    expect(dry.code).toBe(0);
    const resumed = begin(dial("--resume"), env);
    await expect.poll(() => emulator.calls.length).toBe(2);
    for (const { id } of emulator.calls) emulator.answer(id);
    const { code, stderr } = await resumed.ended;
    expect(stderr).toContain("warning: paused (stopped from outside): this run dials on");
    expect(code, stderr).toBe(0);
  });

  it("holds for a run that has not begun to call yet", async () => {
    const { env, emulator } = await emulate(own);
    const { promise, resolve } = Promise.withResolvers<void>();
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const flow = async () => {
      ask();
      await promise;
      return new Response(null, { status: 204 });
    };
    const server = await serveNode(flow, { hostname: "127.0.0.1", port: 0 });
    onTestFinished(server.stop);
    const { dial, ledger, stop } = listOf(1);
    const args = dial().map((word) =>
      word.endsWith(":9/flow") ? `http://127.0.0.1:${server.port}/flow` : word,
    );
    const dialling = begin(args, env);
    await asked;
    expect((await invoke(stop(), {})).code).toBe(0);
    resolve();
    const { code, stderr } = await dialling.ended;
    expect(stderr).toContain("Stopped by outdial stop");
    expect([code, emulator.calls.length]).toEqual([1, 0]);
    const database = new DatabaseSync(ledger);
    const { state, reason } = openLedger(database).progress();
    database.close();
    expect([state, reason]).toEqual(["paused", "stopped from outside"]);
  });

  it("is what ctrl-C says of live calls", async () => {
    const { env, live } = await emulate(own);
    const { dial, ledger } = listOf(51);
    const dialling = begin(dial(), env);
    await expect.poll(live).toBe(50);
    await expect.poll(() => count(eventsIn(ledger), "placed")).toBe(50);
    dialling.kill("SIGINT");
    await dialling.says(
      /No further call begins; 50 live calls go on\. To end them: outdial stop \S+ --hang-up\n/,
    );
    expect((await invoke(["stop", ledger, "--hang-up"], env)).code).toBe(0);
    expect((await dialling.ended).code).toBe(130);
    expect(live()).toBe(0);
  });
});

it("outdial stop says why it stopped nobody", async () => {
  const empty = join(newFolder(), "empty.outdial");
  const database = new DatabaseSync(empty);
  const campaign = await openCampaign(database, {
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    ...{ secret, window: "always", create: async (_, __) => ({ id: "cs_1" }) },
  });
  const stopped = async () => (await invoke(["stop", empty])).stdout;
  expect(await stopped()).toContain("It stopped nobody: the ledger has no contacts yet");
  await campaign.add([{ to_number: "+13035551000" }]);
  expect(await stopped()).toContain("It stopped nobody: it was stopped already");
  await campaign.resume();
  expect(await stopped()).toContain("It stopped nobody: no call was live");
  await campaign.resume();
  await campaign.pause("the service is away");
  expect(await stopped()).toContain("It stopped nobody: it was paused (the service is away)");
  await campaign.block("+13035551000");
  expect(await stopped()).toContain("It stopped nobody: every contact has ended");
  const json = await invoke(["stop", empty, "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({ stopped: true, idle: "every contact has ended" });
  await campaign.close();
  database.close();
});
