import { describe, expect, it } from "vitest";
import type { CalleeAct } from "../../src/emulator/index.ts";
import { answering, from } from "../carriers/stage.ts";
import { accountSid, startApplication, startTwilio } from "./stage.ts";

const callee: CalleeAct[] = [
  { type: "until-prompt" },
  { type: "say", ms: 2_000, text: "It is me." },
  { type: "press", digits: "1" },
];

const voicemail = '<Response><Say>Speak.</Say><Record action="/done" playBeep="false"/></Response>';

/** A call whose callee leaves a message, and which is recorded as a whole as well. */
const recorded = async (voice: string = voicemail, options: object = {}) => {
  const application = await startApplication({ "/voice": voice, "/done": "<Response/>" });
  const { emulator, client, baseUrl } = await startTwilio({ callee, ...options });
  const url = `${application.origin}/voice`;
  const { sid } = await client.calls.create({ from, to: answering, url, record: true });
  const call = await emulator.ended(sid);
  return { ...application, emulator, client, baseUrl, sid, call };
};

describe("Twilio's own client", () => {
  it("lists the recordings of a call and of the account, and fetches one", async () => {
    const { client, sid, at, baseUrl } = await recorded();
    const ofCall = await client.calls(sid).recordings.list();
    expect(ofCall.map(({ source, duration, channels }) => [source, duration, channels])).toEqual([
      ["RecordVerb", "2", 1],
      ["OutboundAPI", "3", 1],
    ]);
    const [message] = ofCall;
    if (!message) throw new Error("no recording");
    expect(message.sid).toBe(at("/done")[0]?.RecordingSid);
    const all = await client.recordings.list({ callSid: sid });
    expect(all.map((one) => one.sid)).toEqual(ofCall.map((one) => one.sid));
    const one = await client.recordings(message.sid).fetch();
    expect(one).toMatchObject({ sid: message.sid, callSid: sid, status: "completed", accountSid });
    const wav = await fetch(
      `${baseUrl}/2010-04-01/Accounts/${accountSid}/Recordings/${one.sid}.wav`,
    );
    expect(Number(wav.headers.get("Content-Length"))).toBe(44 + 2 * 16_000);
    expect(wav.headers.get("Content-Type")).toBe("audio/wav");
  });

  it("deletes one: then it is neither listed nor there", async () => {
    const { client, sid, call } = await recorded();
    const [message] = await client.calls(sid).recordings.list();
    if (!message) throw new Error("no recording");
    expect(await client.recordings(message.sid).remove()).toBe(true);
    expect(await client.calls(sid).recordings.list()).toHaveLength(1);
    await expect(client.recordings(message.sid).fetch()).rejects.toMatchObject({ code: 20_404 });
    const entries = call.history.flatMap((entry) =>
      entry.type === "recording" ? [entry.url] : [],
    );
    const statuses = await Promise.all(entries.map(async (url) => (await fetch(url)).status));
    expect(statuses.sort()).toEqual([200, 404]);
  });

  it("filters by the day, and gets pages", async () => {
    const { client, sid } = await recorded();
    const today = new Date();
    const day = 86_400_000;
    const before = { dateCreatedBefore: new Date(today.getTime() - day) };
    expect(await client.recordings.list(before)).toEqual([]);
    expect(
      await client.recordings.list({ dateCreatedAfter: new Date(today.getTime() - day) }),
    ).toHaveLength(2);
    expect(await client.calls(sid).recordings.list({ pageSize: 1 })).toHaveLength(2);
  });

  it("begins a recording of a live call, pauses, resumes and ends it", async () => {
    const application = await startApplication({
      "/voice":
        "<Response><Say>Speak.</Say><Pause length='2'/><Redirect>/next</Redirect></Response>",
    });
    const { emulator, client } = await startTwilio({
      clock: "real",
      callee: [{ type: "tone", hertz: 300, ms: 60_000 }],
      onCall: () => ({ outcome: "answer", ringDuration: 0 }),
    });
    const url = `${application.origin}/voice`;
    const { sid } = await client.calls.create({ from, to: answering, url });
    await expect(
      client.calls("CA00000000000000000000000000000000").recordings.create(),
    ).rejects.toMatchObject({ code: 20_404 });
    while (emulator.call(sid)?.history.every(({ type }) => type !== "verb")) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const recordings = client.calls(sid).recordings;
    const callback = { recordingStatusCallback: `${application.origin}/callback` };
    const { sid: recording, status } = await recordings.create(callback);
    expect(status).toBe("in-progress");
    expect((await recordings("Twilio.CURRENT").update({ status: "paused" })).status).toBe("paused");
    expect((await recordings(recording).update({ status: "in-progress" })).status).toBe(
      "in-progress",
    );
    await expect(recordings(recording).remove()).rejects.toMatchObject({ code: 20_409 });
    expect((await recordings(recording).update({ status: "stopped" })).status).toBe("completed");
    await expect(recordings(recording).update({ status: "paused" })).rejects.toMatchObject({
      status: 400,
    });
    emulator.hangup(sid);
    await emulator.ended(sid);
    const source = "StartCallRecordingAPI";
    expect(application.at("/callback")).toMatchObject([
      { RecordingSid: recording, RecordingStatus: "completed", RecordingSource: source },
    ]);
    await expect(recordings.create()).rejects.toMatchObject({ code: 21_220 });
  });
});

it("a recording of the API that still runs ends with its call", async () => {
  const application = await startApplication({
    "/voice": "<Response><Pause length='60'/></Response>",
  });
  const { emulator, client } = await startTwilio({ clock: "real" });
  const { sid } = await client.calls.create({
    from,
    to: answering,
    url: `${application.origin}/voice`,
  });
  emulator.answer(sid);
  while (emulator.call(sid)?.history.every(({ type }) => type !== "verb")) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await client.calls(sid).recordings.create({ recordingChannels: "dual", recordingTrack: "both" });
  emulator.hangup(sid);
  await emulator.ended(sid);
  const [recording] = await client.calls(sid).recordings.list();
  expect(recording).toMatchObject({ status: "completed", channels: 2 });
});

it.each([
  [
    "GET",
    "Recordings/RE00000000000000000000000000000000.mp3",
    400,
    ".mp3 is not emulated: fetch the .wav",
  ],
  ["GET", "Recordings.json?MediaUrl=x", 400, "MediaUrl is not emulated"],
  ["GET", "Recordings.json?DateCreated=x", 400, "DateCreated must be a date, such as 2026-01-31"],
  ["GET", "Recordings/RE00000000000000000000000000000000.json", 404, "was not found"],
  ["PUT", "Recordings.json", 405, "Method PUT not allowed"],
])("%s %s is refused by name", async (method, path, status, message) => {
  const { baseUrl, emulator } = await startTwilio();
  const authorization = `Basic ${btoa(`${accountSid}:${emulator.apiKey}`)}`;
  const response = await fetch(`${baseUrl}/2010-04-01/Accounts/${accountSid}/${path}`, {
    method,
    headers: { authorization },
  });
  expect(response.status).toBe(status);
  expect(await response.json()).toMatchObject({ message: expect.stringContaining(message) });
  expect(emulator.refused).toHaveLength(1);
});
