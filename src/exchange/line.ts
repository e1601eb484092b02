import type { Call } from "../emulator/call.ts";
import { callLine, type LineEnds, SecondLeg } from "../emulator/call-line.ts";
import type { Playout } from "../emulator/recording/playout.ts";
import { sampleAt, tone } from "../emulator/recording/track.ts";
import type { FlowParts } from "../emulator/simulated-line.ts";
import {
  type Dialled,
  type Dialling,
  type FailureReason,
  FlowError,
  type Line,
  type MediaSource,
  type Sound,
} from "../performer/line.ts";
import { messageOf } from "../server/outgoing.ts";
import type { AriClient } from "./ari.ts";
import { type Calling, callTelephone, pressKeys } from "./channel.ts";
import type { Connection } from "./connection.ts";
import { whoAnswered } from "./machine.ts";
import { frameDuration, lineRate } from "./media.ts";
import { readSound } from "./sounds.ts";

/** What the lines of an exchange share. */
export interface Exchange {
  readonly ari: AriClient;
  /** Asterisk's name for whom it calls; `undefined` for whom it can't reach. */
  readonly endpoint: (to: string) => string | undefined;
  /**
   * The samples of a text, at the rate of a telephone.
   *
   * @param number - who hears it
   * @throws {TypeError} when it can't be spoken
   */
  readonly speak: (text: string, number: string) => Promise<Int16Array>;
  /** Why a second telephone isn't called, as the end of a sentence; `undefined` where it is. */
  readonly refusalOf?: (call: Call, to: string) => string | undefined;
}

/** Plays samples until they have left for the telephone. */
type PlaySamples = (samples: Int16Array, times: number, continues: () => boolean) => Promise<void>;

/** How long a second telephone may stay connected, in milliseconds: it ends with its call, or is hung up at a start. */
const longestLeg = 4 * 3_600_000;

/** What the callee hears while another telephone rings: a plain tone, and then quiet. Times are in milliseconds. */
const ringingTone = { hertz: 425, duration: 1_000, pause: 4_000 } as const;

/** How much of a file is played, in bytes. */
const mediaLimit = 16 * 2 ** 20;

/**
 * Fetches and decodes some media.
 *
 * @throws {FlowError} when there is none, or it can't be played
 */
const loadMedia = async (
  call: Call,
  { step, field, url, headers, code }: MediaSource,
  signal: AbortSignal,
  request: FlowParts["request"],
): Promise<Int16Array> => {
  const rules = { limit: mediaLimit, redirects: "any", reach: call.reach, signal } as const;
  call.warnOfPlain(url);
  const { response, body, error } = await request(
    url,
    { headers: { ...(await headers?.()) } },
    rules,
  );
  if (signal.aborted) return new Int16Array();
  if (!response || !body) throw new FlowError(step, field, `gave no answer: ${error}`, code);
  if (!response.ok) throw new FlowError(step, field, `answered HTTP ${response.status}`, code);
  if (!body.isWhole) throw new FlowError(step, field, "is larger than 16 MiB", code);
  return readSound(body.bytes).catch((failure) => {
    throw new FlowError(step, field, messageOf(failure), code);
  });
};

/** The line of one answered call of an exchange. */
class ExchangeLine {
  readonly #call: Call;
  readonly #parts: FlowParts;
  readonly #exchange: Exchange;
  readonly #connection: Promise<Connection>;
  #legs = 0;

  constructor(call: Call, parts: FlowParts, exchange: Exchange, connection: Promise<Connection>) {
    this.#call = call;
    this.#parts = parts;
    this.#exchange = exchange;
    this.#connection = connection;
  }

  ends(wait: Line["waitUntil"]): LineEnds {
    const play = this.#player(wait);
    return {
      recognizesSpeech: false,
      media: () => this.#connection,
      asks: () => {},
      load: (part, signal, times = 1) => this.#load(part, signal, times, wait, play),
      dial: (dialling) => this.#dial(dialling, wait),
      whoAnswered: async () => whoAnswered(this.#call, await this.#connection, wait),
      join: async ({ step }) => {
        throw new FlowError(step, "conference", "is not possible on this exchange");
      },
    };
  }

  async #load(
    part: Parameters<Line["load"]>[0],
    signal: AbortSignal,
    times: number,
    wait: Line["waitUntil"],
    play: PlaySamples,
  ): Promise<Sound> {
    const call = this.#call;
    const sound = (samples: Int16Array): Sound => ({
      duration: (times * samples.length * 1_000) / lineRate,
      play: (continues) => play(samples, times, continues),
    });
    switch (part.type) {
      case "text":
        return sound(await this.#exchange.speak(part.text, call.params.to_number));
      case "media":
        return sound(await loadMedia(call, part.source, signal, this.#parts.request));
      case "tone":
        return sound(tone(part.hertz, lineRate, 0, sampleAt(part.ms, lineRate)));
      case "pause":
        return this.#silence(times * part.ms, wait);
      case "keys": {
        const { keys, keyMs } = part;
        const press = () => pressKeys(this.#exchange.ari, call.id, keys, keyMs);
        return this.#silence(keys.length * keyMs, wait, press);
      }
    }
  }

  #silence(duration: number, wait: Line["waitUntil"], begin = () => {}): Sound {
    return {
      duration,
      play: (continues) => {
        begin();
        return wait(this.#call.talkTime + duration, continues);
      },
    };
  }

  /** What plays on one timeline: what is played beside it is no part of its queue. */
  #player(wait: Line["waitUntil"]): PlaySamples {
    const call = this.#call;
    let prompts: Playout | undefined;
    return async (samples, times, continues) => {
      const connection = await this.#connection;
      // It lasts as long as the call at most, so all of it is kept.
      prompts ??= call.recording.open(lineRate, { left: Number.POSITIVE_INFINITY });
      const playout = prompts;
      const position = () => sampleAt(connection.position, lineRate);
      const from = position();
      const total = times * samples.length;
      if (total === 0) return;
      for (let count = 0; count < times; count++) playout.enqueue(samples, undefined, from);
      const isWanted = () => continues() && !call.isOver;
      const isPlayed = () => playout.reached(from, total, position()) !== undefined;
      let until = call.talkTime + (total * 1_000) / lineRate + frameDuration;
      for (; isWanted() && !isPlayed(); until = call.talkTime + frameDuration) {
        await wait(until, isWanted);
      }
      if (isPlayed()) await wait(call.talkTime + connection.latency, isWanted);
      else playout.clear(position());
    };
  }

  /** Plays a ringing tone until the returned function is called. */
  #playRinging(connection: Connection, duration: number): () => void {
    const position = () => sampleAt(connection.position, lineRate);
    const from = position();
    const playout = this.#call.recording.open(lineRate, { left: Number.POSITIVE_INFINITY });
    const period = ringingTone.duration + ringingTone.pause;
    const samples = new Int16Array(sampleAt(period, lineRate));
    samples.set(tone(ringingTone.hertz, lineRate, 0, sampleAt(ringingTone.duration, lineRate)));
    for (let at = 0; at < duration; at += period) playout.enqueue(samples, undefined, from);
    return () => playout.clear(position());
  }

  /**
   * Rings telephones at once, until one is answered: the others stop ringing then.
   *
   * @returns the channel of the one that is answered, or why the first wasn't
   */
  async #ring(
    endpoints: ReadonlyMap<string, string>,
    { answerTimeout }: Pick<Dialling, "answerTimeout">,
    leg: SecondLeg,
    { signal, onRing, onEnd }: Pick<Calling, "signal" | "onRing"> & { readonly onEnd: () => void },
  ): Promise<{ readonly channel: string } | { readonly reason: FailureReason }> {
    const { ari } = this.#exchange;
    let answered: string | undefined;
    const ringing = new AbortController();
    const ring = async (to: string, endpoint: string): Promise<FailureReason | undefined> => {
      const id = `${this.#call.id}_${++this.#legs}`;
      const own = new AbortController();
      const end = () => own.abort();
      const cancel = () => answered !== id && end();
      signal.addEventListener("abort", end);
      ringing.signal.addEventListener("abort", cancel);
      const reason = await callTelephone(ari, {
        id,
        endpoint,
        callerId: this.#call.params.from_number,
        answerTimeout,
        signal: own.signal,
        lifetime: answerTimeout + longestLeg,
        onRing,
        onKey: () => {},
        onEnd: () => answered === id && onEnd(),
      });
      // Nobody saw how it ended: nobody is there.
      if (reason === "lost") return "unreachable";
      if (reason) return reason;
      if (answered !== undefined) end();
      else {
        answered = id;
        leg.to = to;
        ringing.abort();
      }
      return;
    };
    const [reason = "unreachable"] = await Promise.all(
      [...endpoints].map(([to, endpoint]) => ring(to, endpoint)),
    );
    return answered === undefined ? { reason } : { channel: answered };
  }

  /** Calls another telephone, and connects the two. */
  async #dial(dialling: Dialling, wait: Line["waitUntil"]): Promise<Dialled> {
    const { step, to, others = [], record, signal } = dialling;
    const { maxDuration = Number.POSITIVE_INFINITY } = dialling;
    const call = this.#call;
    const { ari, endpoint } = this.#exchange;
    const endpoints = new Map<string, string>();
    for (const each of [to, ...others]) {
      const name = endpoint(each);
      if (name === undefined) {
        const kind = /^[a-z]+:/i.exec(each)?.[0] ?? "a number";
        throw new FlowError(step, "dial", `calls ${kind} which this exchange doesn't reach`);
      }
      const refusal = this.#exchange.refusalOf?.(call, each);
      if (refusal !== undefined) throw new FlowError(step, "dial", refusal);
      endpoints.set(each, name);
    }
    const leg = new SecondLeg(call, dialling);
    const ending = new AbortController();
    const end = () => ending.abort();
    signal.addEventListener("abort", end);
    const hungUp = () => {
      leg.transition("normal");
      call.timeline.skip();
    };
    let stopRinging = () => {};
    try {
      const first = await this.#connection;
      const onRing = () => {
        if (leg.transition("ring")) stopRinging = this.#playRinging(first, dialling.answerTimeout);
      };
      const parts = { signal: ending.signal, onRing, onEnd: hungUp };
      const rung = await this.#ring(endpoints, dialling, leg, parts).finally(() => stopRinging());
      if ("reason" in rung) {
        leg.transition(rung.reason);
        return { reason: leg.reason };
      }
      leg.transition("answer");
      const from = call.talkTime;
      if (!record) call.recording.pause(from);
      // Where Asterisk gives no answer any more, the call itself is lost.
      const gone = () => {
        ari.request("GET", `/channels/${rung.channel}`).then(hungUp, () => {});
      };
      const disconnect = await first.join(ari, rung.channel, gone);
      await wait(from + maxDuration, () => !signal.aborted && leg.state === "answered");
      disconnect();
      leg.transition("normal");
      if (!record) call.recording.resume(call.talkTime);
      return { reason: leg.reason, talkTime: call.talkTime - from };
    } finally {
      signal.removeEventListener("abort", end);
      ending.abort();
    }
  }
}

/** The line of an answered call of an exchange. */
export const exchangeLine = (
  call: Call,
  parts: FlowParts,
  exchange: Exchange,
  connection: Promise<Connection>,
): Line => {
  const line = new ExchangeLine(call, parts, exchange, connection);
  return callLine(call, parts, (_, wait) => line.ends(wait));
};
