import { tokenGenerate } from "@vonage/jwt";
import { NCCOActions } from "@vonage/voice";
import { expect, test } from "vitest";
import { readWav } from "../../src/emulator/recording/wav.ts";
import { applicationId, signatureSecret } from "../unit/vonage/service.ts";
import { callOf, clientFor, place, startApplication } from "../vonage/stage.ts";
import { serveMedia, vonageDialect } from "./media-application.ts";
import {
  hears,
  openServedStage,
  pause,
  speakUntilHeard,
  spoken,
  talkOverMedia,
  until,
} from "./stage.ts";
import { isAudible, shareOf, tone, voice } from "./telephone/ear.ts";

const second = "12025550151";

/** Places a call by Vonage's client, with an application whose requests Vonage's own verifier accepts. */
const placeCall = async (answers: Parameters<typeof startApplication>[0]) => {
  const service = { name: "vonage", account: applicationId };
  const stage = await openServedStage({
    service,
    webhookSecret: signatureSecret,
    answerTimeout: 30_000,
  });
  const app = await startApplication(answers);
  const client = clientFor(stage.baseUrl, stage.exchange.apiKey);
  const ringing = stage.telephone.next();
  const id = await place(client, callOf(app.origin, {}, "12025550150"));
  const call = await ringing;
  call.ring();
  return { ...stage, app, client, id, call };
};

/** The client wants it in the body. */
const action = NCCOActions.TALK;

test("Vonage's client calls a telephone, which hears a talk, presses, and is connected with another", async () => {
  const question = "Press one to be connected.";
  const connect = {
    action: "connect",
    timeout: 20,
    eventUrl: ["/leg"],
    endpoint: [{ type: "phone", number: second }],
  };
  const { app, call, addTelephone, exchange, id } = await placeCall({
    "/answer": [
      { action: "talk", text: question, bargeIn: true },
      { action: "input", type: ["dtmf"], dtmf: { maxDigits: 1 }, eventUrl: ["/key"] },
    ],
    "/key": [connect],
  });
  const other = await addTelephone(`+${second}`);
  await call.answer();
  await hears(call, await spoken(question));
  const rings = other.next();
  await call.press("1");
  const answered = await rings;
  answered.ring();
  await answered.answer();
  await Promise.all([
    speakUntilHeard(call, answered, voice(1, 1_000)),
    speakUntilHeard(answered, call, voice(2, 1_000)),
  ]);
  answered.hangUp();
  expect(await call.ended).toBe("caller");
  expect((await exchange.ended(id)).reason).toBe("normal");
  const [key] = app.at("/key");
  expect(key).toMatchObject({ dtmf: { digits: "1", timed_out: false } });
  expect(app.at("/leg").map(({ status }) => status)).toEqual([
    "started",
    "ringing",
    "answered",
    "completed",
  ]);
  const states = app.at("/events").map(({ status }) => status);
  expect(states).toEqual(["started", "ringing", "answered", "completed"]);
});

test("a record of Vonage has what the telephone has said after the beep", async () => {
  const { app, call, exchange } = await placeCall({
    "/answer": [
      { action: "record", beepStart: true, endOnKey: "#", timeOut: 60, eventUrl: ["/recorded"] },
      { action: "talk", text: "Thank you." },
    ],
  });
  await call.answer();
  await hears(call, tone(1_000, 500, 6_000 / 32_767));
  const message = voice(3, 2_000);
  await call.speak(message);
  await pause(2_400);
  await call.press("#");
  await hears(call, await spoken("Thank you."));
  await call.ended;
  await until(() => app.at("/recorded").length > 0);
  const [recorded] = app.at("/recorded");
  const token = tokenGenerate(applicationId, exchange.apiKey);
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch(`${recorded?.recording_url}`, { headers });
  const { samples } = readWav(new Uint8Array(await response.arrayBuffer()));
  expect(shareOf(message, samples)).toBeGreaterThan(0.9);
});

test("a live call of Vonage is talked to, keys are pressed, it is silenced, led elsewhere, and ended", async () => {
  const text = "You are led elsewhere.";
  const waiting = { action: "wait", timeout: 60 };
  const { app, call, client, id } = await placeCall({ "/answer": [waiting] });
  await call.answer();
  await until(() => call.packets.length > 0);
  const beside = "This is said beside the flow.";
  await client.playTTS(id, { action, text: beside });
  await hears(call, await spoken(beside));
  await client.playDTMF(id, "17p2");
  await until(() => call.keys === "172");
  await client.earmuffCall(id);
  await client.playTTS(id, { action, text: "Nobody hears this for long.", loop: 0 });
  const muffled = call.packets.length;
  await until(() => call.packets.length > muffled + 100);
  expect(call.packets.slice(muffled + 10).some(({ samples }) => isAudible(samples))).toBe(false);
  await client.stopTTS(id);
  await client.unearmuffCall(id);
  await client.transferCallWithNCCO(id, [{ action, text }, waiting] as never);
  await hears(call, await spoken(text));
  await client.hangupCall(id);
  expect(await call.ended).toBe("caller");
  await until(() => app.at("/events").some(({ status }) => status === "completed"));
});

test("a websocket of Vonage plays to a telephone, hears it and its keys, and drops what is cleared", async () => {
  const media = await serveMedia(vonageDialect);
  const endpoint = { type: "websocket", uri: media.url, "content-type": "audio/l16;rate=8000" };
  const { app, call } = await placeCall({
    "/answer": [{ action: "connect", endpoint: [endpoint], eventUrl: ["/leg"] }],
  });
  await call.answer();
  await talkOverMedia(call, media);
  expect(media.answers).toContain("cleared");
  media.close();
  expect(await call.ended).toBe("caller");
  await until(() => app.at("/leg").length === 4);
  const states = app.at("/leg").map(({ status }) => status);
  expect(states).toEqual(["started", "answered", "disconnected", "completed"]);
});

test.each([
  [
    "a conversation",
    { action: "conversation", name: "room" },
    "conference is not possible on this exchange",
  ],
  [
    "speech as text",
    { action: "input", type: ["speech"], eventUrl: ["/key"] },
    "takes speech alone, which this line doesn't recognize: take keys",
  ],
  [
    "who is no telephone",
    { action: "connect", endpoint: [{ type: "sip", uri: "sip:nobody@example.com" }] },
    "which this exchange doesn't reach",
  ],
])("%s is refused by name", async (_, ncco, rule) => {
  const { call, exchange, id } = await placeCall({ "/answer": [ncco] });
  await call.answer();
  expect(await call.ended).toBe("caller");
  const { reason, flow_error } = await exchange.ended(id);
  expect(reason).toBe("flow_error");
  expect(flow_error).toContain(rule);
});
