import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { openaiRealtime } from "../../src/agents/adapters/openai-realtime.ts";
import type { SessionEnd } from "../../src/agents/agent-session.ts";
import { connectAgent } from "../../src/agents/session.ts";
import { byOccurrence } from "../../src/callbacks/event.ts";
import { callbackHandler, type Received } from "../../src/callbacks/handler.ts";
import { signUrl, verifyUrl } from "../../src/callbacks/signed-url.ts";
import { openCampaign } from "../../src/campaigns/index.ts";
import { createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";
import { type Action, dial, hangup, play, stream } from "../../src/flows/actions.ts";
import type { StepInput } from "../../src/flows/flow-state.ts";
import { flowHandler } from "../../src/flows/handler.ts";
import { streamSession } from "../../src/flows/media/session.ts";
import { Client } from "../../src/index.ts";
import { serveOpenai } from "../agents/protocols.ts";
import type { AgentServer } from "../agents/server.ts";
import type { Carrier } from "./carrier.ts";
import { carriers } from "./carriers.ts";
import { answering, from, listenForSockets, streamOf, verbsOf } from "./stage.ts";

const secret = "a secret that was made at random";
const context = { order: 17 };
const signed = (url: string) => signUrl(url, { secret, context });

type Decide = (answered: StepInput) => Action | Promise<Action>;
type Options = EmulatorOptions & {
  readonly onEvent?: (received: Received) => unknown;
  /** What the handler of notifications verifies with. */
  readonly verifier?: Carrier["service"];
};

/** The emulated carrier, our client of it, and an application of both handlers. */
const start = (
  { service, emulated, keyOf }: Carrier,
  onAnswer: Decide,
  { onEvent = () => {}, verifier = service, ...options }: Options = {},
) => {
  const received: Received[] = [];
  const onError = vi.fn();
  const status = callbackHandler({
    service: verifier,
    secret,
    onEvent: (one) => {
      received.push(one);
      return onEvent(one);
    },
    onError,
  });
  const flow = flowHandler({ service, secret, onAnswer, onError });
  const emulator = createEmulator({
    ...emulated,
    clock: "instant",
    untimedMedia: true,
    host: "127.0.0.1",
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/status") return status(request);
      return pathname === "/flow" ? flow(request) : new Response("sound");
    },
    ...options,
  });
  onTestFinished(() => emulator.close());
  const client = new Client(() => keyOf(emulator), {
    ...{ service, baseUrl: "https://emulator.test", fetch: emulator.fetch },
  });
  const create = async (to_number: string, more: { readonly record?: boolean } = {}) =>
    client.calls.create({
      from_number: from,
      to_number,
      flow_url: await signed("https://app.test/flow"),
      status_callback_url: await signed("https://app.test/status"),
      ...more,
    });
  return { emulator, client, create, received, onError };
};

/** Places a call with our client, and waits for its end. */
const place = async (
  carrier: Carrier,
  to: string,
  onAnswer: Decide,
  { record, ...options }: Options & { readonly record?: boolean } = {},
) => {
  const { emulator, create, received, onError } = start(carrier, onAnswer, options);
  const { id } = await create(to, record === undefined ? {} : { record });
  return { id, call: await emulator.ended(id), received, onError };
};

const reasonOf = ({ data }: Received["event"]) => (data && "reason" in data && data.reason) || [];

/** The first words of what a call performed. */
const stepsOf = (call: Parameters<typeof verbsOf>[0]) =>
  verbsOf(call).map((verb) => verb.split(" ")[0]);

describe.each(carriers)("$name: a call of our client, with our handlers", (carrier) => {
  const { service, stranger, account, events: ends, redeliveries, steps } = carrier;

  test.each(ends)(
    "to %s: its events, each with the context and an id of its own",
    async (to, types, reason) => {
      const { id, received, onError } = await place(carrier, to, hangup);
      expect(onError).not.toHaveBeenCalled();
      const events = received.map(({ event }) => event).sort(byOccurrence);
      expect(events.map(({ type }) => type)).toEqual(types.map((type) => `call.${type}`));
      expect(new Set(events.map((event) => event.id)).size).toBe(types.length);
      for (const one of received) {
        expect(one.context).toEqual(context);
        expect(one.event).toMatchObject({
          // Of a call that nobody answered `call.failed` is the end: this one says nothing new.
          ...{
            known: String(one.event.type) !== "call.ended",
            call_id: id,
            account_id: account,
            data: { from, to },
          },
          occurred_at: expect.stringMatching(/Z$/),
        });
      }
      expect(events.flatMap(reasonOf)).toEqual(reason ? [reason] : []);
      const last = types.includes("completed") ? { duration: expect.any(Number) } : {};
      expect(events.at(-1)?.data).toMatchObject(last);
    },
  );

  test("what failed here is delivered again, with the same id", async () => {
    let failures = 0;
    const { received, onError } = await place(carrier, "+12025550101", hangup, {
      onEvent: ({ event }) => {
        if (reasonOf(event) === "busy" && failures++ < redeliveries)
          throw new Error("the database is away");
      },
    });
    expect(onError).toHaveBeenCalledTimes(redeliveries);
    const busy = received.filter(({ event }) => reasonOf(event) === "busy");
    expect(busy).toHaveLength(redeliveries + 1);
    expect(new Set(busy.map(({ event }) => event.id)).size).toBe(1);
  });

  test("the secret of another account verifies nothing", async () => {
    const { received, onError } = await place(carrier, answering, hangup, { verifier: stranger });
    expect(received).toEqual([]);
    expect(onError).toHaveBeenCalledWith(
      expect.objectContaining({ reason: "wrong_signature" }),
      expect.any(Request),
    );
    const refused = flowHandler({ service: stranger, secret, onAnswer: hangup, onError });
    const { call } = await place(carrier, answering, hangup, { fetch: refused });
    expect(call.flow_error).toContain("answered HTTP 401 (outdial-refused: wrong_signature)");
  });

  test("actions one after the other, each by a flow_url of its own", async () => {
    const names = ["first", "second"];
    const { call, onError } = await place(carrier, answering, async ({ call: asked }) => {
      expect(asked).toMatchObject({ from_number: from, to_number: answering });
      const name = names.shift();
      const flow_url = await signed("https://app.test/flow");
      return name ? play(`https://app.test/${name}.wav`, { flow_url }) : hangup();
    });
    expect(onError).not.toHaveBeenCalled();
    expect([call.reason, call.flow_error]).toEqual(["normal", undefined]);
    const { play: played, next, end } = steps;
    expect(stepsOf(call)).toEqual([played, next, played, next, ...end]);
  });

  test.each([
    [answering, undefined],
    ["+12025550101", "busy"],
    ["+12025550102", "no-answer"],
    ["+12025550103", carrier.rejected],
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
    const { id, call, onError, received } = await place(carrier, answering, decide);
    expect(onError).not.toHaveBeenCalled();
    expect(decide).toHaveBeenCalledTimes(1);
    expect(stepsOf(call)).toEqual([steps.dial, ...(played ? [steps.play] : []), ...steps.end]);
    if (played) expect(JSON.stringify(call.history)).toContain(media(played));
    // The events of the other leg don't come as those of the call.
    expect(received.filter(({ event }) => event.call_id !== id)).toEqual([]);
    expect(received.filter(({ event }) => event.type === "call.completed")).toHaveLength(1);
  });

  test("streamSession: the call's id and the signed context, the callee's audio, and ours in the carrier's frames, until it is hung up", async () => {
    const started: unknown[] = [];
    const lengths = new Set<number>();
    const ws_url = await listenForSockets((socket, url) => {
      const session = streamSession(
        socket,
        {
          onStart: async ({ call_id }, given) => {
            const asked = () => verifyUrl(new URL(url, ws_url).href, { secret });
            started.push({ call_id, given: carrier.signsStart ? given : await asked() });
            // No whole number of frames of 20 ms.
            await session.audio(new Int16Array(8 * 505).fill(9_000));
          },
          onAudio: ({ bytes }) => lengths.add(bytes.length),
        },
        carrier.signsStart ? { service, secret, url } : { service },
      );
    });
    const { emulator, create, onError } = start(carrier, async () => stream(await signed(ws_url)), {
      clock: "real",
      ringDuration: 0,
    });
    const { id } = await create(answering);
    const played = () =>
      (emulator.audio(id)?.played ?? []).reduce((sum, { samples }) => sum + samples, 0);
    await expect.poll(played).toBe(8 * carrier.frame * Math.ceil(505 / carrier.frame));
    await expect.poll(() => lengths.size).toBeGreaterThan(0);
    emulator.hangup(id);
    const call = await emulator.ended(id);
    expect(onError).not.toHaveBeenCalled();
    expect(started).toEqual([{ call_id: id, given: context }]);
    expect(streamOf(call)).toMatchObject({ malformed: [] });
    expect(lengths).toEqual(new Set([320]));
  });
});

test.each(carriers)(
  "$name: a seed makes the same ids on every run, in the order of the calls",
  async (carrier) => {
    const ids = async () => {
      const { create } = start(carrier, hangup, { seed: 7 });
      const made: string[] = [];
      for (let count = 0; count < 3; count++) made.push((await create(answering)).id);
      return made;
    };
    const first = await ids();
    expect(await ids()).toEqual(first);
    expect([...first].sort()).toEqual(first);
  },
);

test.each(carriers.filter(({ records }) => records))(
  "$name: the recording of a call is in its last event",
  async (carrier) => {
    const { received } = await place(carrier, answering, hangup, { record: true });
    const completed = received.find(({ event }) => event.type === "call.completed");
    expect(completed?.event.data).toMatchObject({ recording_url: expect.stringContaining("http") });
  },
);

describe.each(carriers.filter(({ signsStart }) => signsStart))("$name: connectAgent", (carrier) => {
  let server: AgentServer;
  beforeEach(async () => {
    server = await serveOpenai({ answers: [200], late: 3 });
  });
  afterEach(() => server.close());

  /** A call whose audio goes to an agent. */
  const talk = async (sign: (url: string) => Promise<string>) => {
    const started: unknown[] = [];
    const { promise: ended, resolve } = Promise.withResolvers<SessionEnd>();
    const ws_url = await listenForSockets((socket, url) => {
      const agent = openaiRealtime({ apiKey: "sk-key", url: server.url });
      connectAgent(socket, agent, {
        ...{ service: carrier.service, secret, url, onEnd: resolve },
        onStart: ({ call_id }, given) => started.push({ call_id, given }),
      });
    });
    const { emulator, create } = start(carrier, async () => stream(await sign(ws_url)), {
      clock: "real",
      ringDuration: 0,
      // Whose voice would interrupt the agent's only answer before it is played, on a busy machine.
      callee: [{ type: "silence", ms: 600_000 }],
    });
    const { id } = await create(answering);
    return { id, emulator, started, ended };
  };

  test("is played to the callee, gets the context of the ws_url, and ends when it is hung up", async () => {
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

describe.each(carriers)("$name: a list", (carrier) => {
  /** Runs a list to its end, on a clock that jumps. */
  const run = async (numbers: readonly string[], options: EmulatorOptions = {}) => {
    let now = Date.parse("2026-06-03T10:00:00Z");
    const noted: Promise<unknown>[] = [];
    const { emulator, client } = start(carrier, hangup, {
      ...options,
      onEvent: (received) => {
        const note = campaign.note(received);
        noted.push(note);
        return note;
      },
    });
    const campaign = await openCampaign(new DatabaseSync(":memory:"), {
      ...{ service: carrier.service, secret, create: client.calls.create, from_number: from },
      flow_url: "https://app.test/flow",
      status_callback_url: "https://app.test/status",
      ...{ window: "always", rate: 100, concurrency: 100, attempts: 2, retryDelay: 60_000 },
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

  test("calls each contact at most once an attempt, and an unclear call is settled by its notifications", async () => {
    const { progress, posts } = await run([
      ...[answering, "+12025550101", "+12025550102", "+12025550104", "+12025550114"],
    ]);
    expect(progress).toMatchObject({ completed: 2, busy: 1, no_answer: 1, unreachable: 1 });
    expect(Object.fromEntries(posts)).toEqual({
      [answering]: 1,
      "+12025550101": 2,
      "+12025550102": 2,
      "+12025550104": 1,
      // Its connection was lost after the POST: its events say that it was placed.
      "+12025550114": 1,
    });
  });

  test("does so too when its events are lost, doubled and late", async () => {
    const numbers = Array.from({ length: 30 }, (_, at) => `+1202556${String(at).padStart(4, "0")}`);
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
