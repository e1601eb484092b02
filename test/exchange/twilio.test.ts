import twilioClient from "twilio";
import { expect, test } from "vitest";
import { readWav } from "../../src/emulator/recording/wav.ts";
import { accountSid, authToken, clientFor, startApplication } from "../twilio/stage.ts";
import { serveMedia, twilioDialect } from "./media-application.ts";
import {
  channelsOf,
  from,
  hears,
  openServedStage,
  pause,
  speakUntilHeard,
  spoken,
  talkOverMedia,
  to,
  until,
} from "./stage.ts";
import { shareOf, tone, voice } from "./telephone/ear.ts";

const { VoiceResponse } = twilioClient.twiml;
const second = "+12025550151";

/** How much of a voice is enough to know it, on a machine that stalls. */
const live = 0.5;

/** An exchange with Twilio's interface, and Twilio's own client. */
const openTwilio = async () => {
  const service = { name: "twilio", account: accountSid };
  const stage = await openServedStage({ service, apiKey: authToken });
  return { ...stage, client: clientFor(stage.baseUrl) };
};

type Twilio = Awaited<ReturnType<typeof openTwilio>>;

/** Places a call by Twilio's client, with an application whose requests are all signed. */
const placeCall = async (
  { client, telephone }: Twilio,
  app: Awaited<ReturnType<typeof startApplication>>,
) => {
  const ringing = telephone.next();
  const { sid } = await client.calls.create({
    from,
    to,
    url: `${app.origin}/voice`,
    statusCallback: `${app.origin}/status`,
    statusCallbackEvent: ["initiated", "ringing", "answered", "completed"],
  });
  const call = await ringing;
  call.ring();
  await call.answer();
  return { sid, call };
};

test("Twilio's client calls a telephone, which hears a Gather, presses, and is connected with another", async () => {
  const twilio = await openTwilio();
  const other = await twilio.addTelephone(second);
  const question = "Press one to be connected.";
  const gather = new VoiceResponse();
  gather.gather({ numDigits: 1, action: "/key" }).say(question);
  const dial = new VoiceResponse();
  dial.dial({ timeout: 20, action: "/after", record: "record-from-answer-dual" }, second);
  const app = await startApplication({
    "/voice": gather.toString(),
    "/key": dial.toString(),
    "/after": new VoiceResponse().toString(),
  });
  const { sid, call } = await placeCall(twilio, app);
  await hears(call, await spoken(question));
  const secondRings = other.next();
  await call.press("1");
  const answered = await secondRings;
  answered.ring();
  await answered.answer();
  const [mine, theirs] = [voice(1, 1_500), voice(2, 1_500)];
  await Promise.all([
    speakUntilHeard(call, answered, mine),
    speakUntilHeard(answered, call, theirs),
  ]);
  answered.hangUp();
  expect(await call.ended).toBe("caller");
  await until(() => app.received.some(({ fields }) => fields.CallStatus === "completed"));
  const { status } = await twilio.client.calls(sid).fetch();
  expect(status).toBe("completed");
  expect(
    app.received.filter(({ path }) => path === "/status").map(({ fields }) => fields.CallStatus),
  ).toEqual(["initiated", "ringing", "in-progress", "completed"]);
  const after = app.received.find(({ path }) => path === "/after")?.fields;
  expect(after).toMatchObject({ DialCallStatus: "completed", DialBridged: "true" });
  const [recording] = await twilio.client.recordings.list({ callSid: sid });
  const url = `${twilio.baseUrl}/2010-04-01/Accounts/${accountSid}/Recordings/${recording?.sid}.wav?RequestedChannels=2`;
  const response = await fetch(url, {
    headers: { Authorization: `Basic ${btoa(`${accountSid}:${authToken}`)}` },
  });
  const file = new Uint8Array(await response.arrayBuffer());
  const { left, right } = channelsOf(file);
  expect(shareOf(mine, left)).toBeGreaterThan(live);
  expect(shareOf(theirs, right)).toBeGreaterThan(live);
});

/** The beep before a recording. */
const beep = tone(1_000, 500, 6_000 / 32_767);

test("a Record has what the telephone has said", async () => {
  const twilio = await openTwilio();
  const record = new VoiceResponse();
  record.record({ action: "/recorded", maxLength: 10, finishOnKey: "#", timeout: 0 });
  const app = await startApplication({
    "/voice": record.toString(),
    "/recorded": new VoiceResponse().toString(),
  });
  const { call } = await placeCall(twilio, app);
  await hears(call, beep);
  const message = voice(3, 2_000);
  await call.speak(message);
  await pause(2_400);
  await call.press("#");
  await call.ended;
  const recorded = app.received.find(({ path }) => path === "/recorded");
  expect(recorded?.fields).toMatchObject({ Digits: "#" });
  const response = await fetch(`${recorded?.fields.RecordingUrl}.wav`, {
    headers: { Authorization: `Basic ${btoa(`${accountSid}:${authToken}`)}` },
  });
  const { samples } = readWav(new Uint8Array(await response.arrayBuffer()));
  expect(shareOf(message, samples)).toBeGreaterThan(0.9);
});

test("a live call is led elsewhere, keys are pressed for it, and the API ends it", async () => {
  const twilio = await openTwilio();
  const waiting = new VoiceResponse();
  waiting.pause({ length: 60 });
  const app = await startApplication({ "/voice": waiting.toString() });
  const { sid, call } = await placeCall(twilio, app);
  await pause(500);
  const text = "You are led elsewhere.";
  const elsewhere = new VoiceResponse();
  elsewhere.play({ digits: "12#" });
  elsewhere.say(text);
  elsewhere.pause({ length: 60 });
  await twilio.client.calls(sid).update({ twiml: elsewhere.toString() });
  await hears(call, await spoken(text));
  await twilio.client.calls(sid).update({ status: "completed" });
  expect(await call.ended).toBe("caller");
  expect(call.keys).toBe("12#");
});

test("a media stream of Twilio plays to a telephone, hears it and its keys, and drops what is cleared", async () => {
  const twilio = await openTwilio();
  const media = await serveMedia(twilioDialect);
  const streaming = new VoiceResponse();
  streaming.connect().stream({ url: media.url });
  const app = await startApplication({ "/voice": streaming.toString() });
  const { call } = await placeCall(twilio, app);
  await talkOverMedia(call, media);
  media.close();
  expect(await call.ended).toBe("caller");
});
