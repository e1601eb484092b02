import { checkOptions, durationRule } from "../../lib/rules.ts";
import { createTimers } from "../../lib/timers.ts";
import type { AgentSession } from "../agent-session.ts";
import { createBeepDetector, createSteadiness } from "../audio/beep.ts";
import { wordsPause } from "../inbound.ts";
import { internalsOf, listenTo, sessionParts } from "../session-parts.ts";

/** The options of `greetingEnded`. */
export interface GreetingOptions {
  /**
   * Milliseconds of silence after which the greeting has ended without a beep.
   *
   * @defaultValue 2500
   */
  readonly silence?: number | undefined;
  /**
   * Milliseconds after which nobody waits any longer.
   *
   * @defaultValue 30 000
   */
  readonly timeout?: number | undefined;
}

/**
 * How a greeting has ended: with a beep; with silence; not in time; because a person speaks; or because the call has
 * ended.
 */
export type GreetingEnd = "beep" | "silence" | "timeout" | "person" | "ended";

/** Quiet after a beep, in ms: else it was a melody. */
const afterBeep = 100;

/** Quiet after another sound of a machine, in ms: a person would say more. */
const afterSound = 2000;

/** What a person says who waits: so many ms, after so much quiet, and with as much quiet after it. */
const minPhrase = 150;
const maxPhrase = 1000;
const quietAround = 800;

/**
 * Waits until the greeting of a voicemail has ended: by its beep, or by silence. Meanwhile the agent gets silence, and
 * nothing is said. One sine of 350 to 2200 Hz for 120 ms or more is a beep, and so is any other sound of a machine after
 * which the line is quiet for 2 s: its level never moves, or it is one sine at a time. Short words of at most a second
 * between two silences, also of a silence that began before, are a person's who waits for an answer, unless something
 * longer was said before them.
 *
 * @param session - a session of `connectAgent`
 * @param options - `silence` (2500) and `timeout` (30 000), in ms
 * @throws {BadParametersException} (the promise rejects, `placed: "no"`) when an option breaks its rule
 *
 * @example A message of your own after the beep
 * ```ts
 * import { greetingEnded, type Tool } from "outdial/agents";
 *
 * const leave_message: Tool = {
 *   description: "Call it once you hear a voicemail greeting, and say nothing. Never for a person.",
 *   timeout: 90_000,
 *   run: async (_, { session }) => {
 *     const end = await greetingEnded(session, { silence: 2_500 });
 *     if (end === "person") return "That was a person: answer them.";
 *     await session.reply("Say that Ann of Acme asks them to call back.", { interruptible: false });
 *     await session.leave("message_left");
 *   },
 * };
 * console.log(leave_message.timeout); // 90000
 * ```
 * @see docs/agents.md
 */
export const greetingEnded = async (
  session: AgentSession,
  options: GreetingOptions = {},
): Promise<GreetingEnd> => {
  checkOptions<GreetingOptions>(options, { silence: durationRule, timeout: durationRule });
  const { silence = 2500, timeout = 30_000 } = options;
  const internals = internalsOf(session);
  // In a process that was held up, what came meanwhile is processed before a timer ends.
  const { now, set, clear, stop } = createTimers(internals[sessionParts].clock);
  const end = await internals[listenTo]<GreetingEnd>((resolve, sampleRate, words) => {
    const beepIn = createBeepDetector(sampleRate);
    /** When somebody was audible last, for how long they speak, and after how much quiet: also before this has begun. */
    let { at: soundAt, quiet } = words;
    let spoken = now() - words.from;
    let isGreeting = false;
    let isPaused = false;
    /** Whether the last sound has come from its beginning on. */
    let isWhole = false;
    const pauseAt = (at: number) =>
      set("pause", Math.max(0, at - now()), () => {
        isPaused = true;
      });
    pauseAt(soundAt + wordsPause);
    let steadiness = createSteadiness(sampleRate);
    /** Frames of sound in a row, and the last one of them. */
    let frames = 0;
    let last = new Int16Array();
    set("timeout", timeout, () => resolve("timeout"));
    set("silence", silence, () => resolve("silence"));
    return (audio, isSound) => {
      const samples = new Int16Array(audio.slice().buffer);
      const beep = beepIn(samples);
      // By its audio: in a process that was held up, all of it comes at once.
      spoken += (audio.length * 500) / sampleRate;
      if (isSound) {
        const at = now();
        if (isPaused) {
          [quiet, spoken, isWhole] = [at - soundAt, 0, true];
          steadiness = createSteadiness(sampleRate);
        }
        // Without the first frame and the last one, in which it isn't audible all the time.
        if (++frames > 2) steadiness.push(last, frames === 3);
        last = samples;
        [soundAt, isPaused] = [at, false];
        const [ms, before] = [spoken, quiet];
        isGreeting ||= ms > maxPhrase;
        clear("beep");
        pauseAt(at + wordsPause);
        set("silence", silence, () => resolve("silence"));
        set("person", quietAround, () => {
          const isPhrase = ms >= minPhrase && before >= quietAround && !isGreeting;
          if (isPhrase && !steadiness.isSteady(isWhole)) resolve("person");
        });
        set("sound", afterSound, () => {
          if (steadiness.isSteady(isWhole)) resolve("beep");
        });
      } else frames = 0;
      if (beep) clear("person");
      if (beep === "ended") set("beep", afterBeep, () => resolve("beep"));
    };
  });
  stop();
  return end ?? "ended";
};
