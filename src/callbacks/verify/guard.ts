import { RefusedException } from "./refused.ts";

/** Hears of what went wrong: a refusal of the sender, or a failure of your own code. */
export type OnError = (error: unknown, request: Request) => unknown;

/**
 * A handler that always answers: a refusal by its status and nothing else, a failure as the caller
 * says. `onError` hears of both; what goes wrong in it is nobody's business here.
 */
export const guard =
  (
    handle: (request: Request, report: (error: unknown) => void) => Promise<Response>,
    onError: OnError | undefined,
    failed: () => Response,
  ): ((request: Request) => Promise<Response>) =>
  async (request) => {
    const report = (error: unknown): void => {
      (async () => onError?.(error, request))().catch(() => {});
    };
    try {
      return await handle(request, report);
    } catch (error) {
      report(error);
      if (!(error instanceof RefusedException)) return failed();
      const { status } = error;
      return new Response(null, { status, headers: status === 405 ? { Allow: "POST" } : {} });
    }
  };
