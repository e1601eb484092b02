import { withoutThrowing } from "../lib/check.ts";

/** How much of a text is read, how much is shown, and the longest word: longer ones are tokens, or there to take time. */
const longestRead = 4_000;
const longestShown = 300;
const longestWord = 200;

const left = "…";

/** A number is followed by one of these where it is a limit, and no telephone's. */
const units = "ms|s|seconds|kB|KiB|bytes|characters";

const digitRun = new RegExp(
  `(HTTP )?(\\+?\\p{Nd}(?:[^\\p{L}\\p{Nd}]{0,12}(?:\\p{L}(?!\\p{L}))?[^\\p{L}\\p{Nd}]{0,3}\\p{Nd})*)( ?(?:${units})\\b)?`,
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

/** A word without a URL beyond its host; parameters, addresses, paths, and what is percent-encoded, not at all. */
const shownWord = (word: string): string => {
  if (word.length > longestWord) return left;
  const origins = word.replace(/[a-z][a-z\d+.-]*:\/\/.*?(?=["'().,;]*$)/i, originOf);
  const rest = origins.replaceAll(/(?:https?|wss?):\/\//g, "");
  const isHidden = /[?&#=@\\]|%[\da-f]{2}|^\W*\/|\/.*\/|\.\w+\/|^data:|[\w+/~=-]{40}/i.test(rest);
  return isHidden ? left : origins;
};

/** A quotation of more than a word may be spoken. */
const shownQuotation = (whole: string, before: string, inside: string, after: string): string =>
  inside.includes(" ") ? before + left + after : whole;

/** Quotations: escaped as in JSON, and between quotes of each kind. An apostrophe is between two letters. */
const quotations: readonly RegExp[] = [
  /(\\")([^"]*)(\\")/g,
  /((?<!\\)["“„«])((?:\\.|[^"“”«»\\])*)(["”“»])/g,
  /((?<!\p{L})['‘‚])((?:[^'‘’‚]|(?<=\p{L})['’](?=\p{L}))*)(['‘’](?!\p{L}))/gu,
  /(‹)([^‹›]*)(›)/g,
  /(「)([^「」]*)(」)/g,
  /(`)([^`]*)(`)/g,
];

const withoutQuotations = (text: string): string =>
  quotations.reduce((shown, quotation) => shown.replace(quotation, shownQuotation), text);

/** A text on one line, without markup and without what hides or joins characters: as it is searched for a key. */
export const lineOf = (text: string): string =>
  text
    .slice(0, longestRead)
    .normalize("NFKC")
    .slice(0, longestRead)
    .replace(/<[^<>]*>|[<>]/g, " ")
    .replace(/[\p{C}\p{M}\s]+/gu, " ");

/**
 * What may be shown of a line that a service made of requests and documents: no URLs beyond their hosts, values of
 * parameters, long tokens, quoted sentences, and digits that may be a telephone number or a code. A key must be gone
 * before: parts of it could stay.
 */
export const shownText = (line: string): string =>
  // A word that is not shown may have one of the quotes: so once before, and once after.
  withoutQuotations(withoutQuotations(line).split(" ").map(shownWord).join(" "))
    .replace(digitRun, maskDigits)
    .replace(spelledDigits, "***")
    .trim()
    .slice(0, longestShown);
