import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import type { CallEvent } from "../../src/callbacks/index.ts";
import { serveNode } from "../../src/cli/serve.ts";
import { readWav } from "../../src/emulator/recording/wav.ts";
import { pause, say } from "../../src/flows/index.ts";
import { Client } from "../../src/index.ts";
import { invoke, start } from "../cli/cli.ts";
import { startOperated } from "./asterisk/operated.ts";
import { from, to, until } from "./stage.ts";
import { shareOf, voice } from "./telephone/ear.ts";
import { Telephone } from "./telephone/telephone.ts";

const password = "s3cret; [odd]";

/** What `init` has written, and a trunk that is a telephone of the tests. */
const initialized = async (...more: readonly string[]) => {
  const trunk = await Telephone.open();
  onTestFinished(() => trunk.close());
  trunk.credentials = { user: "me", password };
  const folder = mkdtempSync(join(tmpdir(), "outdial-operated-"));
  const { code, stderr } = await invoke(
    [
      ...["exchange", "init", "--folder", folder, "--trunk", `${trunk.address}:${trunk.port}`],
      ...["--trunk-user", "me", "--number", from, "--allow", "+1202", ...more],
    ],
    { OUTDIAL_TRUNK_PASSWORD: password },
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return { folder, trunk };
};

const started = async (folder: string) => {
  const asterisk = await startOperated(folder, inject("exchange").installed.root);
  onTestFinished(asterisk.kill);
  return asterisk;
};

/** What `check` says of each thing. */
const check = async (folder: string, ...more: readonly string[]) => {
  const args = ["exchange", "check", "--folder", folder, "--json", ...more];
  const { code, stdout, stderr } = await invoke(args);
  const lines = stdout.split("\n").filter(Boolean);
  const findings: { what: string; state: string; found: string }[] = lines.map((line) =>
    JSON.parse(line),
  );
  const of = (what: string) =>
    findings.filter((each) => each.what === what).map(({ state, found }) => `${state}: ${found}`);
  return { code, stderr, of };
};

test("what init writes is an Asterisk that check finds right, whose trunk registers and rings a telephone", async () => {
  const { folder, trunk } = await initialized();
  await started(folder);
  trunk.behave((call) => {
    call.ring();
    call.answer();
  });
  const { of } = await check(folder, "--call", to);
  expect({
    asterisk: of("Asterisk"),
    modules: of("modules"),
    trunk: of("trunk"),
    registration: of("registration"),
    events: of("events"),
    media: of("media"),
    log: of("channel log"),
    call: of("call"),
  }).toEqual({
    asterisk: [expect.stringMatching(/^ok: version 22\.\d+$/)],
    modules: [expect.stringMatching(/^ok: all \d+ run$/)],
    trunk: ["ok: answers"],
    registration: ["ok: the trunk has taken it"],
    events: ["ok: the socket opens"],
    media: ["ok: the socket opens"],
    log: ["ok: is written"],
    call: ["ok: it was answered, and hung up"],
  });
  expect(trunk.calls.map((call) => [call.from, call.to])).toEqual([[from, to]]);
  expect(await trunk.calls[0]?.ended).toBe("caller");
});

test("check names what is wrong: the trunk, the registration, a number that isn't allowed", async () => {
  const { folder, trunk } = await initialized();
  trunk.credentials = { user: "me", password: "another" };
  await started(folder);
  const { code, of } = await check(folder, "--call", "+33123456789");
  expect(code).toBe(1);
  expect(of("registration")).toEqual(["wrong: the trunk has refused it"]);
  expect(of("call")).toEqual(["wrong: refused: prefix_not_allowed"]);
  expect(trunk.calls).toEqual([]);
});

/** An application on this machine: it is silent for three seconds, and keeps its notifications. */
const applicationHere = async () => {
  const events: CallEvent[] = [];
  const paths: string[] = [];
  const handler = async (request: Request) => {
    const { pathname } = new URL(request.url);
    paths.push(pathname);
    if (pathname === "/status") events.push(await request.json());
    const flow = { action: "say", prompts: [{ pause_ms: 3_000 }] };
    return pathname === "/flow" ? Response.json(flow) : new Response(null, { status: 204 });
  };
  const { port, stop } = await serveNode(handler, { hostname: "127.0.0.1", port: 0 });
  onTestFinished(stop);
  const typesOf = (id: string) =>
    events.filter(({ call_id }) => call_id === id).map(({ type }) => type);
  return { origin: `http://127.0.0.1:${port}`, events, paths, typesOf };
};

/** Serves with the built command, in a process of its own. */
const served = async (folder: string) => {
  const file = join(folder, "outdial-exchange.json");
  const settings = JSON.parse(readFileSync(file, "utf8"));
  const limits = { ...settings.limits, callsPerSecond: 10 };
  const anyPort = { host: "127.0.0.1", port: 0 };
  writeFileSync(file, JSON.stringify({ ...settings, limits, listen: anyPort, pages: anyPort }));
  const running = start("node", ["exchange", "--folder", folder, "--json"]);
  onTestFinished(() => running.kill("SIGKILL"));
  const printed = await running.says(/"started".*\n/);
  const line = printed.split("\n").find((each) => each.includes('"started"'));
  const { base_url, api_key, page } = JSON.parse(line ?? "");
  return { ...running, baseUrl: String(base_url), key: String(api_key), page: String(page) };
};

test("outdial exchange rings a telephone, calls nobody and no address that isn't allowed, and waits for its calls at SIGTERM", async () => {
  const application = await applicationHere();
  const { folder, trunk } = await initialized("--private-origin", application.origin);
  const asterisk = await started(folder);
  const { baseUrl, key, kill, says, ended, printed } = await served(folder);
  const client = new Client(key, { baseUrl });
  const status_callback_url = `${application.origin}/status`;
  const params = { from_number: from, to_number: to, status_callback_url };
  const create = (more: object) =>
    client.calls.create({ ...params, flow_url: `${application.origin}/flow`, ...more });

  // Nobody is called whose prefix isn't allowed.
  for (const to_number of ["+33123456789", "+19005550150"]) {
    await expect(create({ to_number })).rejects.toMatchObject({ placed: "no", code: 403 });
  }
  expect(trunk.calls).toEqual([]);

  // Whoever is called leads the call to nobody else.
  const moved = trunk.next();
  const { id: movedId } = await create({});
  const contact = `<sip:+19005550150@${trunk.address}:${trunk.port}>`;
  (await moved).refuse(302, "Moved Temporarily", [["Contact", contact]]);
  await until(() => application.typesOf(movedId).includes("call.failed"));
  expect(trunk.calls).toHaveLength(1);

  // A flow at Asterisk's own port is not requested.
  const inside = trunk.next();
  const { id: insideId } = await create({ flow_url: `${asterisk.url}/ari/channels` });
  await (await inside).answer();
  await until(() => application.typesOf(insideId).includes("call.completed"));
  const last = application.events.filter(({ call_id }) => call_id === insideId).at(-1);
  expect(last?.data).toMatchObject({ reason: "flow_error" });

  const ringing = trunk.next();
  const { id } = await create({});
  const call = await ringing;
  expect([call.from, call.to]).toEqual([from, to]);
  call.ring();
  await call.answer();
  await until(() => application.paths.includes("/flow"));
  kill("SIGTERM");
  await says(/"stopping","live":1/);
  await expect(create({})).rejects.toMatchObject({ placed: "no", code: 429 });
  const { code } = await ended;
  expect(code).toBe(0);
  expect(await call.ended).toBe("caller");
  expect(application.typesOf(id)).toEqual([
    "call.initiated",
    "call.ringing",
    "call.answered",
    "call.completed",
  ]);
  // Three calls, and none of anybody else's.
  expect(trunk.calls.map((each) => each.to)).toEqual([to, to, to]);
  // The key is the only secret that is shown, and no number is.
  const secrets = readFileSync(join(folder, "outdial-exchange.secrets.json"), "utf8");
  for (const secret of Object.values(JSON.parse(secrets))) {
    if (typeof secret === "string") expect(printed()).not.toContain(secret);
  }
  expect(printed()).not.toMatch(/\+\d{8}/);
});

test("a call is recorded while it lasts, readable after kill -9, on the page after the next start, and erased by its number", async () => {
  const application = await applicationHere();
  const { folder, trunk } = await initialized("--private-origin", application.origin);
  await started(folder);
  const first = await served(folder);
  const client = new Client(first.key, { baseUrl: first.baseUrl });
  const ringing = trunk.next();
  const { id } = await client.calls.create({
    from_number: from,
    to_number: to,
    flow: say(pause(120_000)),
    status_callback_url: `${application.origin}/status`,
  });
  const call = await ringing;
  await call.answer();
  const words = voice(3, 2_000);
  await call.speak(words);
  const file = join(folder, "recordings", `${id}.wav`);
  // Four seconds: what was said first has settled, wherever the machine has stalled.
  await until(() => existsSync(file) && statSync(file).size > 4 * 32_000);
  first.kill("SIGKILL");
  await first.ended;
  const { samples } = readWav(readFileSync(file));
  expect(shareOf(words, samples)).toBeGreaterThan(0.9);
  expect(statSync(file).mode & 0o777).toBe(0o600);

  const second = await served(folder);
  await until(() => application.typesOf(id).includes("call.completed"));
  expect(await call.ended).toBe("caller");
  const { origin } = new URL(second.page);
  const signedIn = await fetch(second.page);
  const cookie = signedIn.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  const state = await (
    await fetch(`${origin}/dashboard/state`, { headers: { Cookie: cookie } })
  ).json();
  expect(state.recordings.latest).toMatchObject([{ id, end: "cut" }]);
  expect(await (await fetch(`${origin}/metrics`)).text()).toContain(
    'outdial_calls_total{state="completed",reason="lost"} 1\n',
  );
  expect(second.printed()).not.toMatch(/\d{8}(?!\d*Z)/);
  second.kill("SIGTERM");
  await second.ended;
  const { code, stdout } = await invoke(["exchange", "erase", to, "--folder", folder]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: "1 call erased\n" });
  expect(existsSync(file)).toBe(false);
});
