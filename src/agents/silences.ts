import type { Playback } from "../flows/media/playback.ts";
import type { Timers } from "../lib/timers.ts";
import type { Connection } from "./connection.ts";

/** How often it is checked whether something has ended that is no silence, in ms. */
const interval = 250;

/** Less audible audio of the callee than this is no speech, in ms. */
const minSound = 100;

/** What silence is measured by. */
export interface IdleListener {
  /** When the callee has heard everything, by the clock. */
  readonly until: () => number;
  /** Whether somebody speaks, or something runs. */
  readonly isBusy: () => boolean;
  readonly onIdle: (count: number) => void;
}

/**
 * Counts the silences of both sides.
 *
 * @param timeout - milliseconds
 * @returns called when the callee is audible for so many ms, or has pressed a key
 */
export const createIdle = (
  timeout: number,
  timers: Timers,
  { until, isBusy, onIdle }: IdleListener,
): ((ms?: number) => void) => {
  let count = 0;
  let soundMs = 0;
  let since = timers.now();
  const idleAt = () => {
    if (!isBusy()) return Math.max(since, until()) + timeout;
    since = timers.now();
    return since + interval;
  };
  const begin = () => {
    timers.wait("idle", idleAt, () => {
      since = timers.now();
      onIdle(++count);
      begin();
    });
  };
  begin();
  return (ms = minSound) => {
    since = timers.now();
    soundMs += ms;
    if (soundMs >= minSound) count = soundMs = 0;
  };
};

/** The shortest speech of the callee after which a response is expected, in ms: a knock is shorter. */
const minSpeech = 500;

/** The longest that speech lasts whose end isn't reported, as a multiple of the limit. */
const maxSpeech = 4;

/** The longest pause within speech, where the agent doesn't report the end of speech, in ms. */
const betweenWords = 1000;

/** What a watchdog reads, and what it calls. */
export interface WatchdogListener {
  readonly playback: Playback;
  readonly connection: Connection;
  /** When what the callee hears of the agent ends or ended, by the clock. */
  readonly until: () => number;
  /** Whether a tool is running: until it has finished nothing can come. */
  readonly isBusy: () => boolean;
  readonly onSilent: () => void;
}

/** A response, to speech or only to a sound, or the answer to a probe. */
type Expectation = "nothing" | "response" | "sound" | "probe";

/** Ends a session whose agent is silent though it should speak. */
export interface Watchdog {
  /** A response is expected from now on, if it isn't already. */
  readonly expect: () => void;
  /** Audible audio or a tool call has come: what was expected. */
  readonly output: () => void;
  /** A response is complete; one that has failed or is empty was not what was expected. */
  readonly done: (isAnswer: boolean) => void;
  /** The agent has noticed that the callee speaks: a response is expected once they have finished. */
  readonly speech: () => void;
  /** The agent has noticed that the callee has finished. */
  readonly speechStopped: () => void;
  /** The agent has understood what the callee said, and reports no end of speech. */
  readonly transcript: () => void;
  /** A message of any kind has come: it answers a probe. */
  readonly message: () => void;
  /** The agent is there, and has found nothing to respond to. */
  readonly alive: () => void;
  /** A frame of the callee's audio in which somebody speaks. */
  readonly sound: (ms: number) => void;
}

/**
 * A response is expected at the start, and when the callee has spoken: the agent reports its end or a text of it, or
 * there was sound. Only audible audio and tool calls fulfil that. If their response then fails, the clock continues
 * where it was. Time in which the callee or the agent speaks doesn't count. Where a response is expected after mere
 * sound, which may be noise, an answered probe is enough.
 *
 * @param limit - milliseconds
 */
export const createWatchdog = (
  limit: number,
  timers: Timers,
  { playback, connection, until, isBusy, onSilent }: WatchdogListener,
): Watchdog => {
  const half = limit / 2;
  let expected: Expectation = "nothing";
  /** Milliseconds that count, and up to when. */
  let passed = 0;
  let countedUntil = timers.now();
  /** Milliseconds that had counted before the last output. */
  let passedBefore = 0;
  /** The callee speaks until then, and for how long after each sound, in ms. */
  let speechUntil = Number.NEGATIVE_INFINITY;
  let afterSound = 0;
  /** When the agent noticed speech last. */
  let noticedAt = 0;
  let soundMs = 0;

  const count = () => {
    const now = timers.now();
    if (expected === "nothing" && !playback.isOpen) passed = 0;
    else if (!isBusy()) passed += Math.max(0, now - Math.max(countedUntil, until(), speechUntil));
    countedUntil = now;
  };
  /** Half of the limit has passed since the callee made a sound. Returns whether the agent has a probe. */
  const probe = () => {
    const message = connection.read((codec) => codec.probe);
    if (message) connection.send("probe", () => [message]);
    return !!message;
  };
  const check = () => {
    count();
    if (passed >= limit) {
      onSilent();
      return;
    }
    if (passed >= half && expected === "sound" && probe()) expected = "probe";
    timers.set("silence", Math.ceil((passed < half ? half : limit) - passed), check);
  };
  const setSpeech = (milliseconds: number) => {
    count();
    afterSound = milliseconds;
    speechUntil = timers.now() + milliseconds;
  };
  const expect = (what: Expectation = "response", alreadyPassed = 0) => {
    if (expected === "response") return;
    count();
    expected = what;
    passed = alreadyPassed;
    check();
  };
  const expectNothing = () => {
    expected = "nothing";
    passed = soundMs = 0;
  };
  const alive = () => {
    if (expected !== "response") expectNothing();
  };
  check();
  return {
    alive,
    expect: () => expect(),
    output: () => {
      setSpeech(0);
      if (expected !== "nothing") passedBefore = passed;
      expectNothing();
    },
    done: (isAnswer) => {
      count();
      const before = passedBefore + passed;
      passedBefore = 0;
      if (!isAnswer) expect("response", before);
    },
    speech: () => {
      noticedAt = timers.now();
      setSpeech(half);
      expect();
    },
    speechStopped: () => {
      setSpeech(0);
      expect();
    },
    transcript: () => {
      // It may come late, or be of speech during the agent's own: then no response is expected.
      if (until() > timers.now()) return;
      setSpeech(betweenWords);
      expect();
    },
    message: () => {
      if (expected === "probe") expectNothing();
    },
    sound: (ms) => {
      // No response is expected to speech during the agent's own.
      const now = timers.now();
      if (until() > now) return;
      if (afterSound > 0 && now - noticedAt < maxSpeech * limit) setSpeech(afterSound);
      soundMs += ms;
      if (soundMs >= minSpeech) expect(afterSound > 0 ? "response" : "sound");
    },
  };
};
