import type { MediaStart } from "../../flows/media/messages.ts";
import { fieldsOf, isText } from "../../lib/check.ts";
import { checkOptions } from "../../lib/rules.ts";
import type { Tool } from "../agent.ts";
import type { AgentSession, Spoken } from "../agent-session.ts";
import { tonesOf } from "../audio/tones.ts";
import { internalsOf, playAtOnce } from "../session-parts.ts";
import { refusal } from "../tools.ts";

/** The options of `pressKeys`. */
export interface PressKeysOptions {
  /**
   * Which keys may be pressed at once: it must match all of them, from the first to the last.
   *
   * @defaultValue digits, `*`, `#` and `w`
   */
  readonly allow?: RegExp | undefined;
  /**
   * The most keys at once, 1 to 32.
   *
   * @defaultValue 32
   */
  readonly most?: number | undefined;
}

/** How long 32 keys may take, in ms: as tones, with pauses, up to 16 s. */
const keysTimeout = 60_000;

/**
 * A tool with which an agent presses keys in a telephone menu, by the option `press` of `connectAgent`.
 *
 * @param options - `allow` and `most`: what a model may press
 * @throws {BadParametersException} (`placed: "no"`) when an option breaks its rule
 *
 * @example An agent that finds its way through a menu
 * ```ts
 * import { connectAgent, openaiRealtime, pressKeys, tones } from "outdial/agents";
 * import type { MediaSocket } from "outdial/flows";
 *
 * const tools = { press_keys: pressKeys({ allow: /^[0-9#]+$/, most: 8 }) };
 * const instructions = "You reach a menu. Go to billing. Hear a whole menu before you press.";
 * const agent = openaiRealtime({ apiKey: "sk-key", instructions, greeting: false, tools });
 * const serve = (socket: MediaSocket) => connectAgent(socket, agent, { press: tones });
 * console.log(typeof serve); // function
 * ```
 * @see docs/agents.md
 */
export const pressKeys = (options: PressKeysOptions = {}): Tool => {
  checkOptions<PressKeysOptions>(options, {
    allow: [(value) => value instanceof RegExp, "must be a regular expression"],
    most: [
      (value) => Number.isInteger(value) && Number(value) > 0 && Number(value) <= 32,
      "must be 1 to 32",
    ],
  });
  const { allow = /.*/, most = 32 } = options;
  // What matches a part of them would let others pass.
  const all = new RegExp(`^(?:${allow.source})$`, allow.flags.replace(/[gy]/g, ""));
  return {
    description:
      "Presses keys in a telephone menu: 0-9, * and #; w waits for half a second. Say nothing to a menu, and hear all of it first.",
    parameters: {
      type: "object",
      properties: { keys: { type: "string", pattern: `^[0-9*#w]{1,${most}}$` } },
      required: ["keys"],
    },
    timeout: keysTimeout,
    run: async (args, { session, signal }) => {
      const { keys } = fieldsOf(args);
      const isAllowed =
        isText(keys) && keys.length <= most && /^[\d*#w]+$/.test(keys) && all.test(keys);
      if (!isAllowed) return refusal(signal, "Nothing was pressed: these keys are not allowed.");
      await session.press(keys);
      return "Pressed. Say nothing: listen to what comes next.";
    },
  };
};

/**
 * Presses keys as tones in the audio, for the option `press` of `connectAgent`: 100 ms each and as much pause, at -9 and
 * -7 dBm0. Whether they arrive depends on the carrier: Twilio's users report that they don't.
 *
 * @param keys - 0-9, A-D, *, # and w, which waits for half a second
 * @example Choose tones
 * ```ts
 * import { type SessionOptions, tones } from "outdial/agents";
 *
 * const options: SessionOptions = { press: tones };
 * console.log(typeof options.press); // function
 * ```
 * @see docs/agents.md
 */
export const tones = (keys: string, start: MediaStart, session: AgentSession): Promise<Spoken> => {
  const { sample_rate: sampleRate } = start.data;
  return internalsOf(session)[playAtOnce](tonesOf(keys, sampleRate), sampleRate);
};
