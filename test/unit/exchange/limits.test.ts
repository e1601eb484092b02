import { describe, expect, it } from "vitest";
import { type CallLimits, endpointOf, isAllowable, Limits } from "../../../src/exchange/limits.ts";

const from = "+12025550199";
const to = "+12025550150";
const noon = Date.UTC(2026, 10, 28, 12);

const generous: CallLimits = {
  callsPerSecond: 100,
  callsAtOnce: 100,
  minutesPerDay: 1_000,
  minutesPerDayToNumber: 1_000,
};

/** Limits that allow some prefixes, and are generous but for what a test sets. */
const limitsOf = (allow: readonly string[], limits: Partial<CallLimits> = {}): Limits =>
  new Limits({ numbers: [from], allow, limits: { ...generous, ...limits } });

/** The rule that refuses a number. */
const ruleOf = (
  number: string,
  allow: readonly string[] = ["+1202", "+49", "+44", "+1"],
  leg: "call" | "dial" | "redirect" = "call",
): string | undefined =>
  limitsOf(allow).admit({ from_number: from, to_number: number, leg, at: noon })?.reason;

describe("an exchange whose operator has allowed nothing", () => {
  it.each(["call", "dial", "redirect"] as const)("calls nobody by a %s", (leg) => {
    expect(ruleOf(to, [], leg)).toBe("prefix_not_allowed");
    expect(ruleOf("sip:alice@example.net", [], leg)).toBe("address_not_allowed");
  });
});

describe("an attack on an exchange that allows +1, +1202, +44 and +49", () => {
  it.each([
    // Other countries, and what looks like an allowed one.
    ["another country", "+33123456789", "prefix_not_allowed"],
    ["a country whose code begins alike", "+42012345678", "prefix_not_allowed"],
    ["a code behind the international prefix", "004930123456", "not_a_number"],
    ["no plus sign", "12025550150", "not_a_number"],
    ["digits of another script", "+١٢٠٢٥٥٥٠١٥٠", "not_a_number"],
    ["a full-width plus sign", "＋12025550150", "not_a_number"],
    ["a number that is too long", "+4930123456789012", "not_a_number"],
    ["a leading zero", "+04930123456", "not_a_number"],
    ["two numbers", "+12025550150,+12025550151", "not_a_number"],
    ["an extension", "+12025550150x1", "not_a_number"],
    ["pauses and keys", "+12025550150pp9", "not_a_number"],
    // What costs more than its country.
    ["premium numbers of +1", "+19005550150", "costly_number"],
    ["premium numbers of an area of +1", "+13059760150", "costly_number"],
    ["Jamaica behind +1", "+18765550150", "costly_number"],
    ["the British Virgin Islands behind +1", "+12845550150", "costly_number"],
    ["premium numbers of Germany", "+499001234567", "costly_number"],
    ["premium numbers of Germany with more digits", "+49900123456789", "costly_number"],
    ["premium numbers of the United Kingdom", "+449098790000", "costly_number"],
    // Satellites are behind no country that was named.
    ["a satellite", "+881612345678", "prefix_not_allowed"],
    // Emergency and short numbers.
    ["an emergency number", "112", "emergency_number"],
    ["an emergency number with a plus sign", "+112", "emergency_number"],
    ["an emergency number behind a country", "+1911", "emergency_number"],
    ["another behind a country", "+44999", "emergency_number"],
    ["an emergency number with more digits", "+19115550150", "not_a_number"],
    ["a short number", "+49115", "emergency_number"],
    ["a short service", "+498888", "short_number"],
    // Injection into Asterisk's endpoint, or SIP's headers.
    ["a line's end", "+12025550150\r\nX-A: b", "not_a_number"],
    ["a line's end alone", "+12025550150\n", "not_a_number"],
    ["a carriage return", "+12025550150\r", "not_a_number"],
    ["a null", "+12025550150\0", "not_a_number"],
    ["a parameter", "+12025550150;maddr=10.0.0.1", "not_a_number"],
    ["another trunk", "+12025550150@other", "not_a_number"],
    ["another channel", "+12025550150&PJSIP/+19005550150", "not_a_number"],
    ["a path of Asterisk", "+12025550150/n", "not_a_number"],
    ["angle brackets", "<+12025550150>", "not_a_number"],
    ["a name", '"Bank" <sip:+12025550150@bank>', "not_a_number"],
    ["an empty text", "", "not_a_number"],
    // Addresses.
    ["a sip: address", "sip:alice@example.net", "address_not_allowed"],
    ["a sip: address of an allowed number", "sip:+12025550150@example.net", "address_not_allowed"],
    ["sip: in capitals", "SIP:alice@example.net", "address_not_allowed"],
    ["sips:", "sips:alice@example.net", "address_not_allowed"],
    ["tel:", "tel:+12025550150", "address_not_allowed"],
    ["client:", "client:alice", "address_not_allowed"],
    ["a channel of Asterisk", "PJSIP/+12025550150@trunk", "not_a_number"],
    ["Asterisk's own dialplan", "Local/s@closed", "not_a_number"],
  ])("is refused by name: %s", (_, number, rule) => {
    for (const leg of ["call", "dial", "redirect"] as const) {
      expect(ruleOf(number, undefined, leg)).toBe(rule);
    }
  });

  it("is refused: a sip: address that begins or ends as an allowed one", () => {
    const allow = ["sip:reception@10.0.0.9"];
    expect(ruleOf("sip:reception@10.0.0.9", allow)).toBeUndefined();
    for (const alike of [
      "sip:reception@10.0.0.90",
      "sip:reception@10.0.0.9:5070",
      "sip:reception@10.0.0.9;transport=tcp",
      "sip:reception@10.0.0.9?X=y",
      "sip:reception@10.0.0.9\r\n",
      "sip:Reception@10.0.0.9",
      "sip:areception@10.0.0.9",
    ]) {
      expect(ruleOf(alike, allow)).toBe("address_not_allowed");
    }
  });

  it("is refused: a caller's number of somebody else", () => {
    const at = noon;
    for (const other of ["+12025550198", `${from}\r\nX: y`, `"Bank" <${from}>`, ""]) {
      const asked = { from_number: other, to_number: to, leg: "call", at } as const;
      expect(limitsOf(["+1"]).admit(asked)?.reason).toBe("caller_not_owned");
    }
  });

  it("says nothing of a number in a refusal", () => {
    const asked = { from_number: from, to_number: "+33123456789", leg: "call", at: noon } as const;
    expect(JSON.stringify(limitsOf(["+1"]).admit(asked))).not.toMatch(/\d{5}/);
  });
});

describe("an allowed prefix", () => {
  it.each([
    ["+12025550150", "+1202"],
    ["+12025550150", "+1"],
    ["+493012345678", "+4930"],
    // One that names what costs more allows it.
    ["+18765550150", "+1876"],
    ["+4990012345678", "+49900"],
    ["+881612345678", "+8816"],
  ])("allows %s by %s", (number, prefix) => {
    expect(ruleOf(number, [prefix])).toBeUndefined();
  });

  it.each([
    ["+4", false],
    ["+49", true],
    ["+88", false],
    ["+881", true],
    ["+1", true],
    ["49", false],
    ["+", false],
    ["", false],
    ["+49 30", false],
    ["sip:", false],
    ["sip:alice@example.net", true],
    ["sip:alice@example.net;transport=tcp", false],
  ])("is a whole country code or more: %s, %s", (prefix, isRight) => {
    expect(isAllowable(prefix)).toBe(isRight);
  });
});

it("Asterisk gets nothing but a number or a whole address", () => {
  expect(endpointOf(to)).toBe(`PJSIP/${to}@trunk`);
  expect(endpointOf("sip:alice@10.0.0.9")).toBe("PJSIP/trunk/sip:alice@10.0.0.9");
  for (const each of [`${to}@x`, `${to}&`, `${to}\n`, "911", "sip:a@b;c=d", "Local/1@closed"]) {
    expect(endpointOf(each)).toBeUndefined();
  }
});

describe("a limit", () => {
  const call = (at: number) => ({ from_number: from, to_number: to, leg: "call", at }) as const;

  it("callsPerSecond counts second telephones too, and none that is refused", () => {
    const limits = limitsOf(["+1202"], { callsPerSecond: 2 });
    expect(limits.admit({ ...call(noon), to_number: "+33123456789" })?.status).toBe(403);
    expect(limits.admit(call(noon))).toBeUndefined();
    expect(limits.admit({ ...call(noon + 10), leg: "dial" })).toBeUndefined();
    expect(limits.admit(call(noon + 999))).toMatchObject({
      status: 429,
      reason: "calls_per_second",
    });
    expect(limits.usage(noon + 999).callsPerSecond).toBe(2);
    expect(limits.admit(call(noon + 1_000))).toBeUndefined();
  });

  it("callsPerSecond lets calls through after the clock was set back", () => {
    const limits = limitsOf(["+1202"], { callsPerSecond: 1 });
    expect(limits.admit(call(noon))).toBeUndefined();
    expect(limits.admit(call(noon - 3_600_000))).toBeUndefined();
  });

  it("callsAtOnce counts the calls that are not over", () => {
    const limits = limitsOf(["+1202"], { callsAtOnce: 1 });
    limits.add({ id: "one", to_number: to });
    expect(limits.admit(call(noon))).toMatchObject({ status: 429, reason: "calls_at_once" });
    expect(limits.admit({ ...call(noon), leg: "dial" })).toBeUndefined();
    limits.ended("one", noon);
    expect(limits.admit(call(noon))).toBeUndefined();
  });

  it("minutesPerDay counts from the answer, also of calls that are not over, and begins anew at midnight UTC", () => {
    const limits = limitsOf(["+1202"], { minutesPerDay: 10 });
    limits.add({ id: "one", to_number: to });
    expect(limits.admit(call(noon + 3_600_000))).toBeUndefined();
    limits.answered("one", noon);
    expect(limits.admit(call(noon + 599_000))).toBeUndefined();
    expect(limits.admit(call(noon + 600_000))).toMatchObject({
      status: 429,
      reason: "minutes_per_day",
    });
    limits.ended("one", noon + 600_000);
    expect(limits.admit(call(noon + 700_000))?.reason).toBe("minutes_per_day");
    expect(limits.admit(call(noon + 43_200_000))).toBeUndefined();
  });

  it("minutesPerDayToNumber refuses that number alone, and not as a limit of the service", () => {
    const limits = limitsOf(["+1202"], { minutesPerDayToNumber: 1 });
    limits.add({ id: "one", to_number: to, answered_at: noon, ended_at: noon + 60_000 });
    expect(limits.admit(call(noon + 60_000))).toMatchObject({
      status: 403,
      reason: "minutes_per_day_to_number",
    });
    expect(limits.admit({ ...call(noon + 60_000), to_number: "+12025550151" })).toBeUndefined();
    expect(limits.usage(noon + 60_000)).toMatchObject({
      callsAtOnce: 0,
      minutesPerDay: 1,
      minutesPerDayToNumber: 1,
    });
  });

  it("counts of a call that lasts over midnight what is of the day", () => {
    const midnight = Date.UTC(2026, 10, 29);
    const limits = limitsOf(["+1202"]);
    limits.add({ id: "one", to_number: to, answered_at: midnight - 600_000 });
    expect(limits.usage(midnight + 120_000).minutesPerDay).toBe(2);
    limits.ended("one", midnight + 180_000);
    expect(limits.usage(midnight + 240_000).minutesPerDay).toBe(3);
  });

  it("leaves out the calls of days before", () => {
    const limits = limitsOf(["+1202"]);
    const lasted = (id: string, ended_at: number) =>
      limits.add({ id, to_number: to, answered_at: ended_at - 60_000, ended_at });
    // The newest first, as the store has them.
    lasted("today", noon);
    lasted("yesterday", noon - 86_400_000);
    expect(limits.usage(noon).minutesPerDay).toBe(1);
  });
});
