import { createServer } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { openaiRealtime } from "../../src/agents/adapters/openai-realtime.ts";
import { connectAgent } from "../../src/agents/connect.ts";
import type { SessionEnd } from "../../src/agents/options.ts";
import { byOccurrence } from "../../src/callbacks/event.ts";
import { callbackHandler, type Received } from "../../src/callbacks/handler.ts";
import { signUrl } from "../../src/callbacks/signed-url.ts";
import { openCampaign } from "../../src/campaigns/index.ts";
import { createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";
import { type Action, dial, hangup, play, stream } from "../../src/flows/actions.ts";
import { type Answered, flowHandler } from "../../src/flows/handler.ts";
import { streamSession } from "../../src/flows/media/session.ts";
import { Client } from "../../src/index.ts";
import { telnyx } from "../../src/telnyx/index.ts";
import { serveOpenai } from "../agents/protocols/openai.ts";
import { type AgentServer, listen } from "../agents/server.ts";
import { answering, apiKey, applicationId, from, verbsOf } from "./stage.ts";

const secret = "a secret that was made at random";
/** With it the emulator signs. */
const publicKey = "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
const service = telnyx({ applicationId, publicKey, callsPerSecond: 1_000 });
const context = { order: 17 };
const signed = (url: string) => signUrl(url, { secret, context });

type Decide = (answered: Answered) => Action | Promise<Action>;

/** The emulated Telnyx, our client of it, and an application of both handlers. */
const start = (
  onAnswer: Decide,
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
    apiKey,
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
  const client = new Client(apiKey, { service, baseUrl, fetch: emulator.fetch });
  const create = async (to_number: string) =>
    client.calls.create({
      from_number: from,
      to_number,
      flow_url: await signed("https://app.test/flow"),
      status_callback_url: await signed("https://app.test/status"),
    });
  return { emulator, client, create, received, onError };
};

/** Places a call with our client, and waits for its end. */
const place = async (to: string, onAnswer: Decide, options: Parameters<typeof start>[1] = {}) => {
  const { emulator, create, received, onError } = start(onAnswer, options);
  const { id } = await create(to);
  return { id, call: await emulator.ended(id), received, onError };
};

describe("a call of our client, with our handlers", () => {
  test.each([
    [answering, ["initiated", "ringing", "answered", "completed"], "normal"],
    ["+12025550101", ["initiated", "failed"], "busy"],
    ["+12025550102", ["initiated", "ringing", "failed"], "no_answer"],
    ["+12025550103", ["initiated", "ringing", "failed"], "rejected"],
    ["+12025550104", ["initiated", "failed"], "unreachable"],
  ])("to %s: its events, each with the context and an id of its own", async (to, types, reason) => {
    const { id, received, onError } = await place(to, hangup);
    expect(onError).not.toHaveBeenCalled();
    const events = received.map(({ event }) => event).sort(byOccurrence);
    expect(events.map(({ type }) => type)).toEqual(types.map((type) => `call.${type}`));
    expect(new Set(events.map((event) => event.id)).size).toBe(types.length);
    for (const one of received) {
      expect(one.context).toEqual(context);
      expect(one.event).toMatchObject({ known: true, call_id: id, data: { from, to } });
    }
    expect(events.at(-1)?.data).toMatchObject({ reason });
  });

  test("what failed here is delivered again, with the same id", async () => {
    let failures = 0;
    const { received } = await place("+12025550101", hangup, {
      onEvent: ({ event }) => {
        if (event.type === "call.failed" && failures++ === 0)
          throw new Error("the database is away");
      },
    });
    const failed = received.filter(({ event }) => event.type === "call.failed");
    expect(failed).toHaveLength(2);
    expect(new Set(failed.map(({ event }) => event.id)).size).toBe(1);
  });

  test("actions one after the other, each by a flow_url of its own", async () => {
    const steps = ["first", "second"];
    const { call, onError } = await place(answering, async () => {
      const name = steps.shift();
      const flow_url = await signed("https://app.test/flow");
      return name ? play(`https://app.test/${name}.wav`, { flow_url }) : hangup();
    });
    expect(onError).not.toHaveBeenCalled();
    expect([call.reason, call.flow_error]).toEqual(["normal", undefined]);
    expect(verbsOf(call).map((verb) => verb.split(" ")[0])).toEqual([
      ...["Play", "Redirect", "Play", "Redirect", "Hangup"],
    ]);
  });

  test.each([
    [answering, undefined],
    ["+12025550101", "busy"],
    ["+12025550102", "no-answer"],
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
    const { call, onError, received } = await place(answering, decide);
    expect(onError).not.toHaveBeenCalled();
    expect(decide).toHaveBeenCalledTimes(1);
    const verbs = verbsOf(call).map((verb) => verb.split(" ")[0]);
    expect(verbs).toEqual(["Dial", ...(played ? ["Play"] : []), "Hangup"]);
    if (played) expect(JSON.stringify(call.history)).toContain(media(played));
    expect(received.filter(({ event }) => event.type === "call.completed")).toHaveLength(1);
  });

  test("another account's key verifies nothing", async () => {
    const other = telnyx({
      applicationId,
      publicKey: "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
    });
    const onEvent = vi.fn();
    const onError = vi.fn();
    const handler = callbackHandler({ service: other, secret, onEvent, onError });
    const { call } = await place(answering, hangup, {
      fetch: (request) =>
        new URL(request.url).pathname === "/status"
          ? handler(request)
          : new Response("", { status: 500 }),
    });
    expect(call.state).toBeDefined();
    expect(onEvent).not.toHaveBeenCalled();
    expect(onError).toHaveBeenCalledWith(
      expect.objectContaining({ reason: "wrong_signature" }),
      expect.any(Request),
    );
  });
});

/** The address of an application that takes media sockets, until the test is over. */
const serve = async (application: (socket: WebSocket, url: string) => void): Promise<string> => {
  const http = createServer();
  const sockets = new WebSocketServer({ server: http });
  sockets.on("connection", (socket, { url = "" }) => application(socket, url));
  const port = await listen(http);
  onTestFinished(async () => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return `ws://127.0.0.1:${port}/media`;
};

test("streamSession: the signed context, the callee's audio, and ours in whole frames, until it is hung up", async () => {
  const started: unknown[] = [];
  const heard = new Set<number>();
  const ws_url = await serve((socket, url) => {
    const session = streamSession(
      socket,
      {
        onStart: async ({ call_id, account_id }, given) => {
          started.push({ call_id, account_id, given });
          // No whole number of frames: the last one is padded.
          await session.audio(new Int16Array(8 * 505).fill(9_000));
        },
        onAudio: ({ bytes }) => heard.add(bytes.length),
      },
      { service, secret, url },
    );
  });
  const { emulator, create, onError } = start(async () => stream(await signed(ws_url)), {
    clock: "real",
    ringDuration: 0,
  });
  const { id } = await create(answering);
  const played = () =>
    (emulator.audio(id)?.played ?? []).reduce((sum, { samples }) => sum + samples, 0);
  await expect.poll(played).toBe(26 * 160);
  await expect.poll(() => heard.size).toBeGreaterThan(0);
  emulator.hangup(id);
  const call = await emulator.ended(id);
  expect(onError).not.toHaveBeenCalled();
  expect(started).toEqual([{ call_id: id, account_id: expect.any(String), given: context }]);
  expect(call.history.findLast(({ type }) => type === "stream")).toMatchObject({ malformed: [] });
  expect(heard).toEqual(new Set([320]));
});

describe("connectAgent", () => {
  let server: AgentServer;
  beforeEach(async () => {
    server = await serveOpenai({ answers: [200], late: 3 });
  });
  afterEach(() => server.close());

  /** A call whose audio goes to an agent. */
  const talk = async (sign: (url: string) => Promise<string>) => {
    const started: unknown[] = [];
    const { promise: ended, resolve } = Promise.withResolvers<SessionEnd>();
    const ws_url = await serve((socket, url) => {
      const agent = openaiRealtime({ apiKey: "sk-key", url: server.url });
      connectAgent(socket, agent, {
        ...{ service, secret, url, onEnd: resolve },
        onStart: ({ call_id }, given) => started.push({ call_id, given }),
      });
    });
    const { emulator, create } = start(async () => stream(await sign(ws_url)), {
      clock: "real",
      ringDuration: 0,
    });
    const { id } = await create(answering);
    return { id, emulator, started, ended };
  };

  test("is heard by the callee, gets the context of the ws_url, and ends when it is hung up", async () => {
    const { id, emulator, started, ended } = await talk(signed);
    await expect.poll(() => emulator.audio(id)?.played.length ?? 0).toBeGreaterThan(0);
    emulator.hangup(id);
    expect(await ended).toMatchObject({ reason: "hung_up" });
    expect(started).toEqual([{ call_id: id, given: context }]);
  });

  test("no agent is called for a stream whose ws_url isn't signed", async () => {
    const { id, emulator, started, ended } = await talk(async (url) => url);
    expect(await ended).toMatchObject({ reason: "unverified" });
    expect([started, server.upgrades]).toEqual([[], []]);
    emulator.hangup(id);
    await emulator.ended(id);
  });
});

test("a list calls each contact at most once an attempt, and an unclear call is settled by its notifications", async () => {
  let now = Date.parse("2026-06-03T10:00:00Z");
  const noted: Promise<unknown>[] = [];
  const { emulator, client } = start(hangup, {
    onEvent: (received) => {
      const note = campaign.note(received);
      noted.push(note);
      return note;
    },
  });
  const campaign = await openCampaign(new DatabaseSync(":memory:"), {
    ...{ service, secret, create: client.calls.create, from_number: from },
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    ...{ window: "always", rate: 100, concurrency: 100, attempts: 2, retryDelay: 60_000 },
    clock: () => now,
  });
  // The connection of the last one is lost after the POST.
  const numbers = [answering, "+12025550101", "+12025550104", "+12025550114"];
  await campaign.add(numbers.map((to_number) => ({ to_number })));
  for (let rounds = 0; !campaign.progress().done; rounds++) {
    if (rounds > 1_000) throw new Error(`no end: ${JSON.stringify(campaign.progress())}`);
    const wake = await campaign.step();
    await campaign.idle();
    for (const { id } of emulator.calls) await emulator.ended(id);
    await Promise.all(noted);
    if (wake !== undefined) now = Math.max(now, wake);
  }
  expect(campaign.progress()).toMatchObject({ completed: 2, busy: 1, unreachable: 1 });
  expect(numbers.map((number) => emulator.posts.get(number))).toEqual([1, 2, 1, 1]);
  await campaign.close();
});
