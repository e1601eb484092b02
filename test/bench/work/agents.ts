import process from "node:process";
import { type Agent, connectAgent, openaiRealtime, type Talk } from "outdial/agents";
import type { MediaEvent, MediaSocket } from "outdial/flows";
import { call } from "../../agents/application.ts";
import { serveOpenai } from "../../agents/protocols/openai.ts";

/** Microseconds of a frame. */
export interface FrameTimes {
  readonly p50: number;
  readonly p99: number;
}

/** What a run of this file tells. */
export type AgentsTold =
  | { readonly relay: FrameTimes; readonly pcm8: FrameTimes; readonly pcm16: FrameTimes }
  | { readonly calls: number; readonly p99: number; readonly silent: number; readonly cpu: number }
  | { readonly heap: number; readonly timers: number; readonly listeners: number }
  | {
      readonly apart: readonly number[];
      readonly over: number;
      readonly after: number;
      readonly clear: number;
    };

type Listener = (event: MediaEvent) => void;

/** A socket whose other end is in this process. */
class Socket implements MediaSocket {
  readyState = 1;
  bufferedAmount = 0;
  readonly listeners = new Map<string, Set<Listener>>();
  onSend: (message: string) => void = () => {};

  send(message: string | Uint8Array): void {
    this.onSend(String(message));
  }

  close(): void {
    this.readyState = 3;
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener));
  }

  removeEventListener(type: string, listener: Listener): void {
    this.listeners.get(type)?.delete(listener);
  }

  emit(data: string): void {
    for (const listener of this.listeners.get("message") ?? []) listener({ type: "message", data });
  }
}

const agent: Agent = openaiRealtime({ apiKey: "sk-key", greeting: false });
const tick = () => new Promise((resolve) => setTimeout(resolve));
const base64 = (bytes: number) => Buffer.alloc(bytes, 0x5a).toString("base64");

const media = (audio_b64: string) =>
  JSON.stringify({ type: "audio", stream_id: "st_1", message_id: 2, data: { audio_b64 } });
const delta = (response: number, audio: string) =>
  JSON.stringify({
    type: "response.output_audio.delta",
    event_id: "event_1",
    response_id: `resp_${response}`,
    item_id: `item_${response}`,
    output_index: 0,
    content_index: 0,
    delta: audio,
  });
const speechStarted = JSON.stringify({ type: "input_audio_buffer.speech_started", item_id: "i" });

/** A talk on two sockets of this process, as far as both sides are ready. */
const talking = async (sample_rate: number) => {
  const [line, mind] = [new Socket(), new Socket()];
  const talk: Talk = connectAgent(line, agent, { open: () => mind });
  const data = { encoding: "audio/l16", sample_rate, channels: 1 };
  const ids = { account_id: "acc_1", call_id: "cs_1", stream_id: "st_1", message_id: 1 };
  line.emit(JSON.stringify({ type: "start", ...ids, data }));
  await tick();
  mind.emit(JSON.stringify({ type: "session.updated", session: { type: "realtime" } }));
  return { line, mind, talk };
};

const timesOf = (times: readonly number[]): FrameTimes => {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (part: number) => 1000 * (sorted[Math.floor(sorted.length * part)] ?? Number.NaN);
  return { p50: at(0.5), p99: at(0.99) };
};

/** One 20 ms frame of the callee to the agent, and one of the agent into the player. */
const frames = async (sample_rate: number, count: number): Promise<FrameTimes> => {
  const { line, mind, talk } = await talking(sample_rate);
  const said = media(base64(sample_rate / 25));
  const spoken = base64(sample_rate === 8000 ? 160 : 960);
  const times: number[] = [];
  for (let at = 0; at < count; at++) {
    const message = delta(Math.floor(at / 50), spoken);
    const began = performance.now();
    line.emit(said);
    mind.emit(message);
    times.push(performance.now() - began);
    if (at % 50 === 49) mind.emit(speechStarted);
    if (at % 500 === 499) await tick();
  }
  talk.close();
  return timesOf(times.slice(count / 2));
};

/** The same two frames through a relay that does nothing but put the audio into the other's message. */
const relayed = (count: number): FrameTimes => {
  const said = media(base64(320));
  const message = delta(1, base64(160));
  const times: number[] = [];
  let length = 0;
  for (let at = 0; at < count; at++) {
    const began = performance.now();
    const audio = JSON.parse(said).data.audio_b64;
    length += JSON.stringify({ type: "input_audio_buffer.append", audio }).length;
    const audio_b64 = JSON.parse(message).delta;
    length += JSON.stringify({ type: "audio", audio_b64, chunk_id: "1" }).length;
    times.push(performance.now() - began);
  }
  if (length === 0) throw new Error("nothing was relayed");
  return timesOf(times.slice(count / 2));
};

/** So many calls at once: how late their messages are, beside the moment that they are due. */
const crowd = async (count: number, seconds: number) => {
  const late: number[] = [];
  let silent = 0;
  const callers = await Promise.all(Array.from({ length: count }, () => talking(8000)));
  const said = media(base64(320));
  const spoken = base64(800);
  const before = process.cpuUsage();
  const timers = callers.map(({ line, mind }) => {
    let until = 0;
    line.onSend = (message) => {
      const now = performance.now();
      const ms = (JSON.parse(message).audio_b64.length * 3) / 4 / 16;
      if (until > 0) late.push(Math.max(0, now - (until - 500)));
      if (until > 0 && now > until) silent++;
      until = Math.max(now, until) + ms;
    };
    // 20 ms of the callee; and of the agent five times as fast as it is spoken, as models are.
    let left = (seconds + 2) * 10;
    return setInterval(() => {
      line.emit(said);
      if (left-- > 0) mind.emit(delta(1, spoken));
    }, 20);
  });
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  for (const timer of timers) clearInterval(timer);
  const { user, system } = process.cpuUsage(before);
  for (const { talk } of callers) talk.close();
  const steady = late.slice(Math.floor(late.length / 3)).toSorted((one, other) => one - other);
  const p99 = steady[Math.floor(steady.length * 0.99)] ?? Number.NaN;
  return { calls: count, p99, silent, cpu: (user + system) / 1e4 / seconds };
};

const { gc } = globalThis as { gc?: () => void };

/** What stays after many calls, each of which hears, speaks and is interrupted. */
const afterwards = async (count: number) => {
  const heapNow = async () => {
    for (let times = 0; times < 4; times++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      gc?.();
    }
    return process.memoryUsage().heapUsed;
  };
  let listeners = 0;
  const one = async () => {
    const { line, mind, talk } = await talking(8000);
    for (let at = 0; at < 20; at++) {
      line.emit(media(base64(320)));
      mind.emit(delta(1, base64(800)));
    }
    mind.emit(speechStarted);
    talk.close();
    await talk.ended;
    for (const { size } of [...line.listeners.values(), ...mind.listeners.values()]) {
      listeners += size;
    }
  };
  for (let at = 0; at < count / 5; at++) await one();
  const timersBefore = process.getActiveResourcesInfo().filter((name) => name === "Timeout");
  const before = await heapNow();
  for (let at = 0; at < count; at++) await one();
  const heap = (await heapNow()) - before;
  const timers = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  return { heap: heap / count, timers: timers - timersBefore.length, listeners };
};

/** Calls in which somebody interrupts, against what the emulator's telephone played. */
const interrupted = async (count: number) => {
  const apart: number[] = [];
  let over = 0;
  let after = 0;
  let clear = 0;
  for (let round = 0; round < count; round++) {
    const server = await serveOpenai({ answers: [6000], late: 5 });
    const agent = openaiRealtime({ apiKey: "sk-key", url: server.url });
    const { audio, end, sent } = await call(agent, {
      emulator: {
        callee: [
          { type: "listen", ms: 300 + ((round * 137) % 1500) },
          { type: "tone", hertz: 300, ms: 300 },
          { type: "silence", ms: 400 },
          { type: "hangup" },
        ],
      },
    });
    const until = audio.cuts[0]?.at_ms ?? Number.NaN;
    const pieces = audio.heard.filter(({ from_ms }) => from_ms <= until);
    const ms = (key: "samples" | "of") =>
      pieces.reduce((sum, piece) => sum + (piece[key] / piece.sample_rate) * 1000, 0);
    const [truncation] = (server.peers[0]?.received ?? []).filter(
      (message) => Object(message).type === "conversation.item.truncate",
    );
    const { audio_end_ms } = Object(truncation);
    apart.push(Math.abs(audio_end_ms - ms("samples")));
    if (audio_end_ms > ms("of")) over++;
    const cleared = sent.findIndex(({ type }) => type === "clear");
    after += sent.slice(cleared + 1).filter(({ type }) => type === "audio").length;
    after += audio.heard.filter(({ from_ms, samples }) => from_ms > until && samples > 0).length;
    clear = Math.max(clear, end.metrics.interruptions.slowest);
    await server.close();
  }
  return { apart, over, after, clear };
};

const [, , what = "", count = "0"] = process.argv;
const work: Readonly<Record<string, () => Promise<AgentsTold>>> = {
  frames: async () => ({
    relay: relayed(Number(count)),
    pcm8: await frames(8000, Number(count)),
    pcm16: await frames(16_000, Number(count)),
  }),
  crowd: () => crowd(Number(count), 6),
  afterwards: () => afterwards(Number(count)),
  interrupted: () => interrupted(Number(count)),
};
console.log(JSON.stringify(await work[what]?.()));
process.exit();
