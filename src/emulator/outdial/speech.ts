import type { WireGather, WirePrompt, WireSay } from "../../flows/wire.ts";
import type { Call } from "../call.ts";
import {
  FlowError,
  type FlowParts,
  mediaDuration,
  planHangup,
  playTone,
  speechDuration,
  waitUntil,
} from "../line.ts";

/** An action with prompts, of one call. */
export interface Speaking<A extends WireSay | WireGather> {
  readonly call: Call;
  readonly action: A;
  /** Counts the requests to the flow from 1. */
  readonly step: number;
}

/** Milliseconds of a prompt. */
const durationOf = async (
  prompt: WirePrompt,
  field: string,
  { call, step }: Speaking<WireSay | WireGather>,
  parts: FlowParts,
): Promise<number> => {
  if ("text" in prompt) return speechDuration(prompt.text);
  if ("pause_ms" in prompt) return prompt.pause_ms;
  const { signal } = call.over;
  return mediaDuration(call, { step, field, url: prompt.media_url, signal }, parts.request);
};

/** Speaks the prompts one after the other, and logs the action with their length. */
const speak = async (
  speaking: Speaking<WireSay | WireGather>,
  parts: FlowParts,
  continues: () => boolean,
): Promise<void> => {
  const { call, action, step } = speaking;
  const durations: number[] = [];
  for (const [at, prompt] of action.prompts.entries()) {
    durations.push(await durationOf(prompt, `prompts.${at}.media_url`, speaking, parts));
  }
  if (call.isOver) return;
  const duration = durations.reduce((sum, one) => sum + one, 0);
  call.log({ type: "action", step, action, duration });
  planHangup(call, duration);
  for (const [at, prompt] of action.prompts.entries()) {
    const ms = durations[at] ?? 0;
    if (!continues()) break;
    if ("pause_ms" in prompt) await waitUntil(call, call.talkTime + ms, continues);
    else await playTone(call, ms, continues);
  }
  call.endPrompts();
};

/** Performs a `say`, and returns the URL of the next action, if there is one. */
export const performSay = async (
  saying: Speaking<WireSay>,
  parts: FlowParts,
): Promise<string | undefined> => {
  await speak(saying, parts, () => !saying.call.isOver);
  return saying.action.flow_url;
};

/**
 * Performs a `gather`: keys interrupt the prompts. They are complete when there are enough, at the key that ends them,
 * and after some time without one.
 *
 * @returns the keys
 * @throws {FlowError} when it doesn't say when they are complete
 */
export const performGather = async (
  gathering: Speaking<WireGather>,
  parts: FlowParts,
): Promise<string> => {
  const { call, action, step } = gathering;
  const { digits, finish_on_key, timeout_ms = 5_000 } = action;
  if (!digits && !finish_on_key)
    throw new FlowError(step, "digits", "is missing, as is finish_on_key");
  let keys = "";
  let isFinished = false;
  const isOpen = () => !call.isOver && !isFinished && keys.length < (digits ?? 20);
  const onKey = (key: string) => {
    if (!isOpen()) return;
    if (key === finish_on_key) isFinished = true;
    else keys += key;
    call.timeline.skip();
  };
  call.keyListeners.add(onKey);
  try {
    await speak(gathering, parts, () => isOpen() && keys === "");
    if (isOpen() && keys === "") parts.onQuestion?.(call);
    for (let before = -1; isOpen() && before !== keys.length; ) {
      before = keys.length;
      await waitUntil(call, call.talkTime + timeout_ms, () => isOpen() && keys.length === before);
    }
  } finally {
    call.keyListeners.delete(onKey);
  }
  return keys;
};
