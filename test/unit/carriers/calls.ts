import { expect, vi } from "vitest";
import { create } from "../../../src/calls/index.ts";
import type { Exception } from "../../../src/errors.ts";
import type { Options } from "../../../src/index.ts";
import type { CallService } from "../../../src/options.ts";
import { params } from "./carriers.ts";

/** A request as a `fetch` of the tests got it. */
export interface Sent {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/** What answers a request. */
export type Respond = (sent: Sent) => Response;

/** A `fetch` that keeps what it sent, and gives one answer after the other, the last one for ever. */
export const answering = (...answers: readonly Respond[]) => {
  const sent: Sent[] = [];
  const fetch = vi.fn(async (url: string, init: RequestInit) => {
    const answer = answers[Math.min(sent.length, answers.length - 1)];
    const body = await new Response(init.body ?? null).text();
    const one = { url, headers: new Headers(init.headers), body };
    sent.push(one);
    return answer?.(one) ?? new Response(null, { status: 599 });
  });
  return { fetch, sent };
};

/** The credentials in the header of a request, without their scheme. */
export const credentialsIn = (sent: Sent | undefined): string =>
  sent?.headers.get("authorization")?.split(" ")[1] ?? "";

/** What `create` rejects with. */
export const refusalBy =
  (service: CallService, apiKey: string) =>
  async (more: Partial<Options> = {}, input: object = {}) =>
    create({ ...params, ...input }, { apiKey, service, ...more } as Options).then(
      () => expect.fail("a call was placed"),
      (error: Exception & { readonly param?: string }) => error,
    );
