import { expect, test } from "vitest";
import { readWav } from "../../src/emulator/recording/wav.ts";
import { randomOf } from "./compared/cases.ts";
import {
  applicationOf,
  hears,
  openStage,
  pause,
  placeCall,
  type Stage,
  spoken,
  until,
} from "./stage.ts";
import { shareOf, voice } from "./telephone/ear.ts";
import { Rtp } from "./telephone/rtp.ts";

const question = "Press one to confirm.";
const thanks = "Thank you. Goodbye.";
const gather = (timeout_ms: number) =>
  applicationOf({
    "/flow": {
      action: "gather",
      prompts: [{ text: question }],
      digits: 1,
      timeout_ms,
      flow_url: "https://app.test/key",
    },
    "/key": { action: "say", prompts: [{ text: thanks }] },
  });

/** How much of a sound is in the recording of a call that has ended. */
const recordedShare = async ({ exchange }: Stage, id: string, sound: Int16Array) => {
  const { recording_url = "" } = await exchange.ended(id);
  const response = await exchange.fetch(recording_url);
  const { samples } = readWav(new Uint8Array(await response.arrayBuffer()));
  return shareOf(sound, samples);
};

test("a telephone with PCMA hears, presses and is recorded", async () => {
  const app = gather(10_000);
  const stage = await openStage({ fetch: app.fetch });
  const { id, call } = await placeCall(stage);
  await call.answer({ codec: "PCMA" });
  await hears(call, await spoken(question));
  const answer = voice(8, 1_500);
  await call.speak(answer);
  await call.press("1");
  await hears(call, await spoken(thanks));
  expect(await call.ended).toBe("caller");
  expect(await recordedShare(stage, id, answer)).toBeGreaterThan(0.8);
});

test("a telephone that holds a call, and sends nothing meanwhile, talks on afterwards", async () => {
  const app = gather(10_000);
  const stage = await openStage({ fetch: app.fetch });
  const { call } = await placeCall(stage);
  await call.answer();
  await hears(call, await spoken(question));
  for (const direction of ["sendonly", "inactive"] as const) {
    expect(await call.hold(direction)).toBe(200);
    call.mute();
    const { length } = call.packets;
    // Longer than an exchange waits for a sign of life of its Asterisk.
    await pause(1_500);
    // What was on its way when it held the call may still come.
    expect(call.packets.length - length).toBeLessThan(10);
    call.mute(false);
    expect(await call.hold("sendrecv")).toBe(200);
  }
  await call.press("1");
  await hears(call, await spoken(thanks));
  expect(await call.ended).toBe("caller");
});

test("a telephone that sends nothing has pressed nothing, and its call goes on", async () => {
  const app = gather(1_000);
  const stage = await openStage({ fetch: app.fetch });
  const { call } = await placeCall(stage);
  await call.answer();
  call.mute();
  await hears(call, await spoken(thanks));
  expect(await call.ended).toBe("caller");
  expect(app.asked.map(({ fields }) => fields.digits)).toEqual([undefined, ""]);
});

/** A network that loses one packet of twenty, and lets them overtake each other. */
const faults = (seed: number) => ({ loss: 0.05, jitter: 60, random: randomOf(seed) });

test("keys of a telephone arrive once over a network that loses and reorders packets", async () => {
  const app = applicationOf({
    "/flow": {
      action: "gather",
      prompts: [{ text: question }],
      digits: 8,
      timeout_ms: 10_000,
      flow_url: "https://app.test/key",
    },
    "/key": { action: "say", prompts: [{ text: thanks }] },
  });
  const stage = await openStage({ fetch: app.fetch });
  const { call } = await placeCall(stage);
  await call.answer({ faults: faults(20_261_128) });
  await hears(call, await spoken(question));
  await call.press("12334567");
  await hears(call, await spoken(thanks));
  expect(app.asked.map(({ fields }) => fields.digits)).toEqual([undefined, "12334567"]);
});

/** The numbers of the first hundred packets that come over a faulty network. */
const arrivals = async (seed: number): Promise<readonly number[]> => {
  const speaker = await Rtp.open("127.0.0.1", "PCMA", faults(seed));
  const listener = await Rtp.open("127.0.0.1", "PCMA");
  speaker.start({ address: "127.0.0.1", port: listener.port });
  await until(() => listener.packets.length >= 100);
  for (const each of [speaker, listener]) each.stop();
  return listener.packets.slice(0, 100).map(({ sequence }) => sequence);
};

test("a network loses and reorders the same packets for the same seed", async () => {
  const [first, second, other] = await Promise.all([1, 1, 2].map(arrivals));
  expect(second).toEqual(first);
  expect(other).not.toEqual(first);
  const inOrder = first?.toSorted((one, another) => one - another);
  expect(first).not.toEqual(inOrder);
  expect(inOrder?.at(-1)).toBeGreaterThan(101);
});
