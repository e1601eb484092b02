import type { Entry } from "../conformance/entries.ts";
import { mayPlace, type Step } from "./service.ts";

/** A service in the place of a network, one step a POST, and what it saw. */
export interface Line {
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  /** How many POSTs came, and how many of them may have placed a call. */
  readonly seen: () => { readonly posts: number; readonly accepted: number };
}

const bodyless = [101, 204, 205, 304];

const bodyOf = ({ body, status, stall }: Step): BodyInit | null => {
  if (bodyless.includes(status)) return null;
  if (!stall) return body;
  return new ReadableStream({
    start: (controller) => controller.enqueue(new TextEncoder().encode(body)),
    pull: () => new Promise<void>(() => {}),
  });
};

/**
 * @param heeds - whether it ends with the signal that it is given, or is deaf to it
 * @param wait - milliseconds that it takes before it answers
 * @param refuses - whether a status says that no call was placed
 */
export const line = (
  steps: readonly Step[],
  heeds: boolean,
  wait: number,
  refuses: Entry["refuses"],
): Line => {
  let posts = 0;
  let accepted = 0;
  const fetch = async (_: string, { signal }: RequestInit): Promise<Response> => {
    const step = steps[Math.min(posts++, steps.length - 1)];
    if (!step) throw new Error("no step");
    if (mayPlace(step, refuses)) accepted++;
    if (wait) await new Promise((resolve) => setTimeout(resolve, wait));
    if (heeds && signal?.aborted) throw signal.reason;
    if (step.instead === "nothing") {
      return new Promise((_, reject) => {
        if (heeds) signal?.addEventListener("abort", () => reject(signal.reason));
      });
    }
    if (step.instead === "rejection") throw step.thrown;
    if (step.instead === "junk") return step.thrown as Response;
    const response = new Response(bodyOf(step), { status: step.status, headers: step.headers });
    return step.redirected
      ? Object.defineProperty(response, "redirected", { value: true })
      : response;
  };
  return { fetch, seen: () => ({ posts, accepted }) };
};
