import type { Reply } from "../line/destinations.ts";
import { answer } from "./answer.ts";

/** Settles when the signal aborts, and never without one. */
const aborted = (signal: AbortSignal | undefined): Promise<unknown> =>
  new Promise((resolve) => {
    if (signal?.aborted) resolve(signal.reason);
    signal?.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });

const stalledBody = (
  whole: string,
  signal: AbortSignal | undefined,
): ReadableStream<Uint8Array> => {
  let cancelled = false;
  return new ReadableStream({
    start: (controller) => {
      controller.enqueue(new TextEncoder().encode(whole.slice(0, whole.length / 2)));
      aborted(signal).then((reason) => cancelled || controller.error(reason));
    },
    cancel: () => {
      cancelled = true;
    },
  });
};

type Send = (body: unknown, signal: AbortSignal | undefined) => Response | Promise<Response>;

/** How the answer to an accepted call is sent. */
export const replies: Readonly<Record<Reply, Send>> = {
  whole: (body) => answer(202, body),
  silent: async (_, signal) => {
    throw await aborted(signal);
  },
  stalled: (body, signal) => {
    const { headers } = answer(202, body);
    return new Response(stalledBody(JSON.stringify(body), signal), { status: 202, headers });
  },
  dropped: () => {
    throw new TypeError("The connection was dropped");
  },
  garbled: (body) => {
    const { headers } = answer(202, body);
    return new Response("accepted, but this is not JSON", { status: 202, headers });
  },
};
