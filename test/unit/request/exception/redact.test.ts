import { describe, expect, test } from "vitest";
import { redactor } from "../../../../src/request/exception/redact.ts";

const key = "ak_1+Z/.*=9q8w7e";
const fresh = () => redactor([key], ["+12025550177", "+4930123456"]);
const words = (text: unknown) => fresh().words(text);
const { holds } = fresh();

describe("the service's words", () => {
  test.each([
    [`key ${key} here and ${key} there`, "key *** here and *** there"],
    ["ak_1xx is another", "ak_1xx is another"],
    ["+12025550177, %2B12025550177, 12025550177", "***, %2B***, ***"],
    ["nothing", "nothing"],
    [12025550177, "***"],
    [true, "true"],
    ["", ""],
  ])("%s becomes %s", (text, clean) => expect(words(text)).toBe(clean));

  test.each([
    "+1 (202) 555-0143",
    "202.555.0143",
    "0202 / 555 01 43",
    "555-0143",
    "０２０２５５５０１４３",
    "+1\u00a0202\u2011555\u20110143",
    "1\u200b2\u200b0\u200b2\u200b5\u200b5\u200b5\u200b0",
    "2026-11-21",
    "1,303,555,0147",
    "1·303•555−0147",
    "1'303'555．0147",
    "1&nbsp;303%20555%2D0147",
    "1\\t303\\u00a0555\\n0147",
  ])("%s looks like a telephone number", (text) =>
    expect(words(`(${text})`) ?? "").not.toMatch(/\p{Nd}/u),
  );

  test.each(["555 013", "HTTP 1.1 502", "1 of 20 rows, 15 left", "127.0.0.1:4010"])(
    "%s does not",
    (text) => expect(words(text)).toBe(text),
  );

  test("what is no text, or too long to be an explanation, is none", () => {
    const own = { toString: () => "own" };
    for (const value of [
      undefined,
      null,
      {},
      [],
      ["a"],
      own,
      Object.create(null),
      "x".repeat(4_097),
    ])
      expect(words(value)).toBeUndefined();
    expect(words("x".repeat(4_096))).toHaveLength(4_096);
  });

  test("are looked at up to a measure, all of one answer together", () => {
    const { words } = fresh();
    for (const text of ["x".repeat(4_000), "y".repeat(96)]) expect(words(text)).toBe(text);
    expect(words("z")).toBeUndefined();
  });
});

const hex = (text: string) => [...text].map((one) => one.charCodeAt(0).toString(16)).join("");
const each = (text: string, write: (code: string) => string) =>
  [...text].map((one) => write(one.charCodeAt(0).toString(16).padStart(2, "0"))).join("");

const encodings: Readonly<Record<string, (text: string) => string>> = {
  "as it is": String,
  "in another case": (text) => text.toUpperCase(),
  "with spaces in it": (text) => [...text].join(" "),
  "in quotes and pieces": (text) => `${text.slice(0, 5)}", "${text.slice(5)}`,
  "percent-encoded": encodeURIComponent,
  "percent-encoded, each character": (text) => each(text, (code) => `%${code}`),
  "percent-encoded twice": (text) => encodeURIComponent(encodeURIComponent(text)),
  "escaped in JSON": (text) => each(text, (code) => `\\u00${code}`),
  "escaped in JavaScript": (text) => each(text, (code) => `\\x${code}`),
  "escaped by code point": (text) => each(text, (code) => `\\u{${code}}`),
  "in HTML, hexadecimal": (text) => each(text, (code) => `&#x00${code};`),
  "in HTML, decimal": (text) => [...text].map((one) => `&#${one.charCodeAt(0)};`).join(""),
  "in HTML, by name": (text) => text.replace("+", "&plus;").replace("=", "&equals;"),
  "in quoted-printable": (text) => each(text, (code) => `=${code.toUpperCase()}`),
  "in hexadecimal": hex,
  "in hexadecimal, after half a byte": (text) => `a${hex(text)}`,
  "in base64": btoa,
  "in base64, percent-encoded": (text) => encodeURIComponent(btoa(text)),
  "in base64, broken into lines": (text) => btoa(text).replace(/.{5}/g, "$&\r\n"),
  "in base64, behind one byte": (text) => btoa(`:${text}`),
  "in base64, behind two bytes": (text) => btoa(`u:${text}`),
  "in base64, behind other letters": (text) => `Basic${btoa(`user:${text}!`)}`,
  "in base64url": (text) => btoa(text).replaceAll("+", "-").replaceAll("/", "_"),
  "in base64 twice": (text) => btoa(btoa(text)),
  "in base64 thrice": (text) => btoa(btoa(btoa(text))),
  "in base64, broken by escapes": (text) => btoa(text).replace(/.{5}/g, "$&\\r\\n"),
  "in base64, broken by numbers": (text) => `0000000${btoa(`::${text}`)}`,
  "broken by an escape": (text) => `${text.slice(0, 5)}\\n${text.slice(5)}`,
  "broken by a colour": (text) => `${text.slice(0, 5)}\x1b[31m${text.slice(5)}`,
  "in HTML, without an end": (text) => [...text].map((one) => `&#${one.charCodeAt(0)}`).join(""),
  "escaped by %u": (text) => each(text, (code) => `%u00${code}`),
  "escaped in CSS": (text) => each(text, (code) => `\\${code} `),
  "in hexadecimal, with colons": (text) => each(text, (code) => `${code}:`),
  "in hexadecimal, number by number": (text) => each(text, (code) => `0x${code}, `),
  "as the numbers of its bytes": (text) =>
    JSON.stringify([...text].map((one) => one.charCodeAt(0))),
};

describe.each(Object.entries(encodings))("a secret %s", (_, encode) => {
  test.each([
    ["the key", key],
    ["a number", "+12025550177"],
    ["a number, from its area on", "2025550177"],
    ["a short number, without its country", "30123456"],
  ])("is found: %s", (_name, secret) => {
    expect(holds(`x ${encode(secret)} y`)).toBe(true);
    const told = words(`x ${encode(secret)} y`);
    expect(told === undefined || !holds(told)).toBe(true);
  });
});

test("what holds no secret is known to hold none", () => {
  for (const text of [
    "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "req_01JD8Q2Z9X4V5T6B7N8M",
    "from_number does not belong to this account.",
    "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo=",
  ])
    expect(holds(text), text).toBe(false);
});

test("a key that was cut short is found, and what begins like it isn't", () => {
  const long = redactor(["ak_live_9aXqZ7bWcD4eF8gH"], []);
  for (const cut of ["ak_live_9aXqZ7bWcD4eF…", "ak_live_9aXqZ7bWcD4eF8g"])
    expect(long.holds(cut)).toBe(true);
  expect(long.holds("ak_live_9a…")).toBe(false);
});

test("a short key is found as it is, and not in every word", () => {
  const short = redactor(["k-1"], []);
  expect(short.words("k-1 is not valid, k1 is another")).toBe("*** is not valid, k1 is another");
});

test("a text of the largest size is read within a moment, whatever it is made of", () => {
  const began = performance.now();
  for (const piece of ["a", "1 2", "%41", "QUJD", "ab ", "&#65;", "1(", "\\u0041"])
    words(piece.repeat(4_096 / piece.length));
  expect((performance.now() - began) / 8).toBeLessThan(300);
});
