import { BadParametersException, isException } from "../../errors.ts";
import type { Meaning } from "../ledger/attempt/outcome.ts";

/** What the campaign itself gets wrong, so that every contact would be refused. */
const pausing: ReadonlySet<number> = /* @__PURE__ */ new Set([307, 308, 401, 403, 404, 405]);

const busy = 429;

/** What it means that `create` threw something. Whatever isn't certain is `maybe`. */
export const meaningOf = (error: unknown): Meaning => {
  if (!isException(error)) return { means: "maybe", detail: "create threw something of its own" };
  const { placed, code, message: detail, retryAfter } = error;
  if (placed !== "no") return { means: "maybe", detail };
  if (code === busy) return { means: "later", detail, retryAfter };
  if (error instanceof BadParametersException) return { means: "paused", detail };
  // Without a status no request has arrived: the service, or what gives the key, isn't there.
  if (code === undefined) return { means: "later", detail };
  return pausing.has(code) ? { means: "paused", detail } : { means: "refused", detail };
};
