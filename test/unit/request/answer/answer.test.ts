import { expect, test } from "vitest";
import { answerOf } from "../../../../src/request/answer/answer.ts";

const url = "https://voice.test/api/v1/calls/initiate";
const head = (status: number, more: object = {}) =>
  answerOf({ status, headers: new Headers(), url, ...more } as Response, url);

test.each([
  ["no", [307, 308, 400, 401, 403, 404, 405, 410, 413, 418, 422, 424, 426, 429, 451, 498]],
  ["maybe", [0, 101, 200, 202, 204, 300, 301, 302, 303, 304, 305, 306, 309, 399]],
  ["maybe", [408, 409, 425, 499, 500, 502, 503, 504, 599, 600, 999]],
] as const)("what may have been placed: %s after %j", (placed, statuses) => {
  for (const status of statuses) expect(head(status).placed, `${status}`).toBe(placed);
});

test("what came through a redirect tells nothing, by its mark or by its address", () => {
  for (const status of [200, 202, 307, 403, 404, 429]) {
    const { ok, placed } = head(status, { redirected: true });
    expect([ok, placed]).toEqual([false, "maybe"]);
  }
  expect(head(404, { url: "https://voice.test/elsewhere" }).placed).toBe("maybe");
});

test("an address that is only written otherwise, or is unknown, is no redirect", () => {
  const asked = "HTTPS://Voice.test:443/api/v1/calls/initiate";
  for (const given of [url, "", undefined]) {
    expect(answerOf({ status: 404, url: given } as Response, asked).placed).toBe("no");
  }
});

test("a 2xx of another address is an answer: a fetch of the caller's may lead through a gateway", () => {
  expect(head(202, { url: "https://gateway.test/" }).ok).toBe(true);
});

test("what has no status is no answer", () => {
  for (const junk of [{}, { ok: true }, { status: "202" }, { status: 202.5 }, "text"]) {
    expect(() => answerOf(junk as never, url)).toThrow("fetch gave no Response");
  }
});

test("an answer without headers, or whose headers throw, has none", () => {
  const throwing = {
    get: () => {
      throw new Error("no");
    },
  };
  for (const headers of [undefined, {}, throwing]) {
    expect(head(500, { headers }).header("retry-after")).toBe("");
  }
});
