import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { decodeMulaw, encodeMulaw } from "../../src/lib/mulaw.ts";
import { path } from "../examples/execute.ts";

interface ScriptedAgent {
  readonly url: string;
  readonly close: () => void;
}

/** The example is JavaScript: it has no types. */
interface Example {
  readonly startAgent: (
    sentences: readonly { readonly hertz: number; readonly ms: number }[],
    log: (what: string) => void,
  ) => Promise<ScriptedAgent>;
}

/** A-law by the table of G.711: the first quantization step of each segment, and its steps. */
const decodeAlaw = (bytes: Uint8Array): Int16Array =>
  Int16Array.from(bytes, (byte) => {
    const segment = ((byte ^ 0x55) >> 4) & 7;
    const start = [0, 512, 1024, 2048, 4096, 8192, 16_384, 32_768][segment] ?? 0;
    const step = [32, 32, 64, 128, 256, 512, 1024, 2048][segment] ?? 0;
    const magnitude = (start + (((byte ^ 0x55) & 15) + 0.5) * step) / 2;
    return byte & 0x80 ? magnitude : -magnitude;
  });

const toSamples = (bytes: Uint8Array): Int16Array => new Int16Array(Uint8Array.from(bytes).buffer);
const toBytes = (samples: Int16Array): Uint8Array =>
  new Uint8Array(Int16Array.from(samples).buffer);

const formats = [
  {
    format: { type: "audio/pcm", rate: 24_000 },
    rate: 24_000,
    decode: toSamples,
    loud: toBytes(new Int16Array(2_400).fill(9_000)),
    quiet: toBytes(new Int16Array(12_000)),
  },
  {
    format: { type: "audio/pcmu" },
    rate: 8_000,
    decode: decodeMulaw,
    loud: encodeMulaw(new Int16Array(800).fill(9_000)),
    quiet: new Uint8Array(4_000).fill(0xff),
  },
  {
    format: { type: "audio/pcma" },
    rate: 8_000,
    decode: decodeAlaw,
    loud: new Uint8Array(800).fill(0x8a), // decodeAlaw: 31 744.
    quiet: new Uint8Array(4_000).fill(0xd5),
  },
];

let agent: ScriptedAgent;
beforeAll(async () => {
  const { startAgent }: Example = await import(path("examples/demo-agent/scripted-agent.js"));
  agent = await startAgent(
    [
      { hertz: 200, ms: 1_000 },
      { hertz: 200, ms: 500 },
    ],
    () => {},
  );
});
afterAll(() => agent.close());

/** The samples of the tones at some rate, as the agent makes them. */
const tones = (rate: number, ms: number) =>
  Array.from({ length: (ms * rate) / 1000 }, (_, index) => {
    const time = index / rate;
    const wave = Math.sin(2 * Math.PI * 200 * time) + Math.sin(3 * Math.PI * 200 * time) / 2;
    return 6_000 * wave * (0.6 + 0.4 * Math.sin(8 * Math.PI * time));
  });

describe("the scripted agent speaks and hears the format of session.update", () => {
  test.each(formats)("$format.type", async ({ format, rate, decode, loud, quiet }) => {
    const socket = new WebSocket(agent.url);
    await once(socket, "open");
    const send = (message: object) => socket.send(JSON.stringify(message));
    const types: string[] = [];
    const deltas: Buffer[] = [];
    let onDone = (_: Int16Array) => {};
    socket.on("message", (data) => {
      const { type, delta } = JSON.parse(String(data));
      types.push(type);
      if (delta) deltas.push(Buffer.from(delta, "base64"));
      if (type === "response.done") onDone(decode(Buffer.concat(deltas.splice(0))));
    });
    const responded = () =>
      new Promise<Int16Array>((resolve) => {
        onDone = resolve;
      });
    const audio = { input: { format }, output: { format } };
    send({ type: "session.update", session: { type: "realtime", audio } });
    send({ type: "session.update", session: { type: "realtime" } }); // What it leaves out stays.
    send({ type: "response.create" });
    const greeting = await responded();
    const expected = tones(rate, 1_000);
    expect(greeting.length).toBe(expected.length);
    const worst = Math.max(...expected.map((each, at) => Math.abs(each - (greeting[at] ?? 0))));
    expect(worst).toBeLessThan(300); // Half of the largest step of G.711 here.
    const response = responded();
    for (const bytes of [loud, quiet]) {
      send({ type: "input_audio_buffer.append", audio: Buffer.from(bytes).toString("base64") });
    }
    expect((await response).length).toBe(rate / 2);
    expect(types.filter((type) => type === "input_audio_buffer.speech_started")).toHaveLength(1);
    socket.close();
  });
});
