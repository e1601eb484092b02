import { NCCOBuilder } from "@vonage/voice";
import VoiceResponse from "twilio/lib/twiml/VoiceResponse.js";
import { describe, expect, test } from "vitest";
import type { Received } from "../../src/callbacks/handler.ts";
import { recording } from "../../src/calls/index.ts";
import { texmlOf } from "../../src/carriers/telnyx/texml.ts";
import { twimlOf } from "../../src/carriers/twilio/twiml.ts";
import { nccoOf } from "../../src/carriers/vonage/ncco.ts";
import type { CalleeAct } from "../../src/emulator/index.ts";
import { hangup } from "../../src/flows/actions.ts";
import { pause } from "../../src/flows/prompts.ts";
import { record } from "../../src/flows/record.ts";
import type { RecordingInput } from "../../src/flows/recorded.ts";
import { say } from "../../src/flows/say.ts";
import { converse, type Program, services, spokenIn } from "./conversations.ts";

const question = "Tell us why, then press hash.";

/** Says something for two seconds after the beep, and presses hash. */
const tells: readonly CalleeAct[] = [
  { type: "until-prompt" },
  { type: "silence", ms: 600 },
  { type: "say", ms: 2_000, text: "It was too late." },
  { type: "press", digits: "#" },
];

const why = (): Program<"thanks"> => ({
  onAnswer: () =>
    record(question, { max_length_ms: 60_000, finish_on_key: "#", as: "why", next: "thanks" }),
  steps: { thanks: () => say("Thank you.") },
});

const context = { visit: 17 };

/** A call that records, and what came of the recording. */
const recorded = async (
  service: (typeof services)[number],
  program: Program<string>,
  callee: readonly CalleeAct[],
) => {
  const given: RecordingInput[] = [];
  const events: Received[] = [];
  const conversation = await converse(
    service,
    { ...program, onRecording: (one) => void given.push(one) },
    callee,
    { context, onEvent: (received) => void events.push(received) },
  );
  const own = events.flatMap(({ event, context }) => {
    const { as, recording_id, recording_url, duration } = event.data as never as RecordingInput;
    return event.type === "recording.completed" && service.name === "own"
      ? [{ call_id: event.call_id ?? "", as, recording_id, recording_url, duration, context }]
      : [];
  });
  return { ...conversation, recordings: [...given, ...own] };
};

describe.each(services)("$name: an answer in words", (service) => {
  test("is recorded after a beep, and the flow goes on at its step", async () => {
    const { call, onError, recordings } = await recorded(service, why(), tells);
    expect(onError).not.toHaveBeenCalled();
    expect(spokenIn(call)).toEqual([question, "Thank you."]);
    expect(recordings).toEqual([
      {
        ...{ call_id: call.id, as: "why", context },
        recording_id: expect.any(String),
        recording_url: expect.stringMatching(/^https:/),
        duration: expect.any(Number),
      },
    ]);
    expect(recordings[0]?.duration).toBeGreaterThanOrEqual(2);
    expect(recordings[0]?.duration).toBeLessThanOrEqual(4);
  });

  test("can be fetched, and has what was said", async () => {
    const { live, recordings } = await recorded(service, why(), tells);
    const response = await recording(recordings[0]?.recording_url ?? "", live);
    const { byteLength } = await response.arrayBuffer();
    expect(byteLength).toBeGreaterThan(2 * 2 * 8_000);
  });

  test("ends at its longest, and without next the call ends", async () => {
    const program: Program<never> = { onAnswer: () => record(question, { max_length_ms: 3_000 }) };
    const { call, onError, recordings } = await recorded(service, program, [
      { type: "until-prompt" },
      { type: "say", ms: 9_000, text: "I have a lot to say." },
    ]);
    expect(onError).not.toHaveBeenCalled();
    expect(recordings.map(({ as, duration }) => ({ as, duration }))).toEqual([
      { as: undefined, duration: 3 },
    ]);
    expect(call.flow_error).toBeUndefined();
  });

  test("is kept where the callee hangs up while it is recorded", async () => {
    const { recordings, call } = await recorded(service, why(), [
      { type: "until-prompt" },
      { type: "silence", ms: 600 },
      { type: "say", ms: 2_000, text: "It was too late." },
      { type: "hangup" },
    ]);
    expect(spokenIn(call)).toEqual([question]);
    expect(recordings).toMatchObject([{ as: "why", call_id: call.id }]);
  });
});

describe.each(services.filter(({ name }) => name !== "own"))(
  "$name: a recording that the application could not keep",
  (service) => {
    test("is answered 503, as the carrier may send it again", async () => {
      const failure = new Error("the database is away");
      const onRecording = () => Promise.reject(failure);
      const { call, onError } = await converse(service, { ...why(), onRecording }, tells, {
        context,
      });
      expect(call.history).toContainEqual(expect.objectContaining({ status: 503 }));
      expect(onError).toHaveBeenCalledWith(failure, expect.anything(), call.id);
    });
  },
);

describe("a document", () => {
  const url = "https://app.test/2?a=1&b=2";
  const recordings = "https://app.test/recordings?x=1&y=2";
  const call = { call_id: "cs_1", from_number: "+12025550199", to_number: "+12025550100" };
  const action = {
    ...record([question, pause(1_000)], {
      ...{ language: "en-GB", max_length_ms: 90_000, finish_on_key: "#", silence_ms: 4_000 },
      flow_url: url,
    }),
  } as const;
  const post = { method: "POST" };

  test("of Twilio's is what its own builder prints", () => {
    const response = new VoiceResponse();
    response.say({ language: "en-GB" }, question);
    response.pause({ length: 1 });
    response.record({
      ...{ maxLength: 90, timeout: 4, finishOnKey: "#", playBeep: true, trim: "do-not-trim" },
      recordingStatusCallback: recordings,
      recordingStatusCallbackMethod: "POST",
      ...{ action: url, ...post },
    });
    response.redirect(post, url);
    expect(twimlOf(action, recordings)).toBe(response.toString());
  });

  test("of Telnyx' has the attributes that it documents, and one channel", () => {
    const response = new VoiceResponse();
    response.say({ voice: "alice", language: "en-GB" } as never, question);
    response.pause({ length: 1 });
    response.record({
      ...{ maxLength: 90, timeout: 4, finishOnKey: "#", playBeep: true, channels: "single" },
      recordingStatusCallback: recordings,
      recordingStatusCallbackMethod: "POST",
      ...{ action: url, ...post },
    } as never);
    response.redirect(post, url);
    expect(texmlOf(action, { ownUrl: recordings })).toBe(response.toString());
  });

  test("of Vonage's is what its own builder takes", () => {
    const builder = new NCCOBuilder();
    const add = (instruction: object) => builder.addAction(instruction as never);
    add({ action: "talk", text: question, language: "en-GB" });
    add({ action: "wait", timeout: 1 });
    const limits = { endOnKey: "#", endOnSilence: 4, timeOut: 90, beepStart: true };
    add({ action: "record", ...limits, eventUrl: [recordings], eventMethod: "POST" });
    const payload = { uuid: "cs_1", from: "12025550199", to: "12025550100" };
    add({ action: "notify", payload, eventUrl: [url], eventMethod: "POST" });
    const ncco = nccoOf(action, call, { url: recordings, decides: false });
    expect(JSON.parse(JSON.stringify(ncco))).toEqual(JSON.parse(JSON.stringify(builder.build())));
  });

  test("without limits ends after a minute, by no key, and by the carrier's own silence", () => {
    const plain = record(question);
    expect(twimlOf(plain)).toContain('<Record maxLength="60" finishOnKey="" playBeep="true"');
    expect(texmlOf(plain)).toContain('<Record maxLength="60" finishOnKey="" playBeep="true"');
    expect(nccoOf(plain, call, undefined)).toContainEqual({
      ...{ action: "record", timeOut: 60, beepStart: true },
    });
  });
});

test.each<[string, () => unknown]>([
  [
    "max_length_ms must be 3000 to 3600000 ms, in steps of 1000",
    () => record("a", { max_length_ms: 2_000 }),
  ],
  [
    "silence_ms must be 3000 to 10000 ms, in steps of 1000",
    () => record("a", { silence_ms: 2_000 }),
  ],
  ['finish_on_key must be "#"', () => record("a", { finish_on_key: "*" as never })],
  ["as must match [a-z]\\w{0,31}", () => record("a", { as: "a b" })],
  ["prompts must be 1 to 10 prompts", () => record([])],
  [
    "flow_url must be left out with next",
    () => record("a", { next: "b", flow_url: "https://a.test/" }),
  ],
  ["transcribe is unknown", () => record("a", { transcribe: true } as never)],
])("%s", (message, make) => expect(make).toThrow(message));

test("onRecording needs the secret", async () => {
  const { flowHandler } = await import("../../src/flows/handler.ts");
  expect(() =>
    flowHandler({
      dangerouslyAllowUnverified: true,
      onAnswer: () => hangup(),
      onRecording: () => {},
    }),
  ).toThrow("secret is missing, which onRecording needs");
});
