import twilioClient from "twilio";
import { expect, test } from "vitest";
import { accountSid, authToken, clientFor, startApplication } from "../twilio/stage.ts";
import {
  applicationOf,
  from,
  hears,
  openServedStage,
  openStage,
  placeCall,
  to,
  until,
  urls,
} from "./stage.ts";
import { isAudible, tone, voice } from "./telephone/ear.ts";

const second = "+12025550151";

const dialling = () =>
  applicationOf({
    "/flow": { action: "dial", to: second, timeout: 30 },
    "/after": { action: "hangup" },
  });

test("while a second telephone rings the callee hears a ringing tone, and nothing of it once it is answered", async () => {
  const app = dialling();
  const stage = await openStage({ fetch: app.fetch });
  const other = await stage.addTelephone(second);
  const secondRings = other.next();
  const { call } = await placeCall(stage);
  await call.answer();
  const ringing = await secondRings;
  const before = call.packets.length;
  ringing.ring();
  // What the second one's network says is not passed on.
  await ringing.playEarly();
  await ringing.speak(voice(9, 1_000));
  await hears(call, tone(425, 1_000, 6_000 / 32_767), 0.9, before);
  await ringing.answer();
  const { length } = call.packets;
  // The next tone would have begun by now.
  await until(() => call.packets.length > length + 300);
  const later = call.packets.slice(length + 25);
  expect(later.some(({ samples }) => isAudible(samples))).toBe(false);
  ringing.hangUp();
  expect(await call.ended).toBe("caller");
});

test("a telephone rings no longer than the request allows, and a second one no longer than its Dial", async () => {
  const service = { name: "twilio", account: accountSid };
  const stage = await openServedStage({ service, apiKey: authToken });
  const client = clientFor(stage.baseUrl);
  const dial = new twilioClient.twiml.VoiceResponse();
  dial.dial({ timeout: 5, action: "/after" }, second);
  const app = await startApplication({
    "/voice": dial.toString(),
    "/after": new twilioClient.twiml.VoiceResponse().toString(),
  });
  const place = async (timeout: number) => {
    const ringing = stage.telephone.next();
    await client.calls.create({
      from,
      to,
      url: `${app.origin}/voice`,
      statusCallback: `${app.origin}/status`,
      timeout,
    });
    return ringing;
  };
  const unanswered = await place(2);
  unanswered.ring();
  expect(await unanswered.ended).toBe("cancel");
  const rang = unanswered.endedAt - unanswered.invitedAt;
  expect(rang).toBeGreaterThan(1_900);
  await until(() => app.received.some(({ fields }) => fields.CallStatus === "no-answer"));
  const other = await stage.addTelephone(second);
  const secondRings = other.next();
  const answered = await place(30);
  await answered.answer();
  const secondCall = await secondRings;
  secondCall.ring();
  expect(await secondCall.ended).toBe("cancel");
  expect(secondCall.endedAt - secondCall.invitedAt).toBeGreaterThan(4_900);
  expect(await answered.ended).toBe("caller");
  const after = app.received.find(({ path }) => path === "/after");
  expect(after?.fields).toMatchObject({ DialCallStatus: "no-answer" });
});

test("a second telephone talks no longer than its Dial allows, and the flow goes on", async () => {
  const service = { name: "twilio", account: accountSid };
  const stage = await openServedStage({ service, apiKey: authToken });
  const dial = new twilioClient.twiml.VoiceResponse();
  dial.dial({ timeLimit: 2, action: "/after" }, second);
  const app = await startApplication({
    "/voice": dial.toString(),
    "/after": new twilioClient.twiml.VoiceResponse().toString(),
  });
  const other = await stage.addTelephone(second);
  const secondRings = other.next();
  const ringing = stage.telephone.next();
  await clientFor(stage.baseUrl).calls.create({ from, to, url: `${app.origin}/voice` });
  const call = await ringing;
  await call.answer();
  const secondCall = await secondRings;
  await secondCall.answer();
  expect(await secondCall.ended).toBe("caller");
  expect(secondCall.endedAt - secondCall.answeredAt).toBeGreaterThan(1_900);
  expect(await call.ended).toBe("caller");
  const after = app.received.find(({ path }) => path === "/after");
  expect(after?.fields).toMatchObject({ DialCallStatus: "completed", DialCallDuration: "2" });
});

test("a port where no telephone is fails after the 32 s of SIP, long before the call may not ring any more", async () => {
  const app = applicationOf({});
  const stage = await openStage({ fetch: app.fetch, answerTimeout: 60_000 });
  stage.telephone.close();
  const begin = performance.now();
  const { id } = await stage.client.calls.create({ from_number: from, to_number: to, ...urls });
  const { state, reason } = await stage.exchange.ended(id);
  expect([state, reason]).toEqual(["failed", "unreachable"]);
  const seconds = (performance.now() - begin) / 1_000;
  expect(seconds).toBeGreaterThan(31);
  expect(seconds).toBeLessThan(60);
});
