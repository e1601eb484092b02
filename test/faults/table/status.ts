import type { Fault } from "../fault.ts";
import { refused, unclear } from "./outcomes.ts";

/** A redirect that is hidden may be one that answers a processed POST. */
const hidden = {
  chromium: {
    code: 0,
    placed: "maybe",
    why: "hides the status of a redirect that is not followed",
  },
} as const;

const redirects: readonly Fault[] = [300, 301, 302, 303, 304, 305, 306, 307, 308].flatMap(
  (status) =>
    [
      { where: "the same host", location: "/elsewhere" },
      { where: "another host", location: "{elsewhere}/api/v1/calls/initiate" },
    ].map(({ where, location }) => ({
      name: `${status} to ${where}`,
      server: { status, headers: { location }, body: "" },
      expected: status < 307 ? unclear(status) : refused(status),
      ...(![300, 304, 305, 306].includes(status) && { except: hidden }),
    })),
);

const fieldError = '{"loc":["body","to_number"],"msg":"{number} is no number","type":"value"}';
/** As the exception tells it: the number is taken out. */
const toldError = { loc: ["body", "to_number"], msg: "*** is no number", type: "value" };

/** A date has no fractions of a second, and the answer takes a while: up to 5 s, says this table. */
const retryAfters: readonly {
  readonly name: string;
  readonly value: string;
  readonly reported?: readonly [number, number];
}[] = [
  { name: "1", value: "1", reported: [1, 1] },
  { name: "a date in 30 s", value: "{in 30 s}", reported: [25, 30] },
  { name: "a date 30 s ago", value: "{30 s ago}", reported: [0, 0] },
  { name: "junk", value: "soon" },
  { name: "seconds below 0", value: "-1" },
  { name: "seconds that are no whole number", value: "1.5" },
];

/** JSON that is no text where a text belongs. */
const hostile: readonly { readonly name: string; readonly body: string }[] = [
  { name: "nested 50,000 deep", body: `${"[".repeat(50_000)}${"]".repeat(50_000)}` },
  { name: "whose detail has a toString of its own", body: '{"detail":{"toString":1}}' },
  { name: "whose names are key and number", body: '{"{key}":1,"{number}":{"{key}":1}}' },
];

/** Refusals and failures with a whole head. */
export const status: readonly Fault[] = [
  ...redirects,
  {
    name: "401",
    server: { status: 401, body: '{"detail":"Who?"}' },
    expected: refused(401, "UnauthorizedException"),
  },
  {
    name: "403 that repeats key and number",
    server: { status: 403, body: '{"detail":"{key} may not call {number}"}' },
    expected: refused(403, "ForbiddenException"),
  },
  ...[404, 405].map((status) => ({
    name: `${status}, on either path`,
    server: { status, body: "" },
    expected: { ...refused(status), posts: 2 },
  })),
  ...[408, 425, 499].map((status) => ({
    name: `${status}`,
    server: { status, body: "" },
    expected: unclear(status),
  })),
  {
    name: "408 on a kept connection",
    server: { kept: true, status: 408, body: "" },
    expected: unclear(408),
    except: { chromium: { posts: 2, why: "sends a POST again by itself after a 408" } },
  },
  ...[400, 409, 413, 415].map((status) => ({
    name: `${status}`,
    server: { status, body: '{"detail":"No."}' },
    expected: status === 409 ? unclear(status) : refused(status),
  })),
  {
    name: "413 before the body of the request was read",
    server: { status: 413, unread: true, body: '{"detail":"No."}' },
    expected: refused(413),
  },
  {
    name: "422 with a detail",
    server: { status: 422, body: `{"detail":[${fieldError}]}` },
    expected: { ...refused(422), errors: [toldError] },
  },
  {
    name: "422 with errors",
    server: {
      status: 422,
      body: `{"success":false,"message":"{key}?","errors":[${fieldError}]}`,
    },
    expected: { ...refused(422), errors: [toldError] },
  },
  ...retryAfters.map(({ name, value, reported }) => ({
    name: `429, Retry-After: ${name}`,
    server: { status: 429, headers: { "retry-after": value }, body: "" },
    expected: { ...refused(429), ...(reported && { retryAfter: reported }) },
  })),
  ...[500, 501, 502, 503, 504].map((status) => ({
    name: `${status}`,
    server: { status, headers: { "retry-after": "0" }, body: '{"detail":"Ouch."}' },
    expected: { ...unclear(status), retryAfter: [0, 0] as const },
  })),
  ...[422, 503].flatMap((status) =>
    hostile.map(({ name, body }) => ({
      name: `${status} ${name}`,
      server: { status, body },
      expected: status === 503 ? unclear(status) : refused(status),
    })),
  ),
  {
    name: "500 in HTML that repeats key and number",
    server: {
      status: 500,
      headers: { "content-type": "text/html" },
      body: "<pre>X-API-Key: {key} to_number: {number}</pre>",
    },
    expected: unclear(500),
  },
];
