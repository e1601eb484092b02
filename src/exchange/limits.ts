import parseNumber from "libphonenumber-js/max";
import type { AskedCall, NotAdmitted } from "./service.ts";

/** How much the calls of an exchange may be. Each has a default in settings.ts. */
export interface CallLimits {
  /** The most calls that begin within a second, second telephones included. */
  readonly callsPerSecond: number;
  /** The most calls that are not over. */
  readonly callsAtOnce: number;
  /** The most minutes that a day's calls last, from the answer on. Days are those of UTC. */
  readonly minutesPerDay: number;
  /** The same of the calls to one number. */
  readonly minutesPerDayToNumber: number;
}

/** Who may be called, by whom, and how much. */
export interface LimitOptions {
  /** The numbers of the account. */
  readonly numbers: readonly string[];
  /**
   * The prefixes that numbers may have, such as `+4930`, and whole addresses of the scheme `sip:`. None is allowed until it is
   * named.
   */
  readonly allow: readonly string[];
  readonly limits: CallLimits;
}

/** A call that has begun or is over: what counts against the limits. Times are in milliseconds since 1970. */
export interface CountedCall {
  readonly id: string;
  readonly to_number: string;
  readonly answered_at?: number | undefined;
  readonly ended_at?: number | undefined;
}

/** The least digits that a telephone has anywhere: shorter numbers are services of a country, emergencies too. */
const leastDigits = 8;
const e164 = /^\+[1-9]\d{7,14}$/;
const tooShort = /^\+?\d{1,7}$/;

/** The emergency numbers of the world, alone or behind a country code. */
const emergency =
  /^\+?\d{0,3}(000|100|101|102|103|108|110|111|112|113|114|115|117|118|119|120|122|123|133|144|155|190|191|192|193|194|195|199|911|933|977|991|995|997|998|999)$/;

/** The codes of countries that have two digits; 1 and 7 have one, all others three. */
const twoDigits = /^(20|27|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58])/;

/** How many digits the country code of a number has. */
const codeLength = (digits: string): number => {
  if (/^[17]/.test(digits)) return 1;
  return twoDigits.test(digits) ? 2 : 3;
};

/** An address of the scheme `sip:` that can be allowed, as a whole: nothing in it is a header, a parameter or a list. */
const sipAddress = /^sip:[\w.+-]{1,64}@[a-z\d.-]{1,253}(:\d{1,5})?$/i;

/**
 * Whether a text can be allowed: `+` with a whole country code, or a whole address of the scheme `sip:`. Less than a country
 * code would allow several countries.
 */
export const isAllowable = (text: string): boolean => {
  if (sipAddress.test(text)) return true;
  const digits = /^\+([1-9]\d{0,14})$/.exec(text)?.[1];
  return digits !== undefined && digits.length >= codeLength(digits);
};

/**
 * Asterisk's name for whom it calls; `undefined` for whom it can't reach. Nothing else than a number or a whole address gets
 * into it, whatever a caller has sent.
 */
export const endpointOf = (to: string): string | undefined => {
  if (e164.test(to)) return `PJSIP/${to}@trunk`;
  return sipAddress.test(to) ? `PJSIP/trunk/${to}` : undefined;
};

/** A prefix with as many digits after its country code is no whole country: it names what it allows, services that cost more too. */
const exact = 3;

/** The area codes of +1 that are countries and islands of their own, and cost as much as abroad. */
const overseas =
  /^1(2(42|46|64|68|84)|34[05]|441|473|6(49|58|64|7[01]|84)|7(21|58|67|84|87)|8(09|29|49|6[89]|76)|939)/;

/** The kinds of number whose price somebody else sets. */
const costly = new Set(["PREMIUM_RATE", "SHARED_COST"]);

/** Whether a number costs more than the others of its country. */
const isCostly = (number: string): boolean => {
  const digits = number.slice(1);
  if (digits.startsWith("1")) return /^1(900|(\d{3})?976)/.test(digits) || overseas.test(digits);
  // More digits than a number has do not keep a trunk from its first ones.
  return Array.from({ length: digits.length - leastDigits + 1 }, (_, at) =>
    parseNumber(number.slice(0, number.length - at)),
  ).some((parsed) => costly.has(parsed?.getType() ?? ""));
};

type Rule = readonly [reason: string, detail: string];

const refused = (status: 403 | 429, [reason, detail]: Rule): NotAdmitted => ({
  status,
  reason,
  detail,
});

/** Why a number is never called, or isn't allowed; `undefined` for one that is. */
const placeRule = (to: string, allow: readonly string[]): Rule | undefined => {
  // A whole address is allowed as it was named, letter by letter.
  if (sipAddress.test(to) && allow.includes(to)) return;
  if (/^[a-z][a-z\d+.-]*:/i.test(to)) {
    return ["address_not_allowed", "Addresses are called that the operator has named, as a whole."];
  }
  if (tooShort.test(to)) {
    return emergency.test(to)
      ? ["emergency_number", "Emergency numbers are never called."]
      : ["short_number", "Short numbers are never called."];
  }
  if (!e164.test(to)) return ["not_a_number", "The number must be E.164."];
  // No area of +1 begins with 0 or 1, or ends in 11: some trunks take 911 with more digits for an emergency.
  if (/^\+1(?![2-9](?!11)\d\d[2-9]\d{6}$)/.test(to)) {
    return ["not_a_number", "The number must be E.164: there is none such behind +1."];
  }
  const named = allow.filter((prefix) => to.startsWith(prefix));
  if (named.length === 0) {
    return [
      "prefix_not_allowed",
      "The operator of this exchange has not allowed the number's prefix.",
    ];
  }
  const length = Math.max(...named.map((prefix) => prefix.length));
  const isExact = length > codeLength(to.slice(1)) + exact;
  if (!isExact && isCostly(to)) {
    return [
      "costly_number",
      "The number costs more than others of its country: the operator has to allow a longer prefix.",
    ];
  }
  return;
};

const day = 86_400_000;
const dayOf = (at: number): number => Math.floor(at / day);

const minutes = (ms: number): number => ms / 60_000;

/**
 * The limits of an exchange: who may be called, and how much. It is closed: what isn't allowed is refused, by the name of its
 * rule.
 */
export class Limits {
  readonly #options: LimitOptions;
  /** When calls began within the last second. */
  #begun: number[] = [];
  /** The calls that are not over, and what those of a day have lasted. */
  readonly #live = new Map<string, CountedCall>();
  #day = 0;
  #total = 0;
  readonly #byNumber = new Map<string, number>();

  constructor(options: LimitOptions) {
    this.#options = options;
  }

  /** How near the limits are, at a time. */
  usage(at: number): CallLimits {
    const live = [...this.#live.values()].map(({ to_number }) => to_number);
    const numbers = new Set([...this.#byNumber.keys(), ...live]);
    return {
      callsPerSecond: this.#within(at).length,
      callsAtOnce: this.#live.size,
      minutesPerDay: minutes(this.#lasted(at)),
      minutesPerDayToNumber: minutes(
        Math.max(0, ...[...numbers].map((number) => this.#lasted(at, number))),
      ),
    };
  }

  /** Why a call isn't placed; `undefined` for one that is, which counts from now on. */
  admit({ from_number, to_number, leg, at }: AskedCall): NotAdmitted | undefined {
    const { numbers, allow } = this.#options;
    if (!numbers.includes(from_number)) {
      const detail = "from_number does not belong to this account.";
      return refused(403, ["caller_not_owned", detail]);
    }
    const rule = placeRule(to_number, allow);
    if (rule) return refused(403, rule);
    // The telephone of a call that is led elsewhere rings no more.
    if (leg === "redirect") return;
    return this.#exceeded(to_number, leg, at) ?? this.#begin(at);
  }

  /** Counts a call that has begun, or that is known from before. */
  add(call: CountedCall): void {
    if (call.ended_at === undefined) this.#live.set(call.id, call);
    else this.#count(call, call.ended_at);
  }

  /** Counts from when on a call lasts. */
  answered(id: string, at: number): void {
    const call = this.#live.get(id);
    if (call) this.#live.set(id, { ...call, answered_at: at });
  }

  /** Counts what a call has lasted. */
  ended(id: string, at: number): void {
    const call = this.#live.get(id);
    this.#live.delete(id);
    if (call) this.#count(call, at);
  }

  #exceeded(to: string, leg: AskedCall["leg"], at: number): NotAdmitted | undefined {
    const { callsPerSecond, callsAtOnce, minutesPerDay, minutesPerDayToNumber } =
      this.#options.limits;
    if (this.#within(at).length >= callsPerSecond) {
      return refused(429, ["calls_per_second", "Too many calls begin within a second."]);
    }
    if (leg === "call" && this.#live.size >= callsAtOnce) {
      return refused(429, ["calls_at_once", "Too many calls are not over."]);
    }
    if (minutes(this.#lasted(at)) >= minutesPerDay) {
      return refused(429, ["minutes_per_day", "The minutes of this day are used up."]);
    }
    if (minutes(this.#lasted(at, to)) >= minutesPerDayToNumber) {
      // Not 429: that would hold up the calls to everybody else.
      return refused(403, [
        "minutes_per_day_to_number",
        "The minutes of this day with this number are used up.",
      ]);
    }
    return;
  }

  #begin(at: number): undefined {
    this.#begun = [...this.#within(at), at];
  }

  #within(at: number): readonly number[] {
    return this.#begun.filter((begun) => Math.abs(at - begun) < 1_000);
  }

  /** What the calls of a day have lasted, to one number or to all, in milliseconds: those that aren't over up to now. */
  #lasted(at: number, number?: string): number {
    this.#turn(at);
    const live = [...this.#live.values()]
      .filter(({ to_number }) => number === undefined || to_number === number)
      .reduce((sum, call) => sum + talkOn(call, at), 0);
    return live + (number === undefined ? this.#total : (this.#byNumber.get(number) ?? 0));
  }

  #count(call: CountedCall, at: number): void {
    this.#turn(at);
    if (dayOf(at) !== this.#day) return;
    const ms = talkOn(call, at);
    this.#total += ms;
    this.#byNumber.set(call.to_number, (this.#byNumber.get(call.to_number) ?? 0) + ms);
  }

  /** A clock that is set back begins no new day. */
  #turn(at: number): void {
    if (dayOf(at) <= this.#day) return;
    this.#day = dayOf(at);
    this.#total = 0;
    this.#byNumber.clear();
  }
}

/** How long a call has lasted on the day of a time, in milliseconds. */
const talkOn = ({ answered_at = Number.POSITIVE_INFINITY, ended_at }: CountedCall, at: number) =>
  Math.max(0, (ended_at ?? at) - Math.max(answered_at, dayOf(at) * day));
