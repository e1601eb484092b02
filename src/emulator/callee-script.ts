import type { PlayedPiece } from "./recording/recording.ts";

/** Speech: mono samples of 16 bits, and how many of them there are in a second. */
export interface Voice {
  /** The samples. */
  readonly audio: Int16Array;
  /** Samples per second: 4 000 to 192 000. */
  readonly sampleRate: number;
}

/** One act of the callee, discriminated by `type`. Times are in milliseconds. */
export type CalleeAct =
  /** Speaks: samples at the stream's rate, or a WAV of 16-bit PCM at any rate. */
  | { readonly type: "say"; readonly audio: Int16Array | Uint8Array }
  /**
   * Speaks at any rate. `expect` is for the figures of a simulated call: what the agent should do, by default
   * `"respond"` afterwards; `"stop"` its own speech, or `"ignore"` it.
   */
  | {
      readonly type: "say";
      readonly voice: Voice;
      readonly expect?: "respond" | "stop" | "ignore" | undefined;
    }
  /**
   * Says a text for `ms`: the recording has a tone, and a flow that takes speech gets the text. `confidence`, from 0 to 1,
   * is the carrier's: 0.9 by default.
   */
  | {
      readonly type: "say";
      readonly ms: number;
      readonly text: string;
      readonly confidence?: number | undefined;
    }
  /** Plays a tone of moderate loudness. */
  | { readonly type: "tone"; readonly hertz: number; readonly ms: number }
  /** Is silent for `ms`. */
  | { readonly type: "silence"; readonly ms: number }
  /** Is silent until `ms` after the answer. */
  | { readonly type: "until"; readonly ms: number }
  /** Is silent until prompts of the flow end, or the last of several in a row: all that are spoken before keys are taken. */
  | { readonly type: "until-prompt" }
  /** Is silent until `ms` of the application's audio were played, counted from this act. */
  | { readonly type: "listen"; readonly ms: number }
  /**
   * Is silent until the application was audible after the beginning of this act, and then quiet for `ms`: 600 by
   * default. It gives up after `timeout` of silence: 10 000 by default.
   */
  | {
      readonly type: "until-quiet";
      readonly ms?: number | undefined;
      readonly timeout?: number | undefined;
    }
  /** Is silent until the application was audible for `ms` of this act. It gives up after `timeout` of silence: 10 000 by default. */
  | {
      readonly type: "until-speech";
      readonly ms: number;
      readonly timeout?: number | undefined;
    }
  /**
   * Is silent until the application has pressed `keys`, one after the other: as tones in its audio, by the limits of ITU-T
   * Q.24, or by the carrier's API. Those that came since the last such act count, so that a menu may be interrupted;
   * others before them are skipped. It gives up after `timeout`: 10 000 by default.
   */
  | {
      readonly type: "until-keys";
      readonly keys: string;
      readonly timeout?: number | undefined;
    }
  /** Presses keys, one after the other: digits, `*` and `#`. Each is a tone of 100 ms and a pause of 100 ms. */
  | { readonly type: "press"; readonly digits: string }
  /** Hangs up. */
  | { readonly type: "hangup" };

/** The call, as the callee's script receives it. */
export interface CalleeCall {
  /** The id that `calls.create` returned. */
  readonly id: string;
  /** The caller, in E.164. */
  readonly from_number: string;
  /** The callee, in E.164. */
  readonly to_number: string;
  /** Milliseconds from the answer to the end of the script's latest act. */
  readonly ms: number;
  /** What the application has played to the callee so far. */
  readonly played: readonly PlayedPiece[];
  /** The keys that the application has pressed so far, as far as an `until-keys` has listened. */
  readonly keys: string;
}

/**
 * Yields the acts of one call. Each act is requested after the previous one has ended. A script with more
 * than 1,000 acts in 20 ms is stopped, and the error is added to the call's history.
 */
export type CalleeScript = (call: CalleeCall) => AsyncIterable<CalleeAct> | Iterable<CalleeAct>;

/**
 * What the callee does after the answer: a script, or a list of acts for every call.
 *
 * @example A callee who speaks, and hangs up two seconds after the answer
 * ```ts
 * import { Client } from "outdial";
 * import { createEmulator } from "outdial/emulator";
 *
 * const app = (request: Request): Response =>
 *   new URL(request.url).pathname === "/flow"
 *     ? Response.json({ action: "play", media_url: "https://app.test/long.wav" })
 *     : new Response();
 *
 * await using emulator = createEmulator({
 *   fetch: app,
 *   clock: "instant",
 *   callee: async function* () {
 *     yield { type: "tone", hertz: 300, ms: 500 };
 *     yield { type: "until", ms: 2_000 };
 *     yield { type: "hangup" };
 *   },
 * });
 * const { apiKey, fetch } = emulator;
 * const client = new Client(apiKey, { baseUrl: "https://emulator.test", fetch });
 * const call = await client.calls.create({
 *   from_number: "+12025550199",
 *   to_number: "+12025550100",
 *   flow_url: "https://app.test/flow",
 *   status_callback_url: "https://app.test/status",
 * });
 * const { duration } = await emulator.ended(call.id);
 * const peaks = emulator.audio(call.id)?.peaks("callee", 500);
 * console.log(duration, peaks?.map((peak) => peak > 0)); // 2 [ true, false, false, false ]
 * ```
 */
export type Callee = CalleeScript | readonly CalleeAct[];
