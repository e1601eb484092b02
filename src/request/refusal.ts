import {
  type ExceptionFacts,
  type FieldError,
  ForbiddenException,
  ServiceException,
  UnauthorizedException,
} from "../errors.ts";
import type { Redact } from "./redact.ts";

const classes: Readonly<Record<number, typeof ServiceException>> = {
  401: UnauthorizedException,
  403: ForbiddenException,
};

/** What the head of an answer says about the telephone: a redirect or a 4xx placed nothing. */
export const factsOf = ({ status, type }: Response): ExceptionFacts => ({
  code: status,
  placed: (status >= 300 && status < 500) || type === "opaqueredirect" ? "no" : "maybe",
});

/**
 * `Retry-After`: a number of seconds, or the seconds until an HTTP date, which has a time in it;
 * anything else counts as absent, though `Date.parse` takes much of it for a date.
 */
const secondsOf = (retryAfter: string): number | undefined => {
  if (!/^\d+$|:/.test(retryAfter)) return;
  const date = /\D/.test(retryAfter);
  const seconds = date ? (Date.parse(retryAfter) - Date.now()) / 1000 : Number(retryAfter);
  return Number.isNaN(seconds) ? undefined : Math.max(0, Math.ceil(seconds));
};

const fieldErrors = (list: unknown): readonly FieldError[] | undefined =>
  Array.isArray(list)
    ? list.map((each) => {
        const { loc = [], msg = "", type = "" } = Object(each);
        return { loc: [loc].flat(), msg, type };
      })
    : undefined;

/** The parsed body of a refusal, each string redacted; an empty object when it is not JSON. */
const fieldsOf = (text: string, redact: Redact): Readonly<Record<string, unknown>> => {
  try {
    return Object(
      JSON.parse(text, (_, value) => (Object(value) === value ? value : redact(value))),
    );
  } catch {
    return {};
  }
};

/**
 * The exception for an answer that is not a 2xx, out of its head and as much of its body as came.
 * Both forms are understood: `detail`, as a text or a list, and `message` with `errors`.
 */
export const refusal = (response: Response, text: string, redact: Redact): ServiceException => {
  const { status, headers } = response;
  const { detail: given, message, errors: list } = fieldsOf(text, redact);
  const errors = fieldErrors(list) ?? fieldErrors(given);
  const said = [given, message].find((each) => typeof each === "string");
  const detail = said ?? errors?.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
  const requestId = headers.get("x-request-id") ?? headers.get("request-id");
  return new (classes[status] ?? ServiceException)(
    `HTTP ${status} ${detail?.slice(0, 300) ?? ""}`.trim(),
    {
      ...factsOf(response),
      detail,
      errors,
      retryAfter: secondsOf(headers.get("retry-after") ?? ""),
      requestId: requestId ? redact(requestId) : undefined,
    },
  );
};
