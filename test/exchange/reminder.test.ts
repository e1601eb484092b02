import { readFileSync } from "node:fs";
import { expect, inject, test } from "vitest";
import { readWav } from "../../src/emulator/recording/wav.ts";
import { readSound } from "../../src/exchange/sounds.ts";
import { path } from "../examples/execute.ts";
import { applicationOf, from, hears, openStage, placeCall, spoken, to, until } from "./stage.ts";
import { framesOf, hear } from "./telephone/ear.ts";

const question = "Your appointment is tomorrow at nine. Press one to confirm.";
const thanks = "Thank you. Goodbye.";

const reminder = () =>
  applicationOf({
    "/flow": {
      action: "gather",
      prompts: [{ text: question }],
      digits: 1,
      timeout_ms: 5_000,
      flow_url: "https://app.test/key",
    },
    "/key": { action: "say", prompts: [{ text: thanks }] },
  });

test("a reminder is heard, a key is pressed, and the answer to it is heard to its end", async () => {
  const app = reminder();
  const { client, exchange, telephone } = await openStage({ fetch: app.fetch });
  const { id, call } = await placeCall({ client, telephone });
  expect([call.to, call.from]).toEqual([to, from]);
  call.ring();
  await call.answer();
  const asked = await hears(call, await spoken(question));
  await call.press("1");
  const thanked = await hears(call, await spoken(thanks));
  expect(thanked.from).toBeGreaterThan(asked.to);
  expect(await call.ended).toBe("caller");
  const { state, reason, recording_url = "" } = await exchange.ended(id);
  expect([state, reason]).toEqual(["completed", "normal"]);
  const recording = await exchange.fetch(recording_url);
  const { samples } = readWav(new Uint8Array(await recording.arrayBuffer()));
  for (const text of [question, thanks]) {
    expect(hear(await spoken(text), framesOf(samples)).share).toBeGreaterThan(0.9);
  }
  expect(app.events.map(({ type }) => type)).toEqual([
    "call.initiated",
    "call.ringing",
    "call.answered",
    "call.completed",
  ]);
  expect(app.asked.map(({ path, fields }) => [path, fields.digits])).toEqual([
    ["/flow", undefined],
    ["/key", "1"],
  ]);
});

test("a key interrupts the question", async () => {
  const app = reminder();
  const { client, telephone } = await openStage({ fetch: app.fetch });
  const { call } = await placeCall({ client, telephone });
  await call.answer();
  await until(() => call.packets.length > 60);
  await call.press("1");
  const asked = await spoken(question);
  await hears(call, await spoken(thanks));
  await call.ended;
  expect(
    hear(
      asked,
      call.packets.map(({ samples }) => samples),
    ).share,
  ).toBeLessThan(0.9);
});

test("an MP3 that is played is heard whole", async () => {
  const app = applicationOf({
    "/flow": { action: "play", media_url: "https://app.test/glide.mp3" },
  });
  const mp3 = readFileSync(path("test/exchange/telephone/glide.mp3"));
  const { client, telephone } = await openStage({
    fetch: async (request) =>
      request.url.endsWith(".mp3") ? new Response(new Uint8Array(mp3)) : app.fetch(request),
  });
  const { call } = await placeCall({ client, telephone });
  await call.answer();
  await hears(call, await readSound(mp3));
  expect(await call.ended).toBe("caller");
});

test("what a flow says is heard, too, once no more of the applications' audio is kept", async () => {
  const app = applicationOf({ "/flow": { action: "say", prompts: [{ text: thanks }] } });
  const { client, telephone } = await openStage({ fetch: app.fetch }, inject("exchange"), 0);
  const { call } = await placeCall({ client, telephone });
  await call.answer();
  await hears(call, await spoken(thanks));
  expect(await call.ended).toBe("caller");
});
