import { type Outcome, scenarios } from "../../../emulator/scenarios.ts";
import { fnv1a } from "../../../lib/encoding.ts";
import { nearest, UsageError } from "../../command.ts";

/** What somebody does who is called. */
export interface Callee {
  /** As `--callees` names it, such as `busy` or `press=1`. */
  readonly name: string;
  readonly outcome: Outcome;
  /** What is pressed at each question in turn, the last one at all that follow; empty for nothing. */
  readonly keys: readonly string[];
}

/** How many of the contacts do the same. */
export interface CalleeShare extends Callee {
  /** Above 0 and at most 1. */
  readonly share: number;
}

/** The callees that have a name: those of the emulator's numbers, without those at which the API fails. */
const named: ReadonlyMap<string, Outcome> = new Map(
  scenarios
    .filter(({ outage, response }) => !outage && !response)
    .map(({ name, outcome = { outcome: "answer" } }) => [name, outcome]),
);

/** The names that `--callees` takes, for the help. */
export const calleeNames: readonly string[] = [...named.keys()];

const rule = "--callees must be shares such as machine=20%,busy=10%,press=1:60%";

/** At most what keys of a question may be, and at most so many questions. */
const keysRule = /^[\d*#]{1,20}(\/[\d*#]{1,20}){0,19}$/;

/** @throws {UsageError} */
const shareOf = (text: string, name: string): number => {
  const percent = /^(\d{1,3}(?:\.\d{1,6})?)%$/.exec(text)?.[1];
  const share = Number(percent) / 100;
  if (share > 0 && share <= 1) return share;
  throw new UsageError(`--callees: the share of ${name} must be above 0% and at most 100%`);
};

/** @throws {UsageError} */
const pressing = (value: string): CalleeShare => {
  const [keys = "", share = "", ...more] = value.split(":");
  if (!keysRule.test(keys) || more.length > 0) {
    throw new UsageError(
      "--callees: press must have keys and a share: press=1:60%, or press=4/5:60% for two questions",
    );
  }
  return {
    name: `press=${keys}`,
    outcome: { outcome: "answer" },
    keys: keys.split("/"),
    share: shareOf(share, `press=${keys}`),
  };
};

/** @throws {UsageError} */
const calleeIn = (text: string): CalleeShare => {
  const at = text.indexOf("=");
  const name = (at < 0 ? text : text.slice(0, at)).trim();
  const value = at < 0 ? "" : text.slice(at + 1).trim();
  if (name === "press") return pressing(value);
  const outcome = named.get(name);
  if (outcome) return { name, outcome, keys: [], share: shareOf(value, name) };
  if (!/^[a-z-]{1,20}$/i.test(name)) throw new UsageError(rule);
  const meant = nearest(name, [...calleeNames, "press"]);
  throw new UsageError(
    `--callees: ${name} is none of ${calleeNames.join(", ")} and press${meant ? `: did you mean ${meant}?` : ""}`,
  );
};

/** What rounding may add to a sum of shares. */
const rounding = 1e-9;

/**
 * The callees in the value of `--callees`. Who is left answers, and presses nothing.
 *
 * @throws {UsageError} which names the rule
 */
export const calleesIn = (text: string): readonly CalleeShare[] => {
  const callees = text.split(",").map(calleeIn);
  const seen = new Set<string>();
  for (const { name } of callees) {
    if (seen.has(name)) throw new UsageError(`--callees has ${name} twice`);
    seen.add(name);
  }
  const sum = callees.reduce((total, { share }) => total + share, 0);
  if (sum > 1 + rounding) {
    throw new UsageError(
      `--callees adds up to ${Number((sum * 100).toFixed(6))}%: at most 100%, and who is left answers and presses nothing`,
    );
  }
  return callees;
};

/** @throws {UsageError} */
export const seedIn = (text: string): number => {
  const seed = Number(text);
  if (/^\d{1,15}$/.test(text)) return seed;
  throw new UsageError("--seed must be a whole number of at most 15 digits");
};

/** A number from 0 to below 1 that a text and a seed give: FNV-1a, mixed as MurmurHash3 does. */
const fractionOf = (seed: number, text: string): number => {
  let hash = fnv1a(Array.from(`${seed}:${text}`, (character) => character.codePointAt(0) ?? 0));
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
};

/** Who answers, and presses nothing. */
const silent: Callee = { name: "answered", outcome: { outcome: "answer" }, keys: [] };

/** The callee at a place from 0 to below 1. */
const calleeAt = (callees: readonly CalleeShare[], place: number): Callee => {
  let sum = 0;
  for (const callee of callees) {
    sum += callee.share;
    if (place < sum - rounding) return callee;
  }
  return silent;
};

/**
 * Decides who does what. At the first attempt the shares are those of the contacts, rounded to whole ones; at a later one
 * each contact draws again. The same seed gives each contact the same, whatever the rate and the hours are.
 *
 * @param numbers - the telephones of all contacts
 * @returns the callee of an attempt, which counts from 1
 */
export const assignCallees = (
  callees: readonly CalleeShare[],
  numbers: readonly string[],
  seed: number,
): ((to_number: string, attempt: number) => Callee) => {
  const drawn = numbers.map((number) => ({ number, at: fractionOf(seed, number) }));
  drawn.sort((one, other) => one.at - other.at || (one.number < other.number ? -1 : 1));
  const places = new Map(drawn.map(({ number }, at) => [number, (at + 0.5) / drawn.length]));
  return (to_number, attempt) => {
    const again = () => fractionOf(seed, `${to_number}#${attempt}`);
    const place = attempt === 1 ? (places.get(to_number) ?? again()) : again();
    return calleeAt(callees, place);
  };
};
