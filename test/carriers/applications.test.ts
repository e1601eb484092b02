// What public applications do with the carriers, in our own words.
import { expect, it } from "vitest";
import type { CalleeAct } from "../../src/emulator/index.ts";
import { carrier as telnyx } from "../telnyx/stage.ts";
import { carrier as twilio } from "../twilio/stage.ts";
import { follow } from "../vonage/stage.ts";
import { followDocument, hangup } from "./markup.ts";
import type { Answer } from "./stage.ts";

const press = (digits: string): CalleeAct[] => [
  { type: "until-prompt" },
  { type: "press", digits },
];

const says = (text: string): CalleeAct[] => [
  { type: "until-prompt" },
  { type: "say", ms: 2_000, text },
];

const documents =
  (...list: readonly string[]): Answer =>
  (_, response, count) =>
    void response
      .setHeader("Content-Type", "text/xml")
      .end(`<Response>${list[count - 1] ?? "<Hangup/>"}</Response>`);

it("a survey at one URL: a number that * ends, a key, and a recorded answer", async () => {
  const ask = (text: string) => `<Say voice="Polly.Amy">${text}</Say>`;
  const { call, at } = await followDocument(twilio, "", {
    callee: [
      ...press("42*"),
      ...press("1"),
      ...says("The one with the machines."),
      { type: "press", digits: "#" },
    ],
    answers: {
      "/voice": documents(
        `${ask("How old are you?")}<Gather timeout="10" finishOnKey="*"/>`,
        `${ask("Have you been there?")}<Gather timeout="10" numDigits="1"/>`,
        `${ask("Which one, and why?")}<Record transcribe="true" transcribeCallback="/text" maxLength="60"/>`,
        ask("Thank you."),
      ),
    },
  });
  expect(at("/voice")).toMatchObject([
    { CallStatus: "in-progress" },
    { Digits: "42", FinishedOnKey: "*" },
    { Digits: "1" },
    {
      RecordingDuration: "2",
      Digits: "#",
      RecordingUrl: expect.stringContaining("/Recordings/RE"),
    },
  ]);
  expect(call.reason).toBe("normal");
});

it("a menu that keeps its place in a cookie: silence and wrong keys lead back to it", async () => {
  const menu =
    '<Gather actionOnEmptyResult="true" numDigits="1"><Say>Press one for sales.</Say></Gather>';
  const places: (string | undefined)[] = [];
  const { at } = await followDocument(twilio, "", {
    callee: [
      { type: "until-prompt" },
      { type: "silence", ms: 3_000 },
      ...press("7"),
      ...press("1"),
      ...says("Call me."),
      { type: "hangup" },
    ],
    answers: {
      "/voice": (request, response, count) => {
        places.push(request.headers.cookie);
        const isSales = count === 4;
        response.setHeader("Set-Cookie", `place=${isSales ? "sales" : "menu"}`);
        response.setHeader("Content-Type", "text/xml");
        response.end(
          `<Response>${isSales ? "<Say>Leave a message.</Say><Record/>" : menu}</Response>`,
        );
      },
    },
  });
  expect(places).toEqual([undefined, "place=menu", "place=menu", "place=menu", undefined]);
  expect(at("/voice").map(({ Digits }) => Digits)).toEqual([undefined, "", "7", "1", "hangup"]);
});

it("a mailbox at Telnyx: the callback has the recording of a callee who hangs up", async () => {
  const { at } = await followDocument(
    telnyx,
    `<Response>
      <Say voice="alice">Please leave a message after the beep.</Say>
      <Record recordingStatusCallback="/recorded" recordingStatusCallbackMethod="POST" playBeep="true" timeout="5" maxLength="300"/>
    </Response>`,
    { callee: [...says("Please call back."), { type: "hangup" }], answers: { "/done": hangup } },
  );
  expect(at("/recorded")).toMatchObject([{ RecordingStatus: "completed", RecordingDuration: "2" }]);
});

it("Vonage: what was said is repeated, and a message ends with #", async () => {
  const speech = { endOnSilence: 1, language: "en-US", uuid: ["a"] };
  const asr = await follow(
    [
      { action: "talk", text: "Please say something" },
      { action: "input", type: ["speech"], eventUrl: ["/asr"], speech },
    ],
    {
      callee: says("sales please"),
      answers: { "/asr": [{ action: "talk", text: "You said it" }] },
    },
  );
  expect(asr.at("/asr")).toMatchObject([{ speech: { results: [{ text: "sales please" }] } }]);
  expect(asr.call.duration).toBe(5);
  const message = await follow(
    [
      { action: "talk", text: "Leave a message, then press #" },
      {
        action: "record",
        endOnKey: "#",
        beepStart: "true",
        endOnSilence: "3",
        eventUrl: ["/recorded"],
      },
      { action: "talk", text: "Thank you" },
    ],
    { callee: [...says("Hello"), { type: "press", digits: "#" }] },
  );
  expect(message.at("/recorded")).toMatchObject([{ recording_url: expect.any(String) }]);
});
