import { fail, isText } from "../../lib/check.ts";
import { booleanRule, checkOptions, durationRule, textRule } from "../../lib/rules.ts";
import type { Tool } from "../agent.ts";
import type { AgentSession, Spoken } from "../agent-session.ts";
import { ownAudioOf } from "../own-audio.ts";
import { internalsOf, sessionParts } from "../session-parts.ts";
import { refusal } from "../tools.ts";
import { type GreetingOptions, greetingEnded } from "./greeting-ended.ts";

/** The options of `leaveVoicemail`: a `message` for the agent to say, or `audio`. */
export interface VoicemailOptions extends GreetingOptions {
  /** What is said: word for word where the agent can `say`, else in about these words. */
  readonly message?: string | undefined;
  /** The message as mono 16-bit samples, or their little-endian bytes, in the place of the agent's voice. */
  readonly audio?: Int16Array | Uint8Array | undefined;
  /** Samples per second of the audio. */
  readonly sampleRate?: number | undefined;
  /**
   * Whether the session's `opening` is said again first: a recording must have the disclosure, too.
   *
   * @defaultValue `true`
   */
  readonly repeatOpening?: boolean | undefined;
}

/** The callee can't cut it off: the message is left whole. */
const whole = { interruptible: false } as const;

/** Says a text as exactly as the agent can. */
const sayText = (session: AgentSession, text: string): Promise<Spoken> =>
  session
    .say(text, whole)
    .catch(() => session.reply(`Leave this message now, and say nothing else: ${text}`, whole));

/**
 * A tool with which an agent leaves a message on a voicemail: it waits for the end of the greeting (`greetingEnded`), repeats the
 * session's `opening`, leaves the message, and leaves the call with the outcome `"message_left"`; `"no_beep"` or
 * `"message_failed"` if it can't. If a person speaks while it waits, the agent learns of that instead.
 *
 * @param options - `message`, or `audio` with its `sampleRate`
 * @throws {BadParametersException} (`placed: "no"`) when an option breaks its rule
 *
 * @example An agent that leaves a message
 * ```ts
 * import { leaveVoicemail, openaiRealtime } from "outdial/agents";
 *
 * const message = "This is Ann of Acme. Please call us back.";
 * const tools = { leave_voicemail: leaveVoicemail({ message }) };
 * const agent = openaiRealtime({ apiKey: "sk-key", instructions: "You remind of bills.", tools });
 * console.log(agent.name); // openai
 * ```
 * @see docs/agents.md
 */
export const leaveVoicemail = (options: VoicemailOptions): Tool => {
  checkOptions<VoicemailOptions>(options, {
    message: textRule,
    audio: [
      (value) => value instanceof Int16Array || value instanceof Uint8Array,
      "must be an Int16Array or a Uint8Array",
    ],
    sampleRate: [Number.isInteger, "must be a whole number"],
    repeatOpening: booleanRule,
    silence: durationRule,
    timeout: durationRule,
  });
  const { message, audio, sampleRate = 0, repeatOpening = true, silence, timeout } = options;
  if (!(isText(message) && message) && !audio) fail("message", "is missing, and so is audio");
  if (audio) ownAudioOf(audio, sampleRate);
  /** Sessions in which it runs. */
  const running = new WeakSet<object>();

  const leave = async (session: AgentSession, signal: AbortSignal): Promise<unknown> => {
    // The line is silent all the same.
    const interrupt = () => session.interrupt().catch(() => {});
    await interrupt();
    // Who has cancelled the tool listens again.
    signal.addEventListener("abort", interrupt);
    const end = await greetingEnded(session, { silence, timeout });
    signal.removeEventListener("abort", interrupt);
    if (end === "person") {
      return refusal(
        signal,
        "A person speaks: this is no voicemail. Answer them, and ask who is there.",
      );
    }
    if (end === "ended" || signal.aborted) {
      return refusal(signal, "The wait was interrupted: no message was left.");
    }
    if (end === "timeout") return session.leave("no_beep", whole);
    const { opening } = internalsOf(session)[sessionParts];
    if (repeatOpening && opening?.audio) {
      await session.play(opening.audio, { sampleRate: opening.sampleRate ?? 0, ...whole });
    } else if (repeatOpening && opening?.text) await session.say(opening.text, whole);
    const said = await (audio
      ? session.play(audio, { sampleRate, text: message, ...whole })
      : sayText(session, message ?? ""));
    return session.leave(said === "played" ? "message_left" : "message_failed", whole);
  };

  return {
    description:
      "Leaves a message on a voicemail. Call it once you hear a recorded greeting that asks for a message, or a beep, and say " +
      "nothing. Never call it for a person, nor for an assistant that screens the call: tell a screener in one sentence " +
      "who calls and why, and wait.",
    timeout: 300_000,
    run: async (_, { session, signal }) => {
      const call = internalsOf(session)[sessionParts];
      if (running.has(call)) return "The message is being left.";
      running.add(call);
      try {
        return await leave(session, signal);
      } finally {
        running.delete(call);
      }
    },
  };
};
