import type { AcceptedResponse } from "../server/api.ts";
import type { ApiResponse } from "./scenarios.ts";

/** Resolves with the signal's reason once it aborts. */
const aborted = (signal: AbortSignal | undefined): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal?.aborted) resolve(signal.reason);
    signal?.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });

/** The first half of a text, and then nothing until the signal aborts. */
const stalledBody = (text: string, signal: AbortSignal | undefined): ReadableStream<Uint8Array> => {
  let cancelled = false;
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(text.slice(0, text.length / 2)));
      aborted(signal).then((reason) => cancelled || controller.error(reason));
    },
    cancel: () => {
      cancelled = true;
    },
  });
};

/** Sends the response to an accepted call as the scenario wants it. */
export const respondAs = async (
  scenario: ApiResponse,
  { status, headers, text }: AcceptedResponse,
  signal: AbortSignal | undefined,
): Promise<Response> => {
  switch (scenario) {
    case "whole":
      return new Response(text, { status, headers });
    case "silent":
      throw await aborted(signal);
    case "stalled":
      return new Response(stalledBody(text, signal), { status, headers });
    case "dropped":
      throw new TypeError("The connection was dropped");
    case "garbled":
      return new Response("accepted, but this is not JSON", { status, headers });
  }
};
