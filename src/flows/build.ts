import { check } from "../rules/check.ts";
import { type Action, actions, type Dial, type Hangup, type Play, type Stream } from "./action.ts";

/** Exactly the wire's JSON: what is left to the service's default isn't written. */
const build = <Name extends Action["action"]>(
  action: Name,
  fields: () => object,
): Extract<Action, { action: Name }> =>
  check(actions[action], () =>
    Object.fromEntries(
      Object.entries({ action, ...fields() }).filter(([, value]) => value !== undefined),
    ),
  );

/**
 * Plays a recording.
 *
 * @param media_url - what is played: an https URL
 * @param options - `flow_url`: where the service asks for the next action
 * @returns the action, as the wire has it
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when a field breaks its rule
 *
 * @example Greet, then ask again
 * ```ts
 * import { play } from "outdial/flows";
 *
 * const action = play("https://app.test/hello.wav", { flow_url: "https://app.test/flow/2" });
 * console.log(action.action); // play
 * ```
 * @see docs/flows.md
 */
export const play = (media_url: string, options?: Omit<Play, "action" | "media_url">): Play =>
  build("play", () => ({ media_url, ...options }));

/**
 * Connects the audio of the call to a WebSocket of yours; `streamSession` speaks its messages.
 *
 * @param ws_url - where the service connects to: a wss URL, signed with `signUrl`
 * @param options - `sample_rate` (`"8k"`), `chunk_size` in ms (400), `record` (`true`), `flow_url`
 * @returns the action, as the wire has it; defaults are the service's, and not written
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when a field breaks its rule
 *
 * @example Hand the call to a voice agent
 * ```ts
 * import { stream } from "outdial/flows";
 *
 * const action = stream("wss://app.test/media", { sample_rate: "16k", chunk_size: 20, record: false });
 * console.log(JSON.stringify(action.record)); // false
 * ```
 * @see docs/flows.md
 */
export const stream = (ws_url: string, options?: Omit<Stream, "action" | "ws_url">): Stream =>
  build("stream", () => ({ ws_url, ...options }));

/**
 * Connects the call to somebody else.
 *
 * @param to - an E.164 number, or a `sip:` URI
 * @param options - `timeout` in seconds (30), `record` (`false`), `flow_url`, and what follows where
 * nobody is reached: `on_no_answer`, `on_busy`, `on_failure`, each a `play` or a `hangup`
 * @returns the action, as the wire has it; defaults are the service's, and not written
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when a field breaks its rule
 *
 * @example Put somebody through
 * ```ts
 * import { dial, hangup, play } from "outdial/flows";
 *
 * const action = dial("+12025550100", {
 *   timeout: 20,
 *   on_busy: play("https://app.test/busy.wav"),
 *   on_failure: hangup(),
 * });
 * console.log(action.timeout); // 20
 * ```
 * @see docs/flows.md
 */
export const dial = (to: string, options?: Omit<Dial, "action" | "to">): Dial =>
  build("dial", () => ({ to, ...options }));

/**
 * Ends the call.
 *
 * @example Say no
 * ```ts
 * import { hangup } from "outdial/flows";
 *
 * console.log(JSON.stringify(hangup())); // {"action":"hangup"}
 * ```
 * @see docs/flows.md
 */
export const hangup = (): Hangup => ({ action: "hangup" });
