// Whatever a document wants, its call ends, and takes no more than its share of time and memory.
import { describe, expect, it } from "vitest";
import type { CalleeAct } from "../../src/emulator/index.ts";
import { follow } from "../vonage/stage.ts";
import { markupCarriers } from "./carriers.ts";
import { called, followDocument, hangup } from "./markup.ts";

const hours = 3_600_000;

describe.each(markupCarriers)("$name", (carrier) => {
  it("as many verbs as 64 kB hold are performed, and their call ends", async () => {
    const document = `<Response>${"<Pause/>".repeat(7_000)}</Response>`;
    const { call } = await followDocument(carrier, document, { maxDuration: 24 * hours });
    expect([call.reason, call.duration]).toEqual(["normal", 7_000]);
  });

  it("10,000 verbs in one document end the call: it is above 64 kB", async () => {
    const { call } = await followDocument(
      carrier,
      `<Response>${"<Pause/>".repeat(10_000)}</Response>`,
    );
    expect(call.flow_error).toContain("answered more than 64 kB");
  });

  it("a Record of four hours, of a callee who never stops: its file is not made before it is read", async () => {
    const callee: CalleeAct[] = [
      { type: "until-prompt" },
      { type: "tone", hertz: 300, ms: 9 * hours },
    ];
    const document = '<Response><Record maxLength="99999999" action="/done"/></Response>';
    const before = process.memoryUsage().arrayBuffers;
    const { call, at } = await followDocument(carrier, document, {
      callee,
      maxDuration: 9 * hours,
      answers: { "/done": hangup },
    });
    const [done] = at("/done");
    expect([call.reason, done?.RecordingDuration]).toEqual(["normal", "14400"]);
    const response = await fetch(`${done?.RecordingUrl}?channels=1`, {
      headers: { Range: "bytes=230400000-230400043" },
    });
    expect((await response.arrayBuffer()).byteLength).toBe(44);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 2 ** 20);
  });

  it("a Record that requests itself for ever ends with the longest call", async () => {
    const voice =
      '<Response><Record maxLength="1" timeout="9" playBeep="false" action="/voice"/></Response>';
    const callee: CalleeAct[] = [{ type: "tone", hertz: 300, ms: hours }];
    const { call } = await followDocument(carrier, voice, { callee, maxDuration: 100_000 });
    expect([call.reason, call.duration]).toEqual(["max_duration", 100]);
    expect(call.history.filter(({ type }) => type === "recording").length).toBeLessThanOrEqual(101);
  });

  it("a Gather of speech that never ends is cut at 60 s, and a text that is said for ever with it", async () => {
    const callee: CalleeAct[] = [{ type: "say", ms: 5 * hours, text: "and so on" }];
    const document = '<Response><Gather input="speech" action="/done"/></Response>';
    const { call, at } = await followDocument(carrier, document, { callee });
    expect([at("/done").length, call.duration]).toEqual([1, 60]);
  });

  it("a Gather without input that asks for itself takes its timeout each time", async () => {
    const document =
      '<Response><Gather input="dtmf speech" timeout="1"/><Redirect>/voice</Redirect></Response>';
    const { call } = await followDocument(carrier, document, { maxDuration: 100_000 });
    expect([call.reason, call.duration]).toEqual(["max_duration", 100]);
  });

  it("a flow of more than 50 documents is noted once, and goes on: the carrier ends no loop", async () => {
    const document = "<Response><Pause/><Redirect>/voice</Redirect></Response>";
    const { call } = await followDocument(carrier, document, { maxDuration: 100_000 });
    expect(call.reason).toBe("max_duration");
    const notes = call.history.filter(({ type }) => type === "note");
    expect(notes).toMatchObject([{ text: expect.stringMatching(/more than 50 actions: outdial/) }]);
  });

  it.each(["-1", "1e9", "NaN", "", "٣"])(
    "numbers that are none (%j) are the defaults",
    async (wanted) => {
      const document = `<Response><Record timeout="${wanted}" maxLength="${wanted}" playBeep="false" action="/done"/></Response>`;
      const { call } = await called(carrier, { document }, { maxDuration: 5 * hours });
      expect(call.duration).toBe(carrier.name === "twilio" ? 5 : 3_600);
    },
  );
});

describe("Vonage", () => {
  it("as many actions as 64 kB hold are performed, and their call ends", async () => {
    const ncco = Array(1_500).fill({ action: "wait", timeout: 1 });
    const { call } = await follow(ncco, { more: { length_timer: 86_400 } });
    expect([call.reason, call.duration]).toEqual(["normal", 1_500]);
  });

  it("an input of speech whose response is the same NCCO ends with the longest call", async () => {
    const input = {
      action: "input",
      type: ["speech"],
      speech: { startTimeout: 1 },
      eventUrl: ["/again"],
    };
    const { call } = await follow([input], {
      answers: { "/again": [input] },
      more: { length_timer: 100 },
    });
    expect([call.reason, call.duration]).toEqual(["max_duration", 100]);
  });

  it("a flow of more than 50 NCCOs is noted once, and goes on", async () => {
    const input = { action: "input", type: ["dtmf"], dtmf: { timeOut: 1 }, eventUrl: ["/again"] };
    const answers = { "/again": [input] };
    const { call } = await follow([input], { answers, more: { length_timer: 100 } });
    expect(call.reason).toBe("max_duration");
    const notes = call.history.filter(({ type }) => type === "note");
    expect(notes).toMatchObject([{ text: expect.stringMatching(/more than 50 actions: outdial/) }]);
  });

  it("its two hours hold where neither the request nor the emulator has a limit", async () => {
    const input = { action: "input", type: ["dtmf"], dtmf: { timeOut: 10 }, eventUrl: ["/again"] };
    const { call } = await follow([input], { answers: { "/again": [input] } });
    expect([call.reason, call.duration]).toEqual(["max_duration", 7_200]);
  });
});
