import { describe, expect, it } from "vitest";
import { markupCarriers } from "./carriers.ts";
import { followDocument, hangup } from "./markup.ts";
import { answering } from "./stage.ts";

describe.each(markupCarriers)("$name: Dial with record", (carrier) => {
  const dial = async (record: string, to: string = answering) => {
    const attributes = `record="${record}" recordingStatusCallback="/callback" action="/dialled"`;
    const document = `<Response><Dial ${attributes}>${to}</Dial></Response>`;
    const answers = { "/dialled": hangup };
    const one = await followDocument(carrier, document, { answers });
    return { ...one, dialled: one.at("/dialled")[0], events: one.at("/callback") };
  };

  it("has the conversation alone: its action and its callback get the URL", async () => {
    const { dialled, events } = await dial("record-from-answer");
    const { RecordingUrl = "" } = dialled ?? {};
    expect(events).toMatchObject([
      {
        RecordingStatus: "completed",
        RecordingDuration: "5",
        RecordingUrl,
        RecordingSource: "DialVerb",
      },
    ]);
    const response = await fetch(`${RecordingUrl}?channels=1`);
    expect(Number(response.headers.get("Content-Length"))).toBe(44 + 5 * 16_000);
  });

  it("records from the ringing, in two channels, if it says so", async () => {
    const { events, call } = await dial("record-from-ringing-dual");
    const ringing = call.history
      .filter((entry) => entry.type === "leg")
      .map(({ at }) => Date.parse(at));
    const [, rings = 0, , ends = 0] = ringing;
    const seconds = String(Math.round((ends - rings) / 1_000));
    expect(events).toMatchObject([{ RecordingDuration: seconds, RecordingChannels: "2" }]);
    expect(Number(seconds)).toBeGreaterThan(5);
  });

  it.each([
    ["do-not-record", answering],
    ["record-from-answer", "+12025550101"],
  ])("%s of %s makes no recording", async (record, to) => {
    const { dialled, events } = await dial(record, to);
    expect([dialled?.RecordingUrl, events]).toEqual([undefined, []]);
  });
});
