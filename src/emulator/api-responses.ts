import type { AcceptedResponse, Reception } from "../server/api.ts";
import type { ApiResponse, Scenario } from "./scenarios.ts";

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

/** How a request is answered after `lost` responses to others with its key: the call is placed once. */
const responseAfter = (lost: number, scenario: ApiResponse): ApiResponse =>
  lost < (scenario === "dropped_twice" ? 2 : 1) ? scenario : "whole";

const failed = "The service failed after it had placed the call.";

/** Sends the response to an accepted call as the scenario wants it. */
const respondAs = async (
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
    case "dropped_twice":
    case "unplaced":
      throw new TypeError("The connection was dropped");
    case "failed":
      return new Response(JSON.stringify({ detail: failed, message: failed }), {
        status: 503,
        headers,
      });
    case "garbled":
      return new Response("accepted, but this is not JSON", { status, headers });
  }
};

/** How the API responds to the requests for a call of a number. */
export type ResponseRule = Pick<Scenario, "outage" | "response">;

/**
 * What becomes of a request.
 *
 * @param isClosed - whether no more calls are accepted
 */
export const receptionOf = (
  { outage, response = "whole" }: ResponseRule,
  lost: number,
  isClosed: boolean,
): Reception => {
  const scenario = responseAfter(lost, response);
  const closed = isClosed ? { status: 503, detail: "The emulator is closed." } : undefined;
  return {
    outage: outage ?? closed,
    isLost: scenario === "unplaced",
    isSent: scenario === "whole",
    send: (accepted, signal) => respondAs(scenario, accepted, signal),
  };
};
