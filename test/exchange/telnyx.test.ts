import { expect, test } from "vitest";
import { readWav } from "../../src/emulator/recording/wav.ts";
import {
  accountSid,
  apiKey,
  applicationId,
  clientFor,
  place,
  startApplication,
} from "../telnyx/stage.ts";
import { serveMedia, telnyxDialect } from "./media-application.ts";
import {
  channelsOf,
  hears,
  openServedStage,
  pause,
  speakUntilHeard,
  spoken,
  talkOverMedia,
  until,
} from "./stage.ts";
import { shareOf, voice } from "./telephone/ear.ts";

const second = "+12025550151";
const third = "+12025550152";

/** Places a call by Telnyx's client, with an application whose requests Telnyx's own verifier accepts. */
const placeCall = async (answers: Parameters<typeof startApplication>[0]) => {
  const service = { name: "telnyx", account: applicationId };
  const stage = await openServedStage({ service, apiKey, answerTimeout: 30_000 });
  const app = await startApplication(answers);
  const client = clientFor(stage.baseUrl);
  const ringing = stage.telephone.next();
  const id = await place(client, {
    Url: `${app.origin}/voice`,
    StatusCallback: `${app.origin}/status`,
    StatusCallbackEvent: "initiated ringing answered completed",
  });
  const call = await ringing;
  call.ring();
  return { ...stage, app, client, id, call };
};

const xml = (body: string) => `<?xml version="1.0"?><Response>${body}</Response>`;

test("Telnyx's client calls a telephone, which hears a Gather, presses, and is connected with the first of two that answers", async () => {
  const question = "Press one to be connected.";
  const { app, call, addTelephone, baseUrl, client, id } = await placeCall({
    "/voice": xml(`<Gather numDigits="1" action="/key"><Say>${question}</Say></Gather>`),
    "/key": xml(
      `<Dial timeout="20" action="/after" record="record-from-answer-dual"><Number>${second}</Number><Number>${third}</Number></Dial>`,
    ),
    "/after": xml("<Hangup/>"),
  });
  const others = await Promise.all([second, third].map(addTelephone));
  await call.answer();
  await hears(call, await spoken(question));
  const rings = Promise.all(others.map((other) => other.next()));
  await call.press("1");
  const [unanswered, answered] = await rings;
  if (!unanswered || !answered) throw new Error("a telephone is missing");
  for (const each of [unanswered, answered]) each.ring();
  await answered.answer();
  expect(await unanswered.ended).toBe("cancel");
  const [mine, theirs] = [voice(1, 1_000), voice(2, 1_000)];
  await Promise.all([
    speakUntilHeard(call, answered, mine),
    speakUntilHeard(answered, call, theirs),
  ]);
  answered.hangUp();
  expect(await call.ended).toBe("caller");
  await until(() => app.at("/status").some(({ CallStatus }) => CallStatus === "completed"));
  const states = app.at("/status").map(({ CallStatus }) => CallStatus);
  expect(states).toEqual(["initiated", "ringing", "in-progress", "completed"]);
  const [after] = app.at("/after");
  expect(after).toMatchObject({ DialCallStatus: "completed" });
  const { recordings = [] } =
    await client.texml.accounts.calls.recordingsJson.retrieveRecordingsJson(id, {
      account_sid: accountSid,
    });
  const response = await fetch(`${recordings[0]?.media_url}`);
  expect(response.url.startsWith(baseUrl)).toBe(true);
  const { left, right } = channelsOf(new Uint8Array(await response.arrayBuffer()));
  expect(shareOf(mine, left)).toBeGreaterThan(0.5);
  expect(shareOf(theirs, right)).toBeGreaterThan(0.5);
});

test("a Record of Telnyx has what the telephone has said after the beep", async () => {
  const { app, call } = await placeCall({
    "/voice": xml('<Record action="/recorded" finishOnKey="#" maxLength="60"/>'),
    "/recorded": xml("<Hangup/>"),
  });
  await call.answer();
  await until(() => call.packets.length > 50);
  const message = voice(3, 2_000);
  await call.speak(message);
  await pause(2_400);
  await call.press("#");
  await call.ended;
  const [recorded] = app.at("/recorded");
  expect(recorded).toMatchObject({ Digits: "#" });
  const response = await fetch(`${recorded?.RecordingUrl}`);
  const { samples } = readWav(new Uint8Array(await response.arrayBuffer()));
  expect(shareOf(message, samples)).toBeGreaterThan(0.9);
});

test("a live call of Telnyx is led elsewhere, and ended", async () => {
  const text = "You are led elsewhere.";
  const { app, call, client, id } = await placeCall({
    "/voice": xml('<Pause length="60"/>'),
    "/elsewhere": xml(`<Play digits="12#"/><Say>${text}</Say><Pause length="60"/>`),
  });
  await call.answer();
  await until(() => call.packets.length > 0);
  const update = (fields: object) =>
    client.texml.accounts.calls.update(id, { account_sid: accountSid, ...fields });
  await update({ Url: `${app.origin}/elsewhere`, Method: "POST" });
  await hears(call, await spoken(text));
  await update({ Status: "completed" });
  expect(await call.ended).toBe("caller");
  expect(call.keys).toBe("12#");
});

test("a media stream of Telnyx plays to a telephone, hears it and its keys, and drops what is cleared", async () => {
  const media = await serveMedia(telnyxDialect);
  const { call } = await placeCall({
    "/voice": xml(
      `<Connect><Stream url="${media.url}" bidirectionalMode="rtp" bidirectionalCodec="PCMU"/></Connect>`,
    ),
  });
  await call.answer();
  await talkOverMedia(call, media);
  media.close();
  expect(await call.ended).toBe("caller");
});

test.each([
  [
    "a conference",
    "<Dial><Conference>room</Conference></Dial>",
    "conference is not possible on this exchange",
  ],
  [
    "speech as text",
    '<Gather input="speech" action="/key"/>',
    "takes speech alone, which this line doesn't recognize: take keys",
  ],
  ["who is no telephone", "<Dial><Sip>nobody</Sip></Dial>", "which this exchange doesn't reach"],
])("%s is refused by name", async (_, verbs, rule) => {
  const { call, exchange, id } = await placeCall({ "/voice": xml(verbs) });
  await call.answer();
  expect(await call.ended).toBe("caller");
  const { reason, flow_error } = await exchange.ended(id);
  expect(reason).toBe("flow_error");
  expect(flow_error).toContain(rule);
});
