import fc from "fast-check";
import { expect, it } from "vitest";
import { type LoggedEvent, logLine } from "../../../src/exchange/log.ts";
import { randomText } from "../../../src/server/account.ts";

const id = "cs_01KB4Z9N3V7XGQJ5T8WYRMH2PD";

/** An event of each type, with all its fields. */
const events: readonly LoggedEvent[] = [
  { type: "stored", call_id: id, side: "outdial" },
  { type: "rang", call_id: id },
  { type: "answered", call_id: id },
  { type: "ended", call_id: id, state: "completed", reason: "normal", talkTime: 61_499 },
  { type: "refused", side: "twilio", status: 403, rule: "prefix" },
  {
    type: "notification",
    call_id: id,
    id: "evt_01KB4Z9N3V7XGQJ5T8WYRMH2PD",
    event: "call.completed",
    try: 6,
    outcome: "given_up",
    status: 500,
    ms: 12,
  },
  { type: "asterisk", state: "lost" },
  { type: "swept", channels: 3 },
  { type: "recording_ended", call_id: id, end: "cut", bytes: 3 * 2 ** 20 },
  { type: "recording_failed", call_id: id, code: "ENOSPC" },
  { type: "recording_deleted", call_id: id, why: "age" },
  { type: "started" },
  { type: "sign_in", outcome: "refused" },
  { type: "key_regenerated" },
];

it("is a line of JSON with a time, a level and the words and counts of the event", () => {
  expect(events.map((event) => JSON.parse(logLine(event, 0)))).toMatchObject([
    { time: "1970-01-01T00:00:00.000Z", level: "info", event: "stored", call_id: id },
    { event: "rang" },
    { event: "answered", call_id: id },
    { event: "ended", state: "completed", reason: "normal", talk_seconds: 61 },
    { event: "refused", side: "twilio", status: 403, rule: "prefix" },
    {
      level: "warn",
      event: "notification",
      notification: "call.completed",
      notification_id: "evt_01KB4Z9N3V7XGQJ5T8WYRMH2PD",
      try: 6,
      outcome: "given_up",
      status: 500,
      ms: 12,
    },
    { level: "warn", event: "asterisk", state: "lost" },
    { level: "warn", event: "swept", channels: 3 },
    { event: "recording_ended", end: "cut", mebibytes: 3 },
    { level: "warn", event: "recording_failed", code: "ENOSPC" },
    { event: "recording_deleted", why: "age" },
    { event: "started" },
    { level: "warn", event: "sign_in", outcome: "refused" },
    { event: "key_regenerated" },
  ]);
});

const hex = (length: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength: length, maxLength: length });

/** Telephone numbers, as numbers and in usual spellings. */
const numbers = fc
  .tuple(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 10_000_000, max: 9_999_999_999 }))
  .chain(([country, rest]) =>
    fc.constantFrom<string | number>(
      `+${country}${rest}`,
      `00${country}${rest}`,
      `${country} ${rest}`,
      `sip:${country}${rest}@trunk.example`,
      `+${country} (${String(rest).slice(0, 3)}) ${String(rest).slice(3)}`,
      `%2B${country}${rest}`,
      Number(`${country}${rest}`),
      rest,
    ),
  );

/** Keys and secrets of each interface. */
const keys = fc.oneof(
  fc.constant(null).map(() => `ak_${randomText()}`),
  fc.constant(null).map(() => `whsec_${randomText()}=`),
  fc.constant(null).map(() => randomText()),
  hex(32),
  hex(32).map((text) => `KEY${text.toUpperCase()}_${text.slice(0, 22)}`),
  hex(40).map((text) => `-----BEGIN PRIVATE KEY-----\n${text}\n-----END PRIVATE KEY-----`),
);

const digitsIn = (value: unknown): string => String(value).replace(/\D/g, "");

it("has neither a number nor a key, whatever stands in whichever field", () => {
  const secrets = fc.oneof(
    numbers.map((value) => ({ value, parts: [digitsIn(value).slice(-8)] })),
    keys.map((value) => ({ value, parts: [value.slice(4, 24), value.slice(-12)] })),
  );
  const wrapped = fc.tuple(secrets, fc.constantFrom("", " ", "?to=", "_"), fc.boolean());
  const names = [...new Set(events.flatMap((event) => Object.keys(event))), "to", "detail", "url"];
  fc.assert(
    fc.property(
      fc.constantFrom(...events),
      fc.constantFrom(...names),
      wrapped,
      (event, name, [{ value, parts }, before, isList]) => {
        const placed = before === "" ? value : `${before}${value}`;
        const changed = { ...event, [name]: isList ? [placed] : placed };
        const line = logLine(changed as LoggedEvent, 0);
        const rest = line.replaceAll(id, "").replace("1970-01-01T00:00:00.000Z", "");
        for (const part of parts) expect(rest).not.toContain(part);
        expect(line).not.toMatch(/[\r\n]/);
      },
    ),
    { numRuns: 3_000 },
  );
});
