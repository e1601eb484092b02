import { statusOf } from "../refused.ts";
import { type Limit, withLimit } from "./limit.ts";

/** Hears of what went wrong: a refusal of the sender, or a failure of your own code. */
export type OnError = (error: unknown, request: Request) => unknown;

/** What a handler does with a request. */
interface Handling<Known> {
  /** The most that all steps under the limit take together, in milliseconds. */
  readonly longest: number;
  /** Reads what a sender says who has proved who it is. A refusal is one only here. */
  readonly read: (request: Request, limit: Limit) => Promise<Known>;
  /** Does what is to be done about it. Whatever it throws is a failure, a `RefusedException` too. */
  readonly act: (
    known: Known,
    tools: { readonly limit: Limit; readonly report: (error: unknown) => void },
  ) => Promise<Response>;
  /** The answer after a failure. */
  readonly failed: () => Response;
  readonly onError: OnError | undefined;
}

/**
 * A handler that always answers: a refusal by its status and nothing else, a failure as the caller
 * says. `onError` hears of both; what goes wrong in it is nobody's business here. What was thrown is
 * of anybody's make, so it is told and never touched.
 */
export const guard =
  <Known>({ longest, read, act, failed, onError }: Handling<Known>) =>
  async (request: Request): Promise<Response> => {
    const report = (error: unknown): void => {
      (async () => onError?.(error, request))().catch(() => {});
    };
    let isRead = false;
    try {
      return await withLimit(longest, async (limit) => {
        const known = await read(request, limit);
        isRead = true;
        return act(known, { limit, report });
      });
    } catch (error) {
      report(error);
      const status = isRead ? undefined : statusOf(error);
      if (!status) return failed();
      return new Response(null, { status, headers: status === 405 ? { Allow: "POST" } : {} });
    }
  };
