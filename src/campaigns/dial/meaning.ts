import { BadParametersException, isException } from "../../errors.ts";
import type { Meaning } from "../ledger/attempt/outcome.ts";

/** What the campaign itself gets wrong, so that every contact would be refused. */
const pausing: ReadonlySet<number> = /* @__PURE__ */ new Set([307, 308, 401, 403, 404, 405]);

const busy = 429;

/** The longest wait that is honoured, in seconds: whoever asks for more is asked again after a day. */
const longest = 86_400;

/** What it means that `create` gave something: a call without an id may have been placed. */
export const meaningOfCall = (call: unknown): Meaning => {
  const { id } = Object(call);
  if (typeof id === "string" && id) return { means: "placed", call_id: id };
  return { means: "maybe", detail: "create gave no id" };
};

/** What it means that `create` threw something. Whatever isn't certain is `maybe`. */
export const meaningOf = (error: unknown): Meaning => {
  try {
    return told(error);
  } catch {
    return { means: "maybe", detail: "create threw what can't be read" };
  }
};

/** The wait that an answer asks for, where it is one. */
const waitOf = (seconds: number | undefined): number | undefined =>
  seconds !== undefined && seconds >= 0 ? Math.min(seconds, longest) : undefined;

const told = (error: unknown): Meaning => {
  if (!isException(error)) return { means: "maybe", detail: "create threw something of its own" };
  const { placed, code, message: detail, retryAfter } = error;
  if (placed !== "no") return { means: "maybe", detail };
  if (code === busy) return { means: "later", detail, retryAfter: waitOf(retryAfter) };
  if (error instanceof BadParametersException) return { means: "paused", detail };
  // Without a status no request has arrived: the service, or what gives the key, isn't there.
  if (code === undefined) return { means: "later", detail };
  return pausing.has(code) ? { means: "paused", detail } : { means: "refused", detail };
};
