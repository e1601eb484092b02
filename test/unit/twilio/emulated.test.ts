import { describe, expect, test, vi } from "vitest";
import { byOccurrence } from "../../../src/callbacks/event.ts";
import { callbackHandler, type Received } from "../../../src/callbacks/handler.ts";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { createEmulator, type EmulatorOptions } from "../../../src/emulator/index.ts";
import { type Action, dial, hangup, play } from "../../../src/flows/actions.ts";
import { flowHandler } from "../../../src/flows/handler.ts";
import { serviceWith } from "./service.ts";
import { authToken } from "./sign.ts";

const secret = "a secret that was made at random";
const service = serviceWith(authToken);
const { account } = service;

/** Places a call on the emulated Twilio, whose application both handlers are, and waits for its end. */
const place = async (
  To: string,
  onAnswer: () => Action,
  {
    fields = {},
    onEvent = () => {},
    ...options
  }: EmulatorOptions & {
    readonly fields?: Readonly<Record<string, string>>;
    readonly onEvent?: (received: Received) => unknown;
  } = {},
) => {
  const received: Received[] = [];
  const onError = vi.fn();
  const decide = vi.fn(onAnswer);
  const status = callbackHandler({
    service,
    secret,
    onEvent: (one) => {
      received.push(one);
      return onEvent(one);
    },
    onError,
  });
  const flow = flowHandler({ service, secret, onAnswer: decide, onError });
  const emulator = createEmulator({
    service: { name: service.name, account },
    apiKey: authToken,
    clock: "instant",
    fetch: (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/status") return status(request);
      return pathname === "/flow" ? flow(request) : new Response("sound");
    },
    ...options,
  });
  const context = { order: 17 };
  const signed = (url: string) => signUrl(url, { secret, context });
  const body = new URLSearchParams({
    To,
    From: "+12025550199",
    Url: await signed("https://app.test/flow"),
    StatusCallback: await signed("https://app.test/status#rc=5&rp=ct,rt,5xx"),
    ...fields,
  });
  for (const event of ["initiated", "ringing", "answered", "completed"]) {
    body.append("StatusCallbackEvent", event);
  }
  const created = await emulator.fetch(
    new Request(`https://api.twilio.test/2010-04-01/Accounts/${account}/Calls.json`, {
      method: "POST",
      headers: { Authorization: `Basic ${btoa(`${account}:${authToken}`)}` },
      body,
    }),
  );
  const { sid }: { readonly sid: string } = JSON.parse(await created.text());
  const call = await emulator.ended(sid);
  await emulator.close();
  return { sid, call, received, decide, onError };
};

describe("a call on the emulated Twilio", () => {
  test.each([
    ["+12025550100", ["initiated", "ringing", "answered", "completed"], undefined],
    ["+12025550101", ["initiated", "failed"], "busy"],
    ["+12025550102", ["initiated", "ringing", "failed"], "no_answer"],
    ["+12025550103", ["initiated", "ringing", "failed"], "rejected"],
    ["+12025550104", ["initiated", "failed"], "unreachable"],
  ])(
    "to %s: its events in order, each with the context and an id of its own",
    async (to, types, reason) => {
      const { sid, received, onError } = await place(to, hangup);
      expect(onError).not.toHaveBeenCalled();
      const events = received.map(({ event }) => event).sort(byOccurrence);
      expect(events.map(({ type }) => type)).toEqual(types.map((type) => `call.${type}`));
      expect(new Set(events.map(({ id }) => id))).toHaveProperty("size", events.length);
      for (const { context } of received) expect(context).toEqual({ order: 17 });
      for (const event of events) {
        expect(event).toMatchObject({
          known: true,
          call_id: sid,
          account_id: account,
          data: { from: "+12025550199", to },
        });
        expect(event.occurred_at).toMatch(/Z$/);
      }
      expect(events.at(-1)?.data).toMatchObject(
        reason ? { reason } : { duration: expect.any(Number) },
      );
    },
  );

  test("recorded: the recording is in the last event", async () => {
    const { received } = await place("+12025550100", hangup, { fields: { Record: "true" } });
    const completed = received.find(({ event }) => event.type === "call.completed");
    expect(completed?.event.data).toMatchObject({ recording_url: expect.stringContaining("http") });
  });

  test("what failed here is delivered again, with the same id", async () => {
    let failures = 0;
    const { received, onError } = await place("+12025550101", hangup, {
      onEvent: ({ event }) => {
        if (event.type === "call.failed" && failures++ < 2) throw new Error("the database is away");
      },
    });
    expect(onError).toHaveBeenCalledTimes(2);
    const ends = received.filter(({ event }) => event.type === "call.failed");
    expect(ends).toHaveLength(3);
    expect(new Set(ends.map(({ event }) => event.id))).toHaveProperty("size", 1);
  });
});

describe("a dial on the emulated Twilio", () => {
  const media = (name: string) => `https://app.test/${name}.wav`;

  test.each([
    ["+12025550100", undefined],
    ["+12025550101", "busy"],
    ["+12025550102", "no-answer"],
    ["+12025550104", "failed"],
  ])("to %s is followed by its branch", async (to, played) => {
    const { call, decide, onError } = await place("+12025550100", () =>
      dial(to, {
        on_busy: play(media("busy")),
        on_no_answer: play(media("no-answer")),
        on_failure: play(media("failed")),
      }),
    );
    expect(onError).not.toHaveBeenCalled();
    expect(decide).toHaveBeenCalledTimes(1);
    const verbs = call.history.flatMap((entry) => (entry.type === "verb" ? [entry.verb] : []));
    expect(verbs).toEqual(played ? ["Dial", "Play", "Hangup"] : ["Dial", "Hangup"]);
    if (played) expect(JSON.stringify(call.history)).toContain(media(played));
  });
});
