import { describe, expect, test } from "vitest";
import { holdsKey, redactor } from "../../../src/http/redact.ts";

const key = "ak_1+Z/.*=9q8w7e?~";
const fresh = () => redactor([key], ["+12025550177", "+4930123456"]);
const redact = (text: unknown) => fresh().redact(text);
const { hasSecret } = fresh();

/** The key with another spelling of each character that is no letter or digit. */
const escapedFor = (spell: (code: number) => string) =>
  key.replace(/[^a-z\d]/gi, (character) => spell(character.charCodeAt(0)));

const base64url = (text: string) => btoa(text).replaceAll("+", "-").replaceAll("/", "_");

describe("a text is shown without the key and the call's numbers", () => {
  test.each([
    [`key ${key} here and ${key} there`, "key *** here and *** there"],
    ["ak_1xx is another", "ak_1xx is another"],
    ["+12025550177, %2B12025550177, 0012025550177, 12025550177", "***, ***, ***, ***"],
    ["nothing", "nothing"],
    [12025550177, "***"],
    [true, "true"],
    ["", ""],
  ])("%s becomes %s", (text, shown) => expect(redact(text)).toBe(shown));

  test.each([
    "+1 (202) 555-0177",
    "202.555.0177",
    "202 / 555 01 77",
    "202-5550177",
    "+1\u00a0202\u2011555\u20110177",
    "+49 30 123456",
    "30/123456",
    "202_555_0177",
    "202,555,0177",
    "+%31%32%30%32%35%35%35%30%31%37%37",
    "202%20555%200177",
    "202%2D555%2D0177",
    "202%C2%A0555%E2%80%910177",
    "202\\u00a0555\\u20110177",
    "202&nbsp;555&#8209;0177",
    "+1+202+555+0177",
    "1:202:555:0177",
    "202|555|0177",
    "202*555*0177",
    "%2B1%3202555017%37",
  ])("the number %s", (number) => expect(redact(`for ${number}, please`)).toBe("for ***, please"));

  test.each([
    ["percent-encoded", encodeURIComponent(key)],
    ["percent-encoded in lower case", encodeURIComponent(key).toLowerCase()],
    ["percent-encoded as in a form", `${new URLSearchParams([["", key]])}`.slice(1)],
    ["percent-encoded in part", encodeURI(key)],
    [
      "percent-encoded throughout",
      [...key].map((c) => `%${c.charCodeAt(0).toString(16)}`).join(""),
    ],
    ["in JSON", JSON.stringify(`"${key}`).slice(3, -1)],
    ["in JSON for a page", escapedFor((code) => `\\u${code.toString(16).padStart(4, "0")}`)],
    ["in HTML", escapedFor((code) => `&#${code};`)],
    ["in XML", escapedFor((code) => `&#x${code.toString(16).toUpperCase()};`)],
    ["in base64", btoa(key).replace(/=+$/, "")],
    ["in base64url", base64url(key).replace(/=+$/, "")],
    ["in percent-encoded base64", encodeURIComponent(btoa(key))],
  ])("the key %s", (_, spelling) => expect(redact(`the key ${spelling}.`)).toBe("the key ***."));

  test.each([
    ["behind one character", btoa(`:${key}!`)],
    ["behind two characters", btoa(`u:${key}!`)],
    ["behind a user", btoa(`user:${key}`)],
    ["in base64url", base64url(`u:${key}!`)],
  ])("the key in base64, %s", (_, spelling) => {
    expect(hasSecret(`Basic ${spelling}`)).toBe(true);
    expect(hasSecret(redact(`${spelling}`) ?? "")).toBe(false);
  });
});

test("a key with a space and quotes is found as in a form, and in HTML", () => {
  const spaced = `it's (a) "key"!~<&>`;
  expect(holdsKey(spaced, `${new URLSearchParams({ spaced })}`)).toBe(true);
  expect(holdsKey(spaced, "it&apos;s (a) &quot;key&quot;!~&lt;&amp;&gt;")).toBe(true);
});

describe("what holds no secret stays readable", () => {
  test.each([
    "2026-11-21",
    "between 2026-11-21T09:30:00Z and 2026-11-22 10:00",
    "order 20261121-000017",
    "+1 303 555 0147 is another number",
    "HTTP 1.1 502",
    "127.0.0.1:4010",
    "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    "req_01JD8Q2Z9X4V5T6B7N8M",
    "from_number does not belong to this account.",
    "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo=",
    "header.x-api-key: Field required",
    "x-api-key: is not authorised",
    "Authorization: Bearer is missing",
    "the wire said %41%42",
  ])("%s", (text) => {
    expect(hasSecret(text)).toBe(false);
    expect(redact(text)).toBe(text);
  });
});

describe("a text is left out", () => {
  test.each([
    ["that holds most of the key", `${key.slice(0, -4)}…`],
    ["that holds the key in pieces", `${key.slice(0, 6)}", "${key.slice(6)}`],
    ["that holds the key with spaces in it", [...key].join(" ")],
    ["that repeats a header of credentials", "x-api-key: 616b5f312b5a2f2e2a3d397138773765"],
    ["that repeats a bearer", '{"authorization":"Bearer e7w8q9=*./Z+1_ka"}'],
  ])("%s", (_, text) => expect(redact(text)).toBeUndefined());

  test("that is no text, or too long", () => {
    const own = { toString: () => "own" };
    const long = "x".repeat(4_097);
    for (const value of [undefined, null, {}, [], ["a"], own, Object.create(null), long])
      expect(redact(value)).toBeUndefined();
    expect(redact("x".repeat(4_096))).toHaveLength(4_096);
  });

  test("once those of the response before it have 4 096 characters", () => {
    const { redact } = fresh();
    for (const text of ["x".repeat(4_000), "y".repeat(96)]) expect(redact(text)).toBe(text);
    expect(redact("z")).toBeUndefined();
  });
});

test("a key that was cut short is found, and what begins like it isn't", () => {
  const long = redactor(["ak_live_9aXqZ7bWcD4eF8gH"], []);
  for (const cut of ["ak_live_9aXqZ7bWcD4eF…", "ak_live_9aXqZ7bWcD4eF8g"])
    expect(long.hasSecret(cut)).toBe(true);
  expect(long.hasSecret("ak_live_9a…")).toBe(false);
});

test("a short key is found as it is, and not in every word", () => {
  const short = redactor(["k-1"], []);
  expect(short.redact("k-1 is not valid, k1 is another")).toBe("*** is not valid, k1 is another");
});

test("a key of less than 8 characters may stand in a URL by chance", () => {
  expect(holdsKey("voice12", "https://voice12.test")).toBe(false);
  expect(holdsKey("voice123", "https://voice123.test")).toBe(true);
});

const hex = (character: string) => character.charCodeAt(0).toString(16);

test("a JWT as a key is found as it is, cut short and in each spelling", () => {
  const jwt = [...Array(9)]
    .map((_, at) => `eyJ${at}hbGciOi-JIUzI1_NiIsIn${at}R5cCI6IkpXVCJ9`)
    .join(".");
  const { redact, hasSecret } = redactor([jwt], []);
  for (const text of [
    jwt,
    jwt.slice(40, 120),
    btoa(jwt),
    btoa(`user:${jwt}`).slice(0, 200),
    base64url(`Bearer ${jwt}`),
    [...jwt].map((character) => `%${hex(character)}`).join(""),
  ]) {
    expect(hasSecret(text), text).toBe(true);
    expect(redact(`not ${text} again`), text).toBeUndefined();
  }
  expect(redact("eyJ0hbGciOi is how each begins, on 2026-11-21")).toMatch(/each/);
});

test("a key with the spelling of another character in it is found as it is, and spelled once more", () => {
  for (const odd of ["ak%41%42_\\u0041xyz", "ak&lt;9&#65;_4711", "ak\\nab\\tcd_7"]) {
    const { redact } = redactor([odd], []);
    for (const spelling of [odd, encodeURIComponent(odd)])
      expect(redact(`the key ${spelling}.`), spelling).toBe("the key ***.");
    expect(holdsKey(odd, `https://voice.test/${odd}`)).toBe(true);
    expect(holdsKey(odd, `https://voice.test/${encodeURIComponent(odd)}`)).toBe(true);
  }
});

test("a text that begins as a number is hidden as it is: nothing in it is a pattern", () => {
  for (const text of ["+(hello", "+abc(defghijkl", "+49 30 (12", "+[z-a] (sale", "+.*.*.*.*.*.*"]) {
    const { redact } = redactor([key], [text]);
    expect(redact(`near ${text}: no`)).toBe("near ***: no");
    expect(redact("nothing of it")).toBe("nothing of it");
  }
});

describe("a key that is too long for a pattern", () => {
  const line = (at: number) =>
    `${at}KfQ9vZ3LmX7cRt0YbN5hWd2GsJ8pUe4AoB1iVk6TgDwEqCnHxMlSyPzF/a+${at}`;
  const pem = ["-----BEGIN PRIVATE KEY-----", line(1), line(2), line(3), line(4), line(5)].join(
    " ",
  );
  const ofPem = () => redactor([pem], [], pem.split(" "));

  test.each([
    ["as it is", pem],
    ["on several lines", pem.replaceAll(" ", "\n")],
    ["escaped as in JSON", JSON.stringify(pem.replaceAll(" ", "\n"))],
    ["one line of it", line(3)],
    ["most of a line", line(4).slice(0, 52)],
    ["in base64", btoa(pem)],
    ["in base64, behind one character", btoa(`:${pem}`).slice(0, 300)],
    ["in base64url, behind two", base64url(`u:${pem}`).slice(100)],
    ["in percent-encoded base64", encodeURIComponent(btoa(pem))],
    ["percent-encoded throughout", [...pem].map((c) => `%${hex(c)}`).join("")],
    ["in HTML", pem.replaceAll("/", "&#x2F;").replaceAll("+", "&#43;")],
  ])("is left out %s", (_, text) => {
    expect(ofPem().hasSecret(text)).toBe(true);
    expect(ofPem().redact(`You sent ${text} to us`)).toBeUndefined();
  });

  test("hides nothing else, and may not stand in for any text", () => {
    const text = "The PRIVATE KEY of this application is not known.";
    expect(ofPem().redact(text)).toBe(text);
    const query = encodeURIComponent(pem.replaceAll(/\s+/g, " "));
    expect(holdsKey(pem, `https://voice.test/flow?k=${query}`)).toBe(true);
    expect(holdsKey("a-".repeat(200), "https://voice.test/a-b")).toBe(false);
    expect(holdsKey(pem, "https://voice.test/api/v1")).toBe(false);
  });
});

test.each([
  ["a text in Cyrillic", "Ваш пароль", encodeURIComponent],
  [
    "a text in a form",
    "Ваш пароль",
    (text: string) => `${new URLSearchParams([["", text]])}`.slice(1),
  ],
  ["Arabic digits", "٤٠٢٩١٣", encodeURIComponent],
  ["Japanese", "予約の確認", (text: string) => encodeURIComponent(text).toLowerCase()],
  ["the path of a URL", "https://media.example/Мария-Петрова/x.mp3", encodeURI],
])("%s is shown by no spelling in percents", (_, text, spell) => {
  const { redact } = redactor([], [text]);
  expect(redact(`cannot fetch ${spell(text)} now`)).toBe("cannot fetch *** now");
});

test("bytes that are no UTF-8 are shown as they are", () => {
  expect(redactor([], ["Ваш"]).redact("%ed%a0%80 %c1%81")).toBe("%ed%a0%80 %c1%81");
});
