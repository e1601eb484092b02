import { describe, expect, it } from "vitest";
import { markupCarriers } from "./carriers.ts";
import {
  type CallFields,
  type CallOptions,
  called as calledWith,
  machine,
  notificationOf,
} from "./markup.ts";

const document = "<Response><Pause length='3'/></Response>";
const everyEvent = ["initiated", "ringing", "answered", "completed"];

describe.each(markupCarriers)("$name", (carrier) => {
  const called = (fields: CallFields = {}, options: CallOptions = {}) => {
    const call = { document, StatusCallback: "/status", StatusCallbackEvent: everyEvent };
    return calledWith(carrier, { ...call, ...fields }, options);
  };

  describe("status callbacks, each of which the carrier's own verifier accepts", () => {
    it("have the events of a call in order, with all that is documented", async () => {
      const { at, call } = await called();
      const { each, last } = carrier.statusFields;
      const { initiated_at, answered_at = 0, ended_at = 0 } = call;
      const times = [initiated_at, initiated_at, answered_at, ended_at];
      expect(at("/status")).toEqual(
        ["initiated", "ringing", "in-progress", "completed"].map((CallStatus, index) => ({
          ...carrier.callFields(call.id),
          ...{ CallbackSource: "call-progress-events", CallStatus, SequenceNumber: String(index) },
          ...each(call, times[index] ?? 0),
          ...(index === 3 && { CallDuration: "3", ...last(call) }),
        })),
      );
    });

    it.each(carrier.ends)("say how a call to %s ended: %j", async (to, fields) => {
      const { at } = await called({}, { to });
      expect(at("/status").at(-1)).toMatchObject(fields);
    });

    it("are those that StatusCallbackEvent names; the last one if it names none", async () => {
      const events = async (StatusCallbackEvent: readonly string[]) =>
        (await called({ StatusCallbackEvent }))
          .at("/status")
          .map((one) => [one.CallStatus, one.SequenceNumber]);
      expect(await events([])).toEqual([["completed", "0"]]);
      expect(await events(["answered", "initiated"])).toEqual([
        ["initiated", "0"],
        ["in-progress", "1"],
      ]);
    });

    it("come by GET with the same fields in the query", async () => {
      const own = { StatusCallback: "/status?mine=1", StatusCallbackMethod: "GET" };
      const { received } = await called(own);
      expect(received).toHaveLength(4);
      const fields = { mine: "1", CallStatus: "completed" };
      expect(received[3]).toMatchObject({ method: "GET", fields });
    });

    it("have the faults of the option notifications", async () => {
      const { at } = await called({}, { notifications: { doubled: 1 }, seed: 1 });
      const numbers = at("/status").map(({ SequenceNumber }) => SequenceNumber);
      expect(numbers.sort()).toEqual(["0", "0", "1", "1", "2", "2", "3", "3"]);
    });

    it("are in the history as they went, and verified by the secret that the emulator shows", async () => {
      const { call, emulator } = await called({ StatusCallbackEvent: ["completed"] });
      const { url, headers, body } = notificationOf(call).request;
      const asked = { method: "POST", path: "/status", url, headers, body };
      const { verifies } = carrier;
      expect(await verifies(asked, emulator.webhookSecret)).toBe(true);
      expect(await verifies({ ...asked, body: `${body}&A=1` }, emulator.webhookSecret)).toBe(false);
      expect(await verifies(asked, carrier.otherSecret)).toBe(false);
    });
  });

  describe("recordings", () => {
    const RecordingStatusCallback = "/recording";

    it("are in the last event and in RecordingStatusCallback, and can be fetched", async () => {
      const { at } = await called({
        ...{ Record: true, RecordingStatusCallback },
        RecordingStatusCallbackEvent: ["in-progress", "completed"],
      });
      const [started, completed] = at("/recording");
      expect(started).toMatchObject({ RecordingStatus: "in-progress" });
      expect(completed).toMatchObject({ RecordingStatus: "completed", RecordingDuration: "3" });
      expect(started?.RecordingSid).toBe(completed?.RecordingSid);
      const { RecordingUrl = "", CallSid } = at("/status").at(-1) ?? {};
      expect([completed?.RecordingUrl, started?.CallSid]).toEqual([RecordingUrl, CallSid]);
      const response = await fetch(RecordingUrl);
      expect((await response.arrayBuffer()).byteLength).toBe(44 + 3 * 16_000);
    });

    it("are none unless Record is true, and absent where nobody answered", async () => {
      const none = await called({ RecordingStatusCallback });
      expect(none.at("/recording")).toEqual([]);
      expect(none.at("/status").at(-1)).not.toHaveProperty("RecordingUrl");
      const wanted = { RecordingStatusCallback, RecordingStatusCallbackEvent: ["absent"] };
      const { at } = await called({ Record: true, ...wanted }, { to: "+12025550101" });
      expect(at("/recording")).toMatchObject([{ RecordingStatus: "absent" }]);
    });
  });

  it("AsyncAmd: the flow runs at once, and who has answered comes to its own callback", async () => {
    const amd = { MachineDetection: "Enable", AsyncAmd: true, AsyncAmdStatusCallback: "/amd" };
    const { at, call } = await called(
      { ...amd, document: undefined, Url: "/voice" },
      { ...machine, answers: { "/voice": document } },
    );
    expect(at("/voice")[0]).not.toHaveProperty("AnsweredBy");
    expect(at("/amd")).toMatchObject([
      { AnsweredBy: carrier.machine, CallSid: call.id, MachineDetectionDuration: "2000" },
    ]);
    expect(call.duration).toBe(3);
  });
});
