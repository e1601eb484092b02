import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished, test, vi } from "vitest";
import { WebSocketServer } from "ws";
import { byOccurrence } from "../../src/callbacks/event.ts";
import { callbackHandler, type Received } from "../../src/callbacks/handler.ts";
import { signUrl, verifyUrl } from "../../src/callbacks/signed-url.ts";
import { openCampaign } from "../../src/campaigns/index.ts";
import { createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";
import { type Action, dial, hangup, play, stream } from "../../src/flows/actions.ts";
import { type Answered, flowHandler } from "../../src/flows/handler.ts";
import { streamSession } from "../../src/flows/media/session.ts";
import { Client } from "../../src/index.ts";
import { vonage } from "../../src/vonage/index.ts";
import { actionsOf, applicationId, signatureSecret } from "./stage.ts";

const secret = "a secret that was made at random";
const service = vonage({ applicationId, signatureSecret, callsPerSecond: 1_000 });
const context = { order: 17 };
const answering = "+12025550100";

/** The emulated Vonage, our client of it, and an application of both handlers. */
const start = (
  onAnswer: (answered: Answered) => Action | Promise<Action>,
  {
    onEvent = () => {},
    ...options
  }: EmulatorOptions & { onEvent?: (received: Received) => unknown } = {},
) => {
  const received: Received[] = [];
  const onError = vi.fn();
  const status = callbackHandler({
    service,
    secret,
    onEvent: (one) => {
      received.push(one);
      return onEvent(one);
    },
    onError,
  });
  const flow = flowHandler({ service, secret, onAnswer, onError });
  const emulator = createEmulator({
    service,
    webhookSecret: signatureSecret,
    clock: "instant",
    host: "127.0.0.1",
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/status") return status(request);
      return pathname === "/flow" ? flow(request) : new Response("sound");
    },
    ...options,
  });
  onTestFinished(() => emulator.close());
  const baseUrl = "https://emulator.test";
  const client = new Client(() => emulator.apiKey, { service, baseUrl, fetch: emulator.fetch });
  return { emulator, client, received, onError };
};

const signed = (url: string) => signUrl(url, { secret, context });

/** Places a call with our client, and waits for its end. */
const place = async (
  to_number: string,
  onAnswer: (answered: Answered) => Action | Promise<Action>,
  options: Parameters<typeof start>[1] = {},
) => {
  const { emulator, client, received, onError } = start(onAnswer, options);
  const { id } = await client.calls.create({
    from_number: "+12025550199",
    to_number,
    flow_url: await signed("https://app.test/flow"),
    status_callback_url: await signed("https://app.test/status"),
  });
  const call = await emulator.ended(id);
  return { id, call, received, onError, emulator };
};

const reasonOf = ({ data }: Received["event"]) => (data && "reason" in data && data.reason) || [];

describe("a call of our client, with our handlers", () => {
  test.each([
    [answering, ["initiated", "ringing", "answered", "completed"], "normal"],
    ["+12025550101", ["initiated", "failed", "failed"], "busy"],
    ["+12025550102", ["initiated", "ringing", "failed", "failed"], "no_answer"],
    ["+12025550103", ["initiated", "ringing", "failed"], "rejected"],
    ["+12025550104", ["initiated", "failed", "failed"], "unreachable"],
  ])("to %s: its events, each with the context and an id of its own", async (to, types, reason) => {
    const { id, received, onError } = await place(to, hangup);
    expect(onError).not.toHaveBeenCalled();
    const events = received.map(({ event }) => event).sort(byOccurrence);
    expect(events.map(({ type }) => type)).toEqual(types.map((type) => `call.${type}`));
    expect(new Set(events.map((event) => event.id)).size).toBe(types.length);
    for (const one of received) {
      expect(one.context).toEqual(context);
      expect(one.event).toMatchObject({
        known: true,
        call_id: id,
        account_id: applicationId,
        data: { from: "+12025550199", to },
      });
    }
    const reasons = events.flatMap(reasonOf);
    expect(reasons).toEqual([reason]);
  });

  test("what failed here is delivered once more, with the same id", async () => {
    let failures = 0;
    const { received, onError } = await place("+12025550101", hangup, {
      onEvent: ({ event }) => {
        if (reasonOf(event) === "busy" && failures++ === 0) throw new Error("the database is away");
      },
    });
    expect(onError).toHaveBeenCalledTimes(1);
    const busy = received.filter(({ event }) => reasonOf(event) === "busy");
    expect(busy).toHaveLength(2);
    expect(new Set(busy.map(({ event }) => event.id)).size).toBe(1);
  });

  test("a webhook that is signed with another secret is refused", async () => {
    const webhookSecret = "the secret of another account";
    const { received, call } = await place(answering, hangup, { webhookSecret });
    expect(received).toEqual([]);
    expect(call.flow_error).toContain("HTTP 401");
  });

  test("actions one after the other, each by a flow_url of its own", async () => {
    const steps = ["first", "second"];
    const { call, onError } = await place(answering, async ({ call: asked }) => {
      expect(asked).toMatchObject({ from_number: "+12025550199", to_number: answering });
      const name = steps.shift();
      if (!name) return hangup();
      return play(`https://app.test/${name}.wav`, {
        flow_url: await signed("https://app.test/flow"),
      });
    });
    expect(onError).not.toHaveBeenCalled();
    expect(call.reason).toBe("normal");
    expect(actionsOf(call)).toEqual(["stream 5000", "notify", "stream 5000", "notify"]);
  });

  test.each([
    [answering, undefined],
    ["+12025550101", "busy"],
    ["+12025550102", "no-answer"],
    ["+12025550103", "failed"],
    ["+12025550104", "failed"],
  ])("a dial to %s is followed by its branch", async (to, played) => {
    const media = (name: string) => `https://app.test/${name}.wav`;
    const decide = vi.fn(() =>
      dial(to, {
        on_busy: play(media("busy")),
        on_no_answer: play(media("no-answer")),
        on_failure: play(media("failed")),
      }),
    );
    const { call, onError, received, id } = await place(answering, decide);
    expect(onError).not.toHaveBeenCalled();
    expect(decide).toHaveBeenCalledTimes(1);
    expect(actionsOf(call)).toEqual(played ? ["connect", "stream 5000"] : ["connect"]);
    if (played) expect(JSON.stringify(call.history)).toContain(media(played));
    // The events of the other leg don't come as those of the call.
    expect(received.filter(({ event }) => event.call_id !== id)).toEqual([]);
    expect(received.filter(({ event }) => event.type === "call.completed")).toHaveLength(1);
  });
});

test("streamSession: the call's id and the signed context, the callee's audio, and ours in whole frames", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  onTestFinished(() => {
    for (const socket of server.clients) socket.terminate();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const started: unknown[] = [];
  const heard = new Set<number>();
  server.on("connection", (socket, { url = "" }) => {
    const session = streamSession(
      socket,
      {
        onStart: async ({ call_id }) => {
          const given = await verifyUrl(`ws://127.0.0.1:${port}${url}`, { secret });
          started.push({ call_id, given });
          // No whole number of frames: the last one is padded.
          await session.audio(new Int16Array(8 * 505).fill(9_000));
        },
        onAudio: ({ bytes }) => heard.add(bytes.length),
      },
      { service },
    );
  });
  const ws_url = await signed(`ws://127.0.0.1:${port}/media`);
  const { emulator, client, onError } = start(() => stream(ws_url), {
    clock: "real",
    ringDuration: 0,
  });
  const { id } = await client.calls.create({
    from_number: "+12025550199",
    to_number: answering,
    flow_url: await signed("https://app.test/flow"),
    status_callback_url: await signed("https://app.test/status"),
  });
  const played = () =>
    (emulator.audio(id)?.played ?? []).reduce((sum, { samples }) => sum + samples, 0);
  await expect.poll(played).toBe(26 * 160);
  emulator.hangup(id);
  const call = await emulator.ended(id);
  expect(onError).not.toHaveBeenCalled();
  expect(started).toEqual([{ call_id: id, given: context }]);
  expect(call.history.findLast(({ type }) => type === "stream")).toMatchObject({ malformed: [] });
  expect(heard).toEqual(new Set([320]));
});

describe("a list with this service", () => {
  /** Runs a list to its end, on a clock that jumps. */
  const run = async (numbers: readonly string[], options: EmulatorOptions = {}) => {
    let now = Date.parse("2026-06-03T10:00:00Z");
    const noted: Promise<unknown>[] = [];
    const { emulator, client } = start(hangup, {
      ...options,
      onEvent: (received) => {
        const note = campaign.note(received);
        noted.push(note);
        return note;
      },
    });
    const campaign = await openCampaign(new DatabaseSync(":memory:"), {
      service,
      create: client.calls.create,
      from_number: "+12025550199",
      flow_url: "https://app.test/flow",
      status_callback_url: "https://app.test/status",
      secret,
      window: "always",
      rate: 100,
      concurrency: 100,
      attempts: 2,
      retryDelay: 60_000,
      clock: () => now,
    });
    await campaign.add(numbers.map((to_number) => ({ to_number })));
    for (let rounds = 0; !campaign.progress().done; rounds++) {
      if (rounds > 1_000) throw new Error(`no end: ${JSON.stringify(campaign.progress())}`);
      const wake = await campaign.step();
      await campaign.idle();
      for (const { id } of emulator.calls) await emulator.ended(id);
      await Promise.all(noted);
      if (wake !== undefined) now = Math.max(now, wake);
    }
    const progress = campaign.progress();
    await campaign.close();
    return { progress, posts: emulator.posts };
  };

  it("calls each contact at most once an attempt: completed after busy ends nobody who waits", async () => {
    const { progress, posts } = await run([
      "+12025550100",
      "+12025550101",
      "+12025550102",
      "+12025550104",
      "+12025550114",
    ]);
    expect(progress).toMatchObject({ completed: 2, busy: 1, no_answer: 1, unreachable: 1 });
    expect(Object.fromEntries(posts)).toEqual({
      "+12025550100": 1,
      "+12025550101": 2,
      "+12025550102": 2,
      "+12025550104": 1,
      // Its connection was lost after the POST: its events say that it was placed.
      "+12025550114": 1,
    });
  });

  it("does so too when its events are lost, doubled and late", async () => {
    const numbers = Array.from({ length: 60 }, (_, at) => `+1202556${String(at).padStart(4, "0")}`);
    const { progress, posts } = await run(numbers, {
      seed: 18,
      notifications: { lost: 0.1, doubled: 0.3, late: 0.4, delay: 30_000 },
      onCall: ({ to_number }) =>
        Number(to_number.slice(-1)) % 2 ? { outcome: "busy" } : { outcome: "answer" },
    });
    expect(progress.done).toBe(true);
    for (const [number, count] of posts) {
      expect(count, number).toBeLessThanOrEqual(Number(number.slice(-1)) % 2 ? 2 : 1);
    }
  });
});
