// A process that measures one contender, prints one line of JSON, and ends.
import process from "node:process";
import { decodeMulaw } from "../../../src/lib/mulaw.ts";
import {
  type Contender,
  created,
  delta,
  ours,
  relay,
  speechStarted,
  theirs,
  tick,
} from "./contenders.ts";
import { type Interrupted, interruptedOurs, interruptedTheirs } from "./interruptions.ts";

/** The median and the 99th percentile, in µs. */
export interface Times {
  readonly p50: number;
  readonly p99: number;
}

const timesOf = (times: readonly number[]): Times => {
  const sorted = times.toSorted((one, other) => one - other);
  const at = (part: number) => 1000 * (sorted[Math.floor(sorted.length * part)] ?? Number.NaN);
  return { p50: at(0.5), p99: at(0.99) };
};

/** The times of frames and interruptions. */
export interface FrameTimes {
  /** 20 ms of the callee to the agent, and 20 ms of the agent to the callee. */
  readonly frame: Times;
  /** From the agent's message that the callee speaks to the `clear` that is written. */
  readonly clear: Times;
  /** Interruptions whose `clear` was written in a later turn of the event loop. */
  readonly later: number;
}

/** Frames of a response, after which the callee interrupts. */
const framesOfResponse = 50;

/** Sends frames each way, one after the other; the first half warms up. */
const frames = async (
  { connect, calleeAudio, isClear }: Contender,
  sample_rate: 8000 | 16000,
  count: number,
): Promise<FrameTimes> => {
  const { callSocket, agentSocket, close } = await connect(sample_rate);
  const spoken = calleeAudio(sample_rate);
  const times: number[] = [];
  const clears: number[] = [];
  let cleared = 0;
  let later = 0;
  callSocket.onSend = (message) => {
    if (isClear(message)) cleared = performance.now();
  };
  for (let at = 0; at < count; at++) {
    const which = Math.floor(at / framesOfResponse);
    if (at % framesOfResponse === 0) agentSocket.emit(created(which));
    const message = delta(which, 20, sample_rate);
    const began = performance.now();
    callSocket.emit(spoken);
    agentSocket.emit(message);
    times.push(performance.now() - began);
    if (at % framesOfResponse < framesOfResponse - 1) continue;
    cleared = 0;
    const read = performance.now();
    agentSocket.emit(speechStarted);
    if (cleared === 0) later++;
    clears.push(cleared - read);
    if (at % 500 === 499) await tick();
  }
  await close();
  const half = <T>(all: readonly T[]) => all.slice(all.length / 2);
  return { frame: timesOf(half(times)), clear: timesOf(half(clears)), later };
};

/** Frames of 20 ms, and how many of them were lost or out of order. */
interface Lost {
  readonly frames: number;
  readonly lost: number;
}

/** Codes of μ-law with different samples. */
const codes: readonly number[] = Array.from({ length: 250 }, (_, code) => code).filter(
  (code) => code !== 0x7f,
);

const codeOf = (frame: number): number => codes[frame % codes.length] ?? 0;

/** How many of the received frames differ from those that were sent. */
const differing = (sent: Buffer, received: Buffer, frame: number): number => {
  let count = 0;
  for (let at = 0; at < sent.length; at += frame) {
    if (!sent.subarray(at, at + frame).equals(received.subarray(at, at + frame))) count++;
  }
  return count;
};

/** Sends frames that differ from each other, both ways at once, and compares them with those received. */
const lost = async ({ connect }: Contender, frames: number): Promise<Lost> => {
  const { callSocket, agentSocket, close } = await connect(8000);
  const toAgent: string[] = [];
  const toCallee: string[] = [];
  agentSocket.onSend = (message) => toAgent.push(JSON.parse(message).audio ?? "");
  callSocket.onSend = (message) => toCallee.push(JSON.parse(message).audio_b64 ?? "");
  const ulaw = Buffer.concat(
    Array.from({ length: frames }, (_, frame) => Buffer.alloc(160, codeOf(frame))),
  );
  const pcm = Buffer.from(decodeMulaw(ulaw).buffer);
  const ids = { response_id: "resp_1", item_id: "item_1", output_index: 0, content_index: 0 };
  for (let frame = 0; frame < frames; frame++) {
    const audio_b64 = pcm.subarray(frame * 320, frame * 320 + 320).toString("base64");
    callSocket.emit(
      JSON.stringify({ type: "audio", stream_id: "st_1", message_id: 2, data: { audio_b64 } }),
    );
    const delta = ulaw.subarray(frame * 160, frame * 160 + 160).toString("base64");
    agentSocket.emit(JSON.stringify({ type: "response.output_audio.delta", ...ids, delta }));
  }
  agentSocket.emit(
    JSON.stringify({ type: "response.done", response: { id: "resp_1", status: "completed" } }),
  );
  await new Promise((resolve) => setTimeout(resolve, frames * 20));
  const joined = (texts: readonly string[]) =>
    Buffer.concat(texts.map((text) => Buffer.from(text, "base64")));
  const missing = differing(ulaw, joined(toAgent), 160) + differing(pcm, joined(toCallee), 320);
  await close();
  return { frames: frames * 2, lost: missing };
};

/** Many calls at once in one process. */
export interface Crowd {
  readonly calls: number;
  /** How late a 20 ms frame of the callee is with the agent, at p99, in ms. */
  readonly p99: number;
  /** How often a call was silent within a response. */
  readonly silent: number;
  /** Percent of one core. */
  readonly cpu: number;
}

/** Milliseconds of a frame. */
const frame = 20;

/** Frames after which the network and the timers run. */
const batch = 50;

/** Messages of a response, 100 ms each, five times as fast as they are played. */
const deltas = 60;

/**
 * Runs many calls at once. Their frames are spread over the 20 ms, like those of calls that began at different
 * moments. A frame is late by the time since it was due.
 */
const crowd = async (
  { connect, calleeAudio, msOf }: Contender,
  calls: number,
  seconds: number,
): Promise<Crowd> => {
  const late: number[] = [];
  let silent = 0;
  const spoken = calleeAudio(8000);
  const audio = delta(1, 100, 8000);
  const all = await Promise.all(
    Array.from({ length: calls }, async () => {
      const connection = await connect(8000);
      let left = deltas;
      let until = 0;
      let due = 0;
      connection.callSocket.onSend = (message) => {
        const ms = msOf(message);
        if (ms === 0) return;
        const now = performance.now();
        if (until > 0 && now > until) silent++;
        until = Math.max(now, until) + ms;
      };
      connection.agentSocket.onSend = () => {
        if (due > 0) late.push(performance.now() - due);
      };
      connection.agentSocket.emit(created(1));
      const next = (at: number): void => {
        due = at;
        connection.callSocket.emit(spoken);
        due = 0;
        if (left-- > 0) connection.agentSocket.emit(audio);
      };
      return { ...connection, next };
    }),
  );
  const before = process.cpuUsage();
  const began = performance.now();
  const count = (calls * seconds * 1000) / frame;
  await new Promise<void>((resolve) => {
    let sent = 0;
    const step = (): void => {
      const last = Math.min(count, sent + batch);
      for (; sent < last; sent++) {
        const due = began + (sent * frame) / calls;
        if (due > performance.now()) break;
        all[sent % calls]?.next(due);
      }
      if (sent === count) resolve();
      else if (sent === last) setImmediate(step);
      else setTimeout(step, 1);
    };
    step();
  });
  const { user, system } = process.cpuUsage(before);
  for (const { close } of all) await close();
  const steady = late.slice(Math.floor(late.length / 3)).toSorted((one, other) => one - other);
  const p99 = steady[Math.floor(steady.length * 0.99)] ?? Number.NaN;
  return { calls, p99, silent, cpu: (user + system) / 1e4 / seconds };
};

/** What is left after many calls. */
export interface Remains {
  /** Bytes a call. */
  readonly heap: number;
  readonly timers: number;
  readonly listeners: number;
  /** Sockets that weren't closed. */
  readonly sockets: number;
}

const { gc } = globalThis as { gc?: () => void };

const heapNow = async (): Promise<number> => {
  for (let times = 0; times < 4; times++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    gc?.();
  }
  return process.memoryUsage().heapUsed;
};

const timersNow = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

/** Counts what remains of calls with audio both ways, an interruption and an end. */
const afterwards = async ({ connect, calleeAudio }: Contender, count: number): Promise<Remains> => {
  let listeners = 0;
  let sockets = 0;
  const one = async () => {
    const { callSocket, agentSocket, close } = await connect(8000);
    agentSocket.emit(created(1));
    for (let at = 0; at < 20; at++) {
      callSocket.emit(calleeAudio(8000));
      agentSocket.emit(delta(1, 100, 8000));
    }
    agentSocket.emit(speechStarted);
    await close();
    await tick();
    listeners += callSocket.listeners + agentSocket.listeners;
    sockets += [callSocket, agentSocket].filter(({ readyState }) => readyState < 2).length;
  };
  for (let at = 0; at < count / 5; at++) await one();
  [listeners, sockets] = [0, 0];
  const timersBefore = timersNow();
  const before = await heapNow();
  for (let at = 0; at < count; at++) await one();
  const heap = ((await heapNow()) - before) / count;
  return { heap, timers: timersNow() - timersBefore, listeners, sockets };
};

/** What each piece of work measures, by the name that selects it. */
export interface Work {
  readonly frames: FrameTimes;
  readonly "frames-16k": FrameTimes;
  readonly lost: Lost;
  readonly crowd: Crowd;
  readonly afterwards: Remains;
  readonly interrupted: Interrupted;
}

const contenders: Readonly<Record<string, Contender>> = { ours, theirs, relay };
const [, , what = "", who = "", number = "0", seconds = "6"] = process.argv;
const contender = contenders[who] ?? ours;
const count = Number(number);
const work: { readonly [What in keyof Work]: () => Promise<Work[What]> } = {
  frames: () => frames(contender, 8000, count),
  "frames-16k": () => frames(contender, 16_000, count),
  lost: () => lost(contender, count),
  crowd: () => crowd(contender, count, Number(seconds)),
  afterwards: () => afterwards(contender, count),
  interrupted: () => (contender === theirs ? interruptedTheirs(count) : interruptedOurs(count)),
};
console.log(JSON.stringify(await work[what as keyof Work]?.()));
process.exit();
