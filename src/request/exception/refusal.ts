import {
  type ExceptionFacts,
  type FieldError,
  ForbiddenException,
  ServiceException,
  UnauthorizedException,
} from "../../errors.ts";
import { quietly } from "../../rules/quietly.ts";
import type { Answer } from "../answer/answer.ts";
import type { Redaction } from "./redact.ts";

const classes: Readonly<Record<number, typeof ServiceException>> = {
  401: UnauthorizedException,
  403: ForbiddenException,
};

/** The longest that a service may ask to wait, in seconds: some 68 years. */
const longest = 2 ** 31;

/**
 * `Retry-After`: a number of seconds, or the seconds until an HTTP date, which has a time in it;
 * anything else counts as absent, though `Date.parse` takes much of it for a date.
 */
const secondsOf = (retryAfter: string, { holds }: Redaction): number | undefined => {
  if (!/^\d+$|:/.test(retryAfter) || retryAfter.length > 999 || holds(retryAfter)) return;
  const date = /\D/.test(retryAfter);
  const seconds = date ? (Date.parse(retryAfter) - Date.now()) / 1000 : Number(retryAfter);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(0, Math.ceil(seconds)), longest);
};

/** The most complaints about fields that are kept, and the deepest place of one. */
const most = 32;

const fieldErrors = (list: unknown, { words }: Redaction): readonly FieldError[] | undefined =>
  Array.isArray(list)
    ? list.slice(0, most).map((each) => {
        const { loc = [], msg, type } = Object(each);
        const path = [loc].flat().slice(0, most);
        return {
          loc: path.map((part) => words(part) ?? ""),
          msg: words(msg) ?? "",
          type: words(type) ?? "",
        };
      })
    : undefined;

/** A constant of the service's own: something like a word, to branch on. */
const constant = (value: unknown, { words }: Redaction): string | undefined => {
  const text = words(value);
  return text && text === String(value) && /^[\w.:/#-]{1,100}$/.test(text) ? text : undefined;
};

/** The parsed body of a refusal; an empty object when it is not JSON. */
const fieldsOf = (text: string): Readonly<Record<string, unknown>> =>
  Object(quietly(() => JSON.parse(text)));

/** What the service says of its refusal, without its secrets, and bounded. */
const said = (text: string, requestId = "", redaction: Redaction): Partial<ExceptionFacts> => {
  const { detail: given, message, errors: list, code, type } = fieldsOf(text);
  const constants = { reason: constant(code, redaction), type: constant(type, redaction) };
  const own = redaction.words([given, message].find((each) => typeof each === "string"));
  const errors = fieldErrors(list, redaction) ?? fieldErrors(given, redaction);
  const lines = errors?.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");
  const fields = errors?.flatMap((each) => [...each.loc, each.msg, each.type]) ?? [];
  // A secret in pieces is still one to who reads them together.
  const together = [own, constants.reason, constants.type, requestId, ...fields].join("");
  if (redaction.holds(together)) return {};
  return { ...constants, errors, detail: own ?? redaction.words(lines) };
};

/** The request's id at the service, as it is: it may have many digits, but no secret in it. */
export const requestIdOf = ({ header }: Answer, { holds }: Redaction): string | undefined => {
  const id = header("x-request-id") || header("request-id");
  return id && id.length <= 200 && !holds(id) ? id : undefined;
};

/**
 * The exception for an answer that is not a 2xx, out of its head and as much of its body as came.
 * Both forms are understood: `detail`, as a text or a list, and `message` with `errors`. Whatever the
 * bytes are, there is one.
 *
 * @param facts - what is known of the call by the head
 */
export const refusal = (
  facts: ExceptionFacts,
  { status, header }: Answer,
  text: string,
  redaction: Redaction,
): ServiceException => {
  const words = said(text, facts.requestId, redaction);
  return new (classes[status] ?? ServiceException)(
    `HTTP ${status} ${words.detail?.slice(0, 300) ?? ""}`.trim(),
    { ...facts, ...words, retryAfter: secondsOf(header("retry-after"), redaction) },
  );
};
