import { describe, expect, it } from "vitest";
import { replacements } from "../../src/carriers/xml/server/context.ts";
import { carrier as twilio } from "../twilio/stage.ts";
import { follow } from "../vonage/stage.ts";
import { markupCarriers } from "./carriers.ts";
import { type CallOptions, called, followDocument, hangup } from "./markup.ts";
import { talkOf, verbsOf } from "./stage.ts";

const all = 'statusCallback="/room" statusCallbackEvent="start end join leave"';

describe.each(markupCarriers)("$name: Conference", (carrier) => {
  const join = async (attributes: string, options: CallOptions = {}) => {
    const document = `<Response><Dial action="/done"><Conference ${attributes}>Room 1</Conference></Dial></Response>`;
    const answers = { "/done": hangup };
    const one = await followDocument(carrier, document, { answers, ...options });
    const events = one.at("/room").map((each) => String(each.StatusCallbackEvent));
    return { ...one, events, ms: talkOf(one.call) };
  };

  it("has the callee and somebody else, who joins after a second and ends it after five", async () => {
    const { at, events, ms, call } = await join(all);
    expect(events).toEqual([
      ...["participant-join", "participant-join", "conference-start"],
      ...["participant-leave", "participant-leave", "conference-end"],
    ]);
    const room = at("/room");
    expect(room[0]).toMatchObject({
      ...{ FriendlyName: "Room 1", SequenceNumber: "1", CallSid: call.id, Muted: "false" },
      ...{ StartConferenceOnEnter: "true", EndConferenceOnExit: "false" },
    });
    const other = String(room[1]?.CallSid);
    expect(other).toMatch(carrier.callId);
    expect(new Set(room.map(({ ConferenceSid }) => ConferenceSid)).size).toBe(1);
    expect(room.at(-1)).toMatchObject({
      SequenceNumber: "6",
      CallSidEndingConference: other,
      ReasonConferenceEnded: "participant-with-end-conference-on-exit-left",
    });
    expect(at("/done")).toMatchObject([{ DialCallStatus: "answered" }]);
    expect(ms).toBe(6_000);
  });

  it("reports what its document asks for alone", async () => {
    const one = await join(
      'statusCallback="/room" statusCallbackEvent="start" startConferenceOnEnter="false"',
    );
    expect(one.events).toEqual(["conference-start"]);
    expect((await join('statusCallback="/room"')).events).toEqual([]);
  });

  it("ends with a callee who hangs up", async () => {
    const callee = [{ type: "silence", ms: 3_000 }, { type: "hangup" }] as const;
    const { at, call, ms } = await join(all, { callee });
    expect(at("/room").at(-1)).toMatchObject({
      CallSidEndingConference: call.id,
      ReasonConferenceEnded: "last-participant-left",
    });
    expect([call.reason, ms]).toEqual(["normal", 3_000]);
  });

  it("that nobody else may join, and that nobody leaves, ends with the longest call", async () => {
    const { call, events } = await join(`${all} maxParticipants="1"`, { maxDuration: 3_600_000 });
    expect([call.reason, call.duration]).toEqual(["max_duration", 3_600]);
    expect(events).toEqual(["participant-join", "participant-leave", "conference-end"]);
  });

  it("needs a name", async () => {
    const document = "<Response><Dial><Conference/></Dial></Response>";
    const { call } = await followDocument(carrier, document);
    expect(call.flow_error).toBe("step 1: Dial.Conference has no name");
  });
});

it.each([
  "<Client>alice</Client>",
  "<Client><Identity>alice</Identity><Parameter name='a' value='b'/></Client>",
])("Twilio: %s rings a scripted person", async (client) => {
  const document = `<Response><Dial action="/done">${client}</Dial></Response>`;
  const { call, at } = await followDocument(twilio, document, { answers: { "/done": hangup } });
  const legs = call.history.flatMap((entry) =>
    entry.type === "leg" ? [[entry.to, entry.state]] : [],
  );
  expect(legs.map(([to]) => to)).toEqual(Array(4).fill("client:alice"));
  expect(at("/done")).toMatchObject([{ DialCallStatus: "completed", DialCallDuration: "5" }]);
});

it("Telnyx has no Client", async () => {
  const [, telnyx] = markupCarriers;
  const document = "<Response><Dial><Client>alice</Client></Dial></Response>";
  const { call } = await followDocument(telnyx ?? twilio, document);
  expect(call.flow_error).toBe("step 1: Dial.Client is not emulated");
});

it("what ends a call by name says what would replace it", async () => {
  const errors = Object.keys(replacements).map(async (name) => {
    const [verb = "", noun] = name.split(".");
    if (name === "Play.mediaStorage") return;
    const document = `<Response><${verb}>${noun ? `<${noun}/>` : ""}</${verb}></Response>`;
    const { call } = await called(twilio, { document });
    return call.flow_error === `step 1: ${name} is not emulated: ${replacements[name]}`
      ? undefined
      : `${name}: ${call.flow_error} ${verbsOf(call)}`;
  });
  expect((await Promise.all(errors)).filter(Boolean)).toEqual([]);
  const { call } = await follow([{ action: "transfer", conversation_id: "CON-1" }]);
  expect(call.flow_error).toBe(
    "step 1: [0].action transfer is not emulated: transfer the call by the API",
  );
});

it("Vonage: a conversation has the callee and somebody else, and is recorded if it says so", async () => {
  const { call, at } = await follow([
    { action: "conversation", name: "room", record: true, eventUrl: ["/recorded"] },
    { action: "talk", text: "Bye" },
  ]);
  expect([call.duration, verbsOf(call)]).toEqual([7, ["conversation", "talk 500"]]);
  const [{ start_time, end_time } = {}] = at("/recorded");
  expect(Date.parse(String(end_time)) - Date.parse(String(start_time))).toBe(6_000);
  const { call: nameless } = await follow([{ action: "conversation" }]);
  expect(nameless.flow_error).toBe("step 1: conversation.name must be a text");
});
