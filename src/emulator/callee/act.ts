import type { HeardPiece } from "../recording/audio.ts";

/** One thing that the callee does, told apart by `type`. Times are in milliseconds. */
export type CalleeAct =
  /** Says something: samples at the stream's rate, or a WAV of 16-bit PCM at any rate. */
  | { readonly type: "say"; readonly audio: Int16Array | Uint8Array }
  /** Hums, at moderate loudness. */
  | { readonly type: "tone"; readonly hertz: number; readonly ms: number }
  /** Says nothing for a while. */
  | { readonly type: "silence"; readonly ms: number }
  /** Says nothing until so long after the answer. */
  | { readonly type: "until"; readonly ms: number }
  /** Says nothing until so much of what the application says was heard, from this act on. */
  | { readonly type: "listen"; readonly ms: number }
  /** Hangs up. */
  | { readonly type: "hangup" };

/** The call, as the callee's script sees it. */
export interface CalleeCall {
  /** What `calls.create` gave. */
  readonly id: string;
  /** Who calls, in E.164. */
  readonly from_number: string;
  /** Who is called, in E.164. */
  readonly to_number: string;
  /** Milliseconds from the answer to the end of what the script did last. */
  readonly ms: number;
  /** What the callee has heard so far. */
  readonly heard: readonly HeardPiece[];
}

/**
 * Makes the acts of one call, one by one: each is asked for when the one before it is over. One with more
 * than 1 000 acts in 20 ms is given up, and the call's history tells of it.
 */
export type CalleeScript = (call: CalleeCall) => AsyncIterable<CalleeAct> | Iterable<CalleeAct>;

/**
 * What the person does who answers: a script, or a list of acts that is the same in every call.
 *
 * @example Somebody who says something, and hangs up two seconds after the answer
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
