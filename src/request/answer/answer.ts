import type { Placed } from "../../errors.ts";
import { quietly } from "../../rules/quietly.ts";

/** What the head of an answer says, read once: a `fetch` of the caller's may give anything. */
export interface Answer {
  readonly status: number;
  /** Whether it is a 2xx of the address that was asked. */
  readonly ok: boolean;
  /** What the status says of the telephone, unless the answer is a 2xx with a call in it. */
  readonly placed: Placed;
  /** The value of a header, empty when there is none. */
  readonly header: (name: string) => string;
  /** Where the body is read from. */
  readonly source: Pick<Response, "body" | "text" | "type">;
}

/**
 * A 4xx refuses, but for those that a service, or a proxy on the way, may send though the request went
 * through; 307 and 308 ask for the same POST elsewhere. Everything else may have placed.
 */
const placedNothing = /^(30[78]|4(?!08|09|25|99)..)$/;

/**
 * The head of what a `fetch` gave. An answer that came through a redirect, which a `fetch` of the
 * caller's may follow, is another address's: it tells nothing of the POST.
 *
 * @throws {TypeError} when it is no answer
 */
export const answerOf = (response: Response, asked: string): Answer => {
  const { status, redirected, headers } = response;
  if (!Number.isInteger(status)) throw new TypeError("fetch gave no Response");
  const is2xx = status >= 200 && status < 300;
  // The Edge VM never tells that it was redirected, but by the address.
  const isMoved = redirected || (!is2xx && !!response.url && response.url !== new URL(asked).href);
  return {
    status,
    ok: is2xx && !isMoved,
    placed: !isMoved && placedNothing.test(String(status)) ? "no" : "maybe",
    header: (name) => quietly(() => String(headers.get(name) ?? "")) ?? "",
    source: response,
  };
};
