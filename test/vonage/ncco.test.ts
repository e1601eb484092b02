import { tokenGenerate } from "@vonage/jwt";
import { Connect, Input, NCCOBuilder, Notify, Record, Stream, Talk, Wait } from "@vonage/voice";
import { describe, expect, it } from "vitest";
import { wav } from "../carriers/callee.ts";
import { verbsOf } from "../carriers/stage.ts";
import { applicationId } from "../unit/vonage/service.ts";
import { follow, from, to } from "./stage.ts";

const busy = "12025550101";
const unanswered = "12025550102";

const phone = (number: string) => ({ type: "phone" as const, number });

/** A `connect` to a telephone whose events the application answers. */
const connect = (number: string, synchronous: boolean, timeout?: number) =>
  new Connect(
    phone(number),
    from,
    undefined,
    synchronous ? ("synchronous" as never) : undefined,
    timeout as never, // Its type is a string, and its value a number.
    undefined,
    undefined,
    "/leg",
    "POST" as never,
  );

const ncco = (...actions: (Parameters<NCCOBuilder["addAction"]>[0] | Record)[]) =>
  actions
    .reduce((builder, action) => builder.addAction(action as never), new NCCOBuilder())
    .build();

describe("an NCCO of Vonage's own builders is followed action by action", () => {
  it("talk, stream, wait: as long as they take", async () => {
    const { call } = await follow(
      ncco(new Talk("x".repeat(20), false, 2 as never), new Stream("/tone.wav"), new Wait(2.5)),
      { answers: { "/tone.wav": (_, response) => void response.end(wav(4)) } },
    );
    expect(verbsOf(call)).toEqual(["talk 2600", "stream 4000", "wait 2500"]);
    expect(call).toMatchObject({ reason: "normal", duration: 9 });
  });

  it("input: the keys that the callee pressed; the response replaces the NCCO", async () => {
    const { call, at, uuid } = await follow(
      ncco(
        new Talk("For sales, press 1", true),
        new Input({ maxDigits: 1 } as never, undefined, "/menu"),
        new Talk("never"),
      ),
      {
        callee: [
          { type: "until", ms: 400 },
          { type: "press", digits: "1" },
        ],
        answers: { "/menu": ncco(new Talk("Sales")) },
      },
    );
    expect(at("/menu")).toEqual([
      {
        dtmf: { digits: "1", timed_out: false },
        uuid,
        from,
        to,
        conversation_uuid: expect.any(String),
        timestamp: expect.any(String),
      },
    ]);
    const texts = call.history.flatMap((entry) => (entry.type === "verb" ? [entry.text] : []));
    expect(texts).toEqual(["For sales, press 1", undefined, "Sales"]);
    // bargeIn has ended the first one when the key was pressed.
    const [, second] = call.history.filter(({ type }) => type === "verb");
    expect(Date.parse(second?.at ?? "") - (call.answered_at ?? 0)).toBe(400);
  });

  it("input: until #, and after timeOut with what there is", async () => {
    const keys = (digits: string) =>
      [
        { type: "until", ms: 100 },
        { type: "press", digits },
      ] as const;
    const hash = await follow(
      ncco(new Input({ submitOnHash: true, maxDigits: 9 } as never, undefined, "/menu")),
      {
        callee: keys("42#"),
      },
    );
    expect(hash.at("/menu")[0]?.dtmf).toEqual({ digits: "42", timed_out: false });
    const late = await follow(ncco(new Input({ timeOut: 5 } as never, undefined, "/menu")), {
      callee: keys("42"),
    });
    expect(late.at("/menu")[0]?.dtmf).toEqual({ digits: "42", timed_out: true });
    expect(late.call.duration).toBe(5);
  });

  it("notify: the payload, and the response replaces the NCCO or leaves it", async () => {
    const flow = ncco(new Notify({ step: "1" }, "/step"), new Talk("next"));
    const left = await follow(flow);
    expect(left.at("/step")).toMatchObject([{ payload: { step: "1" } }]);
    expect(verbsOf(left.call)).toEqual(["notify", "talk 500"]);
    const replaced = await follow(flow, { answers: { "/step": ncco(new Wait(1)) } });
    expect(verbsOf(replaced.call)).toEqual(["notify", "wait 1000"]);
  });

  it("a notify that leads to itself ends", async () => {
    const flow = ncco(new Notify({}, "/answer"));
    const { call, at } = await follow(flow);
    expect(call.flow_error).toContain("that take no time");
    expect(at("/answer")).toHaveLength(51);
  });

  it("connect to a telephone: the events of its leg, and then the next action", async () => {
    const { call, at, uuid } = await follow(
      ncco(connect("12025550105", false), new Talk("Goodbye")),
    );
    expect(verbsOf(call)).toEqual(["connect", "talk 500"]);
    const events = at("/leg");
    expect(events.map(({ status }) => status)).toEqual([
      "started",
      "ringing",
      "answered",
      "completed",
    ]);
    expect(new Set(events.map((event) => event.uuid)).size).toBe(1);
    expect(events[0]).toMatchObject({ to: "12025550105", from });
    expect(events[0]?.uuid).not.toBe(uuid);
    expect(events.at(-1)).toMatchObject({ start_time: expect.any(String) });
  });

  it.each([
    [busy, "busy"],
    [unanswered, "timeout"],
    ["12025550103", "rejected"],
    ["12025550104", "failed"],
  ])(
    "connect to %s: the response to %s replaces the NCCO if the events are synchronous",
    async (to, status) => {
      const answers = { "/leg": ncco(new Talk("Nobody is there")) };
      const texts = ({ call }: Awaited<ReturnType<typeof follow>>) =>
        call.history.flatMap((entry) => (entry.type === "verb" && entry.text ? [entry.text] : []));
      const replaced = await follow(ncco(connect(to, true), new Talk("next")), { answers });
      expect(texts(replaced)).toEqual(["Nobody is there"]);
      const statuses = replaced.at("/leg").map((event) => event.status);
      const last = status === "rejected" ? [status] : [status, "completed"];
      expect(statuses.slice(-last.length)).toEqual(last);
      const left = await follow(ncco(connect(to, false), new Talk("next")), { answers });
      expect(texts(left)).toEqual(["next"]);
      const undecided = await follow(ncco(connect(to, true), new Talk("next")));
      expect(texts(undecided)).toEqual(["next"]);
    },
  );

  it("connect rings for its timeout: 60 s without one", async () => {
    const ringing = async (timeout?: number) => {
      const { call } = await follow(ncco(connect(unanswered, false, timeout)));
      return call.duration;
    };
    expect([await ringing(7), await ringing()]).toEqual([7, 60]);
  });

  it("connect to a SIP address", async () => {
    const sip = { type: "sip" as const, uri: "sip:agent@pbx.example" };
    const { at } = await follow(
      ncco(
        new Connect(
          sip as never,
          from,
          undefined,
          undefined,
          undefined,
          undefined,
          undefined,
          "/leg",
        ),
      ),
    );
    expect(at("/leg")[0]).toMatchObject({ status: "started", to: "sip:agent@pbx.example" });
  });

  it("record: its event has no uuid, and the recording is what was recorded", async () => {
    const record = new Record(
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
      "/recorded",
    );
    const { call, at, uuid, emulator } = await follow(
      ncco(new Talk("x".repeat(20)), record, new Talk("x".repeat(40))),
    );
    const [event, ...none] = at("/recorded");
    expect(none).toEqual([]);
    expect(event).toMatchObject({
      recording_uuid: expect.any(String),
      recording_url: expect.stringContaining("/v1/files/"),
      start_time: new Date((call.answered_at ?? 0) + 1_300).toISOString(),
      end_time: new Date(call.ended_at ?? 0).toISOString(),
    });
    expect(event).not.toHaveProperty("uuid");
    expect(uuid).not.toBe(event?.recording_uuid);
    const { size, recording_url } = event ?? {};
    const headers = { Authorization: `Bearer ${tokenGenerate(applicationId, emulator.apiKey)}` };
    const file = await fetch(String(recording_url), { headers });
    expect((await fetch(String(recording_url))).status).toBe(401);
    const bytes = new Int16Array((await file.arrayBuffer()).slice(44));
    expect(bytes.length * 2 + 44).toBe(size);
    // Nothing of what was said before; then the tone that stands for the text.
    expect(bytes.subarray(0, 10_400).every((sample) => sample === 0)).toBe(true);
    expect(bytes.subarray(10_400).some((sample) => sample > 1_000)).toBe(true);
  });

  it.each([
    [
      "endOnKey",
      { endOnKey: "#" },
      [
        { type: "until", ms: 2_000 },
        { type: "press", digits: "#" },
      ],
      2,
    ],
    ["timeOut", { timeOut: 6 }, [{ type: "silence", ms: 1 }], 6],
    ["endOnSilence", { endOnSilence: 3 }, [{ type: "tone", hertz: 300, ms: 2_000 }], 5],
  ] as const)("record with %s ends before the call", async (_, fields, callee, seconds) => {
    const { call, at } = await follow(
      [
        { action: "record", ...fields },
        { action: "wait", timeout: 10 },
      ],
      { callee },
    );
    const event = at("/events").find(({ recording_uuid }) => recording_uuid);
    const length = Date.parse(String(event?.end_time)) - Date.parse(String(event?.start_time));
    expect(length).toBe(seconds * 1_000);
    expect(call.duration).toBe(10 + seconds);
  });
});

const keys = (dtmf: object) => ({ action: "input", type: ["dtmf"], dtmf, eventUrl: ["/menu"] });

it.each<[string, object, string]>([
  ["talk without text", { action: "talk" }, "talk.text must be a string"],
  ["stream without a URL", { action: "stream" }, "stream.streamUrl must be a list of one URL"],
  [
    "connect to an app",
    { action: "connect", endpoint: [{ type: "app", user: "a" }] },
    "connect.endpoint.type app is not emulated",
  ],
  [
    "connect to +…",
    { action: "connect", endpoint: [phone(`+${busy}`)] },
    "connect.endpoint.number must be",
  ],
  ["notify without eventUrl", { action: "notify", payload: {} }, "notify.eventUrl is missing"],
  ["input of 21 keys", keys({ maxDigits: 21 }), "input.dtmf.maxDigits must be from 1 to 20"],
  ["input of 11 s", keys({ timeOut: 11 }), "input.dtmf.timeOut must be from 0 to 10"],
  [
    "input of a minute's silence",
    { action: "input", type: ["speech"], speech: { startTimeout: 61 }, eventUrl: ["/menu"] },
    "input.speech.startTimeout must be from 1 to 60",
  ],
  [
    "record until 2 s of silence",
    { action: "record", endOnSilence: 2 },
    "record.endOnSilence must be from 3 to 10",
  ],
  ["record of 2 s", { action: "record", timeOut: 2 }, "record.timeOut must be from 3 to 7200"],
  [
    "connect that rings for ever",
    { action: "connect", timeout: 7_201, endpoint: [phone(busy)] },
    "connect.timeout must be from 1 to 7200",
  ],
  ["wait of a day", { action: "wait", timeout: 86_400 }, "wait.timeout must be from 0.1 to 7200"],
  [
    "ftp",
    { action: "notify", eventUrl: ["ftp://app.example/"] },
    "notify.eventUrl must be http or https",
  ],
])("%s ends the call with an error that names it", async (_, action, message) => {
  const { call } = await follow([action]);
  expect(call).toMatchObject({ reason: "flow_error" });
  expect(call.flow_error).toContain(message);
});

it("fields without effect are listed", async () => {
  const { call } = await follow(ncco(new Talk("Hello", false, 1, "0.5", "de-DE", "2", true)));
  expect(call.history.find(({ type }) => type === "flow")).toMatchObject({
    unknown_fields: ["talk.level", "talk.language", "talk.style", "talk.premium"],
    request: { method: "POST" },
    document: expect.stringContaining("Hello"),
  });
});
