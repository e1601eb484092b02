import { describe, expect, test } from "vitest";
import { redactor } from "../../../src/request/redact.ts";

const key = "ak_1+Z/.*=9q8w7e";
const { words, holds } = redactor([key], ["+12025550177", "+4930123456"]);

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
  ])("%s looks like a telephone number", (text) =>
    expect(words(`(${text})`)).not.toMatch(/\p{Nd}/u),
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

test("a short key is found as it is, and not in every word", () => {
  const short = redactor(["k-1"], []);
  expect(short.words("k-1 is not valid, k1 is another")).toBe("*** is not valid, k1 is another");
});

test("a key that is tried later is known from then on", () => {
  const keys = ["ak_first-key"];
  const growing = redactor(keys, []);
  expect(growing.holds("ak_second-key")).toBe(false);
  keys.unshift("ak_second-key");
  expect(growing.holds("ak_second-key")).toBe(true);
});

test("a text of the largest size is read within a moment, whatever it is made of", () => {
  const began = performance.now();
  for (const piece of ["a", "1 2", "%41", "QUJD", "ab ", "&#65;", "1(", "\\u0041"])
    words(piece.repeat(4_096 / piece.length));
  expect(performance.now() - began).toBeLessThan(2_000);
});
