import { expect, test } from "vitest";
import { tonesOf } from "../../../src/agents/audio/tones.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { wavHead } from "../../../src/emulator/recording/wav.ts";
import { bytesOf } from "../../../src/lib/encoding.ts";
import { scriptedAgent, simulateCall, wav } from "../../../src/testing/index.ts";
import { voice } from "./agents.ts";

/** The size of each tone of a voice. */
const size = 8_000;

/** A second with several tones. */
const tones = (sampleRate: number, ...hertz: readonly number[]) => ({
  audio: Int16Array.from({ length: sampleRate }, (_, at) =>
    hertz.reduce((sum, each) => sum + size * Math.sin((2 * Math.PI * each * at) / sampleRate), 0),
  ),
  sampleRate,
});

/** How loud a frequency is, in dB beside a tone of the voice: by Fourier, in Hann's window. */
const levelOf = (samples: Int16Array, hertz: number, rate: number): number => {
  let [real, imaginary] = [0, 0];
  samples.forEach((sample, at) => {
    const window = 1 - Math.cos((2 * Math.PI * at) / samples.length);
    real += sample * window * Math.cos((2 * Math.PI * hertz * at) / rate);
    imaginary += sample * window * Math.sin((2 * Math.PI * hertz * at) / rate);
  });
  return 20 * Math.log10((2 * Math.hypot(real, imaginary)) / samples.length / size);
};

test.each([
  [16_000, 6_000],
  [22_050, 6_000],
  [24_000, 6_000],
  [44_100, 7_000],
  [48_000, 9_000],
])(
  "of a voice at %i Hz nothing above the line's band comes back as another tone: %i Hz",
  async (sampleRate, high) => {
    const { audio, turns } = await simulateCall({
      app: (socket) => connectAgent(socket, scriptedAgent([])),
      caller: [
        { type: "until", ms: 200 },
        { type: "say", voice: tones(sampleRate, 500, high) },
        { type: "hangup" },
      ],
    });
    const rate = audio.sample_rate;
    const samples = audio.samples("callee", 400, 1_000);
    const folded = Math.abs(high - rate * Math.round(high / rate));
    expect(levelOf(samples, folded, rate)).toBeLessThan(-60);
    expect(Math.abs(levelOf(samples, 500, rate))).toBeLessThan(0.2);
    // The filter moves nothing.
    expect(Math.abs((turns[0]?.from ?? 0) - 200)).toBeLessThan(1);
    expect(Math.abs((turns[0]?.to ?? 0) - 1_200)).toBeLessThan(1);
  },
);

test("a rate that isn't a whole number is refused", async () => {
  const { audio } = voice(100);
  await expect(
    simulateCall({
      app: (socket) => connectAgent(socket, scriptedAgent([])),
      caller: [{ type: "say", voice: { audio, sampleRate: 8_000.5 } }, { type: "hangup" }],
      maxDuration: 500,
    }),
  ).rejects.toThrow("voice.sampleRate must be a whole number from 4 000 to 192 000");
});

test("a WAV that is cut off is refused, and one whose length its writer left open is read", async () => {
  const samples = voice(100).audio;
  const file = (head: Uint8Array) => new Uint8Array([...head, ...bytesOf(samples)]);
  const whole = file(wavHead(samples.length, 8_000));
  expect((await wav(whole)).audio).toEqual(samples);
  await expect(wav(whole.slice(0, 900))).rejects.toThrow("source is cut off");
  expect((await wav(file(wavHead(0, 8_000)))).audio).toEqual(samples);
  await expect(
    simulateCall({
      app: (socket) => connectAgent(socket, scriptedAgent([])),
      caller: [{ type: "say", audio: whole.slice(0, 900) }, { type: "hangup" }],
      maxDuration: 500,
    }),
  ).rejects.toThrow("caller is cut off");
});

/** The response to words of the caller of an agent whose answers are these samples. */
const responseOf = async (answer: Int16Array) => {
  const { turns, deadAir } = await simulateCall({
    app: (socket) => connectAgent(socket, scriptedAgent([{ ms: 500 }, { audio: answer }])),
    caller: [
      { type: "until-quiet" },
      { type: "say", voice: voice(500) },
      { type: "until", ms: 9_000 },
      { type: "hangup" },
    ],
  });
  return { response: turns[0]?.response, deadAir };
};

/** A sound, so many ms of silence, and speech of a second. */
const before = (sound: Int16Array, ms: number) =>
  Int16Array.from([...sound, ...new Int16Array(ms * 8), ...voice(1_000).audio]);

test.each([
  ["a pop of 25 ms", voice(25).audio, 3_475, 4_000],
  ["a pop of 25 ms shortly before it", voice(25).audio, 150, 675],
  ["the agent's own key tones", tonesOf("12", 8_000), 3_100, 4_000],
  ["speech of 60 ms", voice(60).audio, 3_440, 500],
])("the response to words is speech: with %s before it", async (_, sound, pause, truth) => {
  const { response } = await responseOf(before(sound, pause));
  expect(Math.abs((response ?? Number.NaN) - truth)).toBeLessThan(21);
});

test("keys that the agent presses are no dead air", async () => {
  const { deadAir } = await responseOf(before(tonesOf("1", 8_000), 3_300));
  // Of the pause before the speech, and the time after it: the tones have ended the silence before them.
  expect(deadAir.longest).toBeLessThan(3_450);
});
