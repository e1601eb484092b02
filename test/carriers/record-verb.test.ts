import { describe, expect, it } from "vitest";
import type { CalleeAct } from "../../src/emulator/index.ts";
import { readWav } from "../../src/emulator/recording/wav.ts";
import { presses } from "./callee.ts";
import { markupCarriers } from "./carriers.ts";
import { followDocument, hangup } from "./markup.ts";
import { answering, startEmulator, talkOf, verbsOf } from "./stage.ts";

/** A message: half a second of silence after the beep, two seconds of speech. */
const message: readonly CalleeAct[] = [
  { type: "until-prompt" },
  { type: "silence", ms: 500 },
  { type: "say", ms: 2_000, text: "Please call me back." },
];

/** Where there is sound in a WAV, in tenths of a second. */
const soundOf = async (url: string): Promise<readonly (0 | 1)[]> => {
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer());
  const { samples, sampleRate } = readWav(bytes);
  const size = sampleRate / 10;
  return Array.from({ length: Math.ceil(samples.length / size) }, (_, at) =>
    samples.subarray(at * size, (at + 1) * size).some((sample) => Math.abs(sample) > 500) ? 1 : 0,
  );
};

const ones = (count: number) => Array(count).fill(1);
const zeros = (count: number) => Array(count).fill(0);

describe.each(markupCarriers)("$name: Record", (carrier) => {
  const isTwilio = carrier.name === "twilio";
  const record = async (
    attributes: string,
    callee: readonly CalleeAct[] = message,
    before = "",
  ) => {
    const document = `<Response>${before}<Record ${attributes} action="/recorded"/><Say>None</Say></Response>`;
    const answers = { "/recorded": hangup, "/callback": 204 };
    const one = await followDocument(carrier, document, { callee: [...callee], answers });
    return { ...one, recorded: one.at("/recorded"), ms: talkOf(one.call) };
  };

  it("has what the callee says after the beep, until a key, which its action gets", async () => {
    const acts: CalleeAct[] = [...message, { type: "press", digits: "5" }];
    const { recorded, ms, call } = await record('trim="do-not-trim"', acts, "<Say>Speak.</Say>");
    expect(recorded).toMatchObject([
      { RecordingDuration: "3", Digits: "5", CallStatus: "in-progress" },
    ]);
    expect(verbsOf(call)).toEqual(["Say 500", "Record", "Hangup"]);
    // A half of a second each: the sentence, the beep and the silence before the message.
    expect(ms).toBe(3_500);
    const { RecordingUrl = "", RecordingSid } = recorded[0] ?? {};
    expect(RecordingUrl).toContain(RecordingSid);
    expect(await soundOf(`${RecordingUrl}?channels=1`)).toEqual([...zeros(5), ...ones(20)]);
  });

  it("ends after a silence of timeout; trim removes the silence at both ends", async () => {
    const { recorded, ms } = await record('timeout="3" trim="trim-silence"');
    expect(recorded).toMatchObject([{ RecordingDuration: "2" }]);
    expect(recorded[0]).not.toHaveProperty("Digits");
    expect(ms).toBe(500 + 500 + 2_000 + 3_000);
    expect(await soundOf(`${recorded[0]?.RecordingUrl}?channels=1`)).toEqual(ones(20));
  });

  it("waits for speech that pauses less than timeout", async () => {
    const acts: CalleeAct[] = [
      ...message,
      { type: "silence", ms: 2_900 },
      { type: "say", ms: 1_000, text: "Thank you." },
    ];
    const { ms } = await record('timeout="3"', acts);
    expect(ms).toBe(500 + 500 + 2_000 + 2_900 + 1_000 + 3_000);
  });

  it("ends at maxLength, without a beep if playBeep says so", async () => {
    const attributes = 'maxLength="2" playBeep="false" trim="do-not-trim"';
    const { recorded, ms } = await record(attributes, message, "<Say>Speak.</Say>");
    expect([recorded, ms]).toMatchObject([[{ RecordingDuration: "2" }], 2_500]);
  });

  it("ends by the keys of finishOnKey alone", async () => {
    const acts: CalleeAct[] = [...message, { type: "press", digits: "12#" }];
    const { recorded } = await record('finishOnKey="#" trim="do-not-trim"', acts);
    expect(recorded).toMatchObject([{ Digits: "#", RecordingDuration: "3" }]);
  });

  it("of a callee who hangs up is told to its action, with Digits hangup", async () => {
    const { recorded, call } = await record("", [...message, { type: "hangup" }]);
    expect(recorded).toMatchObject([
      { CallStatus: "completed", Digits: "hangup", RecordingDuration: isTwilio ? "2" : "3" },
    ]);
    expect([call.reason, verbsOf(call)]).toEqual(["normal", ["Record"]]);
  });

  it("reports that it runs and that it is there", async () => {
    const attributes =
      'recordingStatusCallback="/callback" recordingStatusCallbackEvent="in-progress completed"';
    const { at, recorded } = await record(attributes, [...message, { type: "hangup" }]);
    const { RecordingSid, RecordingUrl, RecordingDuration } = recorded[0] ?? {};
    const all = { RecordingSid, RecordingSource: "RecordVerb" };
    expect(at("/callback")).toMatchObject([
      { ...all, RecordingStatus: "in-progress" },
      { ...all, RecordingStatus: "completed", RecordingUrl, RecordingDuration },
    ]);
  });

  it("names what it leaves out: transcription", async () => {
    const names = isTwilio
      ? ["transcribe", "transcribeCallback"]
      : ["transcription", "transcriptionCallback", "transcriptionEngine"];
    const { call } = await record(names.map((name) => `${name}="x"`).join(" "));
    const flow = call.history.find(({ type }) => type === "flow");
    expect(flow).toMatchObject({ unknown_fields: names.map((name) => `Record.${name}`) });
  });

  it("is in the history, and its file is there while the call continues", async () => {
    const lengths: number[] = [];
    const application = await carrier.startApplication({
      "/voice": '<Response><Record action="/recorded"/></Response>',
      "/recorded": async (_, response) => {
        const { RecordingUrl } = application.at("/recorded")[0] ?? {};
        lengths.push((await soundOf(`${RecordingUrl}?channels=1`)).length);
        response.setHeader("Content-Type", "text/xml").end(hangup);
      },
    });
    const callee: CalleeAct[] = [...message, { type: "press", digits: "1" }];
    const { emulator, baseUrl } = await startEmulator({ ...carrier.emulated, callee });
    const id = await carrier.place(baseUrl, { Url: `${application.origin}/voice`, To: answering });
    const call = await emulator.ended(id);
    expect(lengths).toEqual([isTwilio ? 20 : 25]);
    expect(call.history).toContainEqual(
      expect.objectContaining({ type: "recording", seconds: isTwilio ? 2 : 2.5 }),
    );
  });
});

it("Twilio: silence ends a Record after 5 s, and is no recording: the next verb follows", async () => {
  const [twilio] = markupCarriers;
  if (!twilio) throw new Error("no carrier");
  const document =
    '<Response><Record action="/recorded" recordingStatusCallback="/callback" recordingStatusCallbackEvent="absent completed"/><Say>None</Say></Response>';
  const { call, at } = await followDocument(twilio, document);
  expect(verbsOf(call)).toEqual(["Record", "Say 500"]);
  expect([at("/recorded"), talkOf(call)]).toEqual([[], 6_000]);
  expect(at("/callback")).toMatchObject([{ RecordingStatus: "absent" }]);
});

it("Twilio: without an action the document's own URL is requested", async () => {
  const [twilio] = markupCarriers;
  if (!twilio) throw new Error("no carrier");
  const { at } = await followDocument(twilio, "", {
    callee: [...message, ...presses([4_000, "#"])],
    answers: {
      "/voice": (_, response, count) =>
        void response
          .setHeader("Content-Type", "text/xml")
          .end(count > 1 ? hangup : "<Response><Record/></Response>"),
    },
  });
  expect(at("/voice")).toMatchObject([{}, { Digits: "#" }]);
});

it("the silence before a callee speaks ends a Record at Twilio, and not at Telnyx", async () => {
  const callee: CalleeAct[] = [
    { type: "until", ms: 6_500 },
    { type: "say", ms: 1_000, text: "Hello?" },
  ];
  const document = '<Response><Record timeout="2" action="/recorded"/></Response>';
  const durations = markupCarriers.map(async (carrier) => {
    const answers = { "/recorded": hangup };
    const { call } = await followDocument(carrier, document, { callee, answers });
    return talkOf(call);
  });
  expect(await Promise.all(durations)).toEqual([2_500, 9_500]);
});

it("Telnyx: silence ends no Record by default, and its file has two channels", async () => {
  const [, telnyx] = markupCarriers;
  if (!telnyx) throw new Error("no carrier");
  const document = '<Response><Record action="/recorded" maxLength="20"/></Response>';
  const { at, call } = await followDocument(telnyx, document, {
    callee: [...message],
    answers: { "/recorded": hangup },
  });
  expect([at("/recorded"), talkOf(call)]).toMatchObject([[{ RecordingDuration: "20" }], 20_500]);
  const response = await fetch(String(at("/recorded")[0]?.RecordingUrl));
  expect(Number(response.headers.get("Content-Length"))).toBe(44 + 20 * 32_000);
});
