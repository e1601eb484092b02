import type { Fetch } from "../options.ts";
import { type Answer, answerOf } from "./answer/answer.ts";
import type { Send } from "./send/send.ts";

/** The platform's own, as it was before anything could be put in its place. */
const platforms = /* @__PURE__ */ (() => globalThis.fetch)();

/**
 * Whether a `fetch` is the platform's own, so that its errors say what became of a request. One that was
 * put in its place, for tests or for traces, may send again, or fail for something else.
 */
export const isPlatforms = (own: Fetch | undefined): boolean =>
  !own && globalThis.fetch === platforms;

/**
 * One POST, and the head of its answer; rejects with what the platform, ky or a `fetch` throws.
 *
 * @param send - through ky, or straight
 * @param own - the caller's `fetch`; without one, the platform's
 * @param begin - called at the last moment before the request leaves; when it throws, none does
 */
export const post = async (
  send: Send,
  own: Fetch | undefined,
  url: string,
  init: RequestInit,
  begin: () => void,
): Promise<Answer> => {
  const response = await send(url, async () => {
    begin();
    const fetch = own ?? globalThis.fetch;
    return fetch(url, { ...init, method: "POST", redirect: "manual" });
  });
  return answerOf(response, url);
};
