import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, inject, onTestFinished, test } from "vitest";
import type { CallEvent } from "../../src/callbacks/index.ts";
import { Ari } from "../../src/exchange/ari.ts";
import { Client } from "../../src/index.ts";
import { path } from "../examples/execute.ts";
import { randomOf } from "../random.ts";
import { accountSid, authToken, clientFor, startApplication } from "../twilio/stage.ts";
import { freePort, serveProgram } from "./program.ts";
import type { GivenService } from "./service/process.ts";
import { from, pause, until } from "./stage.ts";
import { Telephone, type TelephoneCall } from "./telephone/telephone.ts";

const secret = `whsec_${btoa("a secret of the tests, 32 bytes!")}`;

/** A service in a process of its own, which is killed and started again on the same port and store. */
const openKilledService = async (more: Partial<GivenService> = {}) => {
  const { asterisk } = inject("exchange");
  const telephone = await Telephone.open();
  const events: CallEvent[] = [];
  const origin = await serveProgram(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/status") {
      events.push(await request.json());
      return new Response(null, { status: 204 });
    }
    return Response.json({ action: "say", prompts: [{ pause_ms: 2_000 }] });
  });
  const port = await freePort();
  const app = `service${process.pid}x${port}`;
  const given: GivenService = {
    ari: { ...asterisk, app },
    channelLog: asterisk.channelLog,
    path: join(mkdtempSync(join(tmpdir(), "service-")), "exchange.sqlite"),
    telephone: `${telephone.address}:${telephone.port}`,
    secret,
    port,
    ...more,
  };
  let child: ChildProcess | undefined;
  let key = "";
  /** Starts the process, and waits until it serves. */
  const start = async (): Promise<void> => {
    const { PATH = "", HOME = "" } = process.env;
    const started = spawn(
      path("test/node_modules/node/bin/node"),
      ["test/exchange/service/process.ts"],
      {
        cwd: path("."),
        env: { PATH, HOME, SERVICE: JSON.stringify(given) },
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    child = started;
    const line = await new Promise<string>((resolve, reject) => {
      started.stdout.once("data", (chunk) => resolve(String(chunk)));
      started.once("exit", () => reject(new Error("the service has ended")));
    });
    key ||= JSON.parse(line).key;
  };
  const kill = (): Promise<void> =>
    new Promise((resolve) => {
      if (!child || child.exitCode !== null) return resolve();
      child.once("exit", () => resolve());
      child.kill("SIGKILL");
    });
  onTestFinished(async () => {
    await kill();
    telephone.close();
  });
  await start();
  const client = new Client(() => key, { baseUrl: `http://127.0.0.1:${port}` });
  const urls = { flow_url: `${origin}/flow`, status_callback_url: `${origin}/status` };
  const create = (to_number: string) =>
    client.calls.create({ from_number: from, to_number, ...urls });
  return { telephone, events, create, start, kill, urls, given, key: () => key };
};

test("a call of a service is answered, followed to its end, and its notifications come in order", async () => {
  const { telephone, create, events } = await openKilledService();
  await create("+12025550150");
  const call = await telephone.next();
  call.ring();
  await call.answer();
  expect(await call.ended).toBe("caller");
  await until(() => events.length === 4);
  expect(events.map(({ type }) => type)).toEqual([
    "call.initiated",
    "call.ringing",
    "call.answered",
    "call.completed",
  ]);
});

/** How often the service is killed, with three calls each. */
const kills = Number(process.env.OUTDIAL_KILLS ?? 10);

/** Lets each telephone do what its number says: answer, ring on, be busy, answer late. */
const behaviours: readonly ((call: TelephoneCall) => unknown)[] = [
  (call) => call.answer(),
  (call) => call.ring(),
  (call) => call.refuse(486),
  async (call) => {
    call.ring();
    await pause(500);
    if (!call.isOver) await call.answer();
  },
  // Nothing comes for a while: the request for the call may be cut off before Asterisk has answered it.
  (call) => call.try(),
];

const isFinal = ({ type }: CallEvent): boolean => /completed|failed/.test(type);

test(
  "killed at random moments, the service calls nobody twice for a request, leaves no telephone in silence, and says once how each call ended",
  async () => {
    const random = randomOf(20_261_128);
    const service = await openKilledService();
    const { telephone, events, urls, given } = service;
    telephone.behave((call) => behaviours[Number(call.to.slice(-1)) % behaviours.length]?.(call));
    const ids = new Map<string, Set<string>>();
    /** Sends a request with its key until it is answered, as a client does that doesn't know what became of it. */
    const request = async (to_number: string): Promise<void> => {
      for (;;) {
        const response = await fetch(`http://127.0.0.1:${given.port}/api/v1/calls/initiate`, {
          method: "POST",
          headers: {
            "X-API-Key": service.key(),
            "Content-Type": "application/json",
            "Idempotency-Key": `key-${to_number.slice(1)}`,
          },
          body: JSON.stringify({ from_number: from, to_number, ...urls }),
        }).catch(() => undefined);
        const { data } = response?.status === 202 ? await response.json().catch(() => ({})) : {};
        if (data?.id) {
          const known = ids.get(to_number) ?? new Set();
          ids.set(to_number, known.add(data.id));
          return;
        }
        await pause(50);
      }
    };
    let number = 0;
    for (let kill = 0; kill < kills; kill++) {
      const asked = Array.from({ length: 3 }, async () => {
        const to_number = `+1202555${String(1_000 + number++)}`;
        await pause(random() * 200);
        await request(to_number);
      });
      await pause(random() ** 2 * 1_500);
      await service.kill();
      await service.start();
      await Promise.all(asked);
    }
    await service.kill();
    await service.start();
    // All that a process before has left is over at once; all others are over when their telephones have rung long enough.
    await until(() => telephone.calls.every(({ isOver }) => isOver));
    const rung = telephone.calls.map(({ to }) => to);
    expect(rung.length).toBe(new Set(rung).size);
    expect(ids.size).toBe(3 * kills);
    const answered = [...ids.values()].flatMap((each) => [...each]);
    await until(() => {
      const ended = new Set(events.filter(isFinal).map(({ call_id }) => call_id));
      return answered.every((id) => ended.has(id));
    });
    // Of one notification, more than one delivery has the same id.
    const finals = new Map(events.filter(isFinal).map((event) => [event.id, event.call_id]));
    expect(finals.size).toBe(new Set(finals.values()).size);
    const ari = new Ari({ ...given.ari, app: `${given.ari.app}look` });
    const { body: channels } = await ari.request("GET", "/channels");
    const left = (channels as { readonly id: string; readonly name: string }[]).filter(
      ({ id, name }) => answered.some((each) => id.includes(each)) && !name.startsWith("Local/"),
    );
    expect(left).toEqual([]);
    const reasons = events.filter(isFinal).map(({ data }) => ("reason" in data ? data.reason : ""));
    console.log(
      `${kills} kills, ${rung.length} of ${3 * kills} rang`,
      Object.fromEntries(
        [...new Set(reasons)].map((each) => [each, reasons.filter((one) => one === each).length]),
      ),
    );
  },
  60_000 + kills * 20_000,
);

test("on the same service Twilio's client calls; after a kill its call has ended, with a signed callback", async () => {
  const twilio = { account: accountSid, apiKey: authToken };
  const { telephone, start, kill, given } = await openKilledService({ twilio });
  const app = await startApplication({
    "/voice": '<Response><Pause length="60"/></Response>',
  });
  const client = clientFor(`http://127.0.0.1:${given.port}`);
  const { sid } = await client.calls.create({
    ...{ from, to: "+12025550150", url: `${app.origin}/voice` },
    statusCallback: `${app.origin}/status`,
    statusCallbackEvent: ["initiated", "ringing", "answered", "completed"],
  });
  const call = await telephone.next();
  call.ring();
  await call.answer();
  await until(() => call.packets.length > 0);
  await kill();
  await start();
  expect(await call.ended).toBe("caller");
  const statuses = () => app.at("/status").map(({ CallStatus }) => CallStatus);
  await until(() => statuses().includes("completed"));
  expect(statuses()).toEqual(["initiated", "ringing", "in-progress", "completed"]);
  const sequence = app.at("/status").map(({ SequenceNumber }) => SequenceNumber);
  expect(sequence).toEqual(["0", "1", "2", "3"]);
  expect(await client.calls(sid).fetch()).toMatchObject({ status: "completed" });
});
