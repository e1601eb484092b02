import { withoutThrowing } from "../lib/check.ts";

/** How much of a text is read, and how much is shown. */
const longestRead = 4_000;
const longestShown = 300;

const left = "…";

/** A number is followed by one of these where it is a limit, and no telephone's. */
const units = "ms|s|seconds|kB|KiB|bytes|characters";

const digitRun = new RegExp(
  `(HTTP )?(\\+?\\p{Nd}(?:[^\\p{L}\\p{Nd}]{0,5}\\p{Nd})*)( ?(?:${units})\\b)?`,
  "giu",
);

const loopback = /^127\.0\.0\.1(:\d{1,5})?$/;

/** Digits that may be pressed, spoken, or a telephone's: four or more. */
const maskDigits = (
  whole: string,
  http: string | undefined,
  run: string,
  unit: string | undefined,
): string => {
  if (run.replace(/\P{Nd}/gu, "").length < 4 || loopback.test(run)) return whole;
  if (unit && /^\d{4,6}$/.test(run)) return whole;
  const [status] = (http && /^[1-5]\d\d(?!\d)/.exec(run)) || [""];
  return `${http ?? ""}${status}${status && " "}***${unit ?? ""}`;
};

const numberWord = "(?:zero|oh|one|two|three|four|five|six|seven|eight|nine|double|triple)";

const spelledDigits = new RegExp(`\\b${numberWord}(?:\\P{L}{1,3}${numberWord}){3,}\\b`, "giu");

/** The scheme and the host of a URL. The rest may have a signature, an id or a number. */
const originOf = (url: string): string => {
  const { protocol = "", host = "" } = withoutThrowing(() => new URL(url)) ?? {};
  return /^(https?|wss?):$/.test(protocol) && host ? `${protocol}//${host}` : left;
};

/**
 * What may be shown of a text that a service made of requests and documents: one line, without URLs beyond their hosts,
 * values of parameters, markup, long tokens, quoted sentences, and digits that may be a telephone number or a code.
 */
export const shownText = (text: string): string =>
  text
    .slice(0, longestRead)
    .normalize("NFKC")
    .replace(/<[^<>]*>|[<>]/g, " ")
    .replace(/[\p{C}\s]+/gu, " ")
    .replace(/[a-z][a-z\d+.-]*:\/\/[^\s"'<>()]*/gi, originOf)
    // Parameters, addresses, and what is percent-encoded.
    .replace(/\S*(?:[?&#=@]|%[\da-f]{2}|\/{2}(?<!(?:https?|wss?):\/\/))\S*/gi, left)
    .replace(/[\w+/~=-]{40,}/g, left)
    .replace(/(["“„«])[^"“”«»]*\s[^"“”«»]*(["”“»])/g, `$1${left}$2`)
    .replace(/(?<!\p{L})'[^']*\s[^']*'(?!\p{L})/gu, `'${left}'`)
    .replace(digitRun, maskDigits)
    .replace(spelledDigits, "***")
    .trim()
    .slice(0, longestShown);
