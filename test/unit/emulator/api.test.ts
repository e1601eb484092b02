import { afterAll, describe, expect, it } from "vitest";
import { createEmulator } from "../../../src/emulator/index.ts";

const params = {
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};

const url = "https://emulator.test/api/v1/calls/initiate";
const emulator = createEmulator({
  numbers: [params.from_number],
  fetch: () => new Response(null, { status: 204 }),
});
const { apiKey, fetch } = emulator;

// The calls that were accepted go on in real time: their timers would run on into other files of this worker.
afterAll(() => emulator.close());

const post = (body: unknown, init: RequestInit = {}, to = url) =>
  fetch(to, {
    method: "POST",
    headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...init,
  });

const seen = async (response: Response) => [response.status, await response.json()];

describe("the API", () => {
  it.each([url, "https://emulator.test/api/v1/voice/calls/initiate", `${url}?x=1`])(
    "accepts a call at %s",
    async (to) => {
      const [status, body] = await seen(await post(params, {}, to));
      expect(status).toBe(202);
      const { from_number, to_number, status_callback_url } = params;
      const id = expect.stringMatching(/^cs_[0-9A-HJKMNP-TV-Z]{26}$/);
      expect(body).toEqual({
        message: expect.any(String),
        data: { id, from_number, to_number, status_callback_url, record: true },
      });
    },
  );

  it.each([
    "/",
    "/api/v1/calls",
    "/api/v1/calls/initiate/",
    "/x/api/v1/calls/initiate",
    "/api/v2/calls/initiate",
  ])("knows no route %s", async (path) => {
    expect(await seen(await post(params, {}, `https://emulator.test${path}`))).toEqual([
      404,
      { detail: "Not Found", message: "Not Found" },
    ]);
  });

  it.each(["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"])("refuses %s", async (method) => {
    const response = await fetch(url, { method });
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("POST");
  });

  const key = { "X-API-Key": apiKey };
  const json = { "Content-Type": "application/json" };

  it.each([
    [
      "no key",
      {},
      "{",
      422,
      [{ loc: ["header", "x-api-key"], msg: "Field required", type: "missing" }],
    ],
    ["an empty key", { "X-API-Key": "" }, "{", 403, "Invalid API Key."],
    ["a wrong key", { "X-API-Key": "no" }, "{", 403, "Invalid API Key."],
    ["a key too long", { "X-API-Key": `${apiKey}x` }, "{", 403, "Invalid API Key."],
    ["no media type", key, "{", 415, expect.any(String)],
    ["another media type", { ...key, "Content-Type": "text/json" }, "{", 415, expect.any(String)],
    ["64 KiB + 1", { ...key, ...json }, " ".repeat(65_537), 413, expect.any(String)],
    ["64 KiB of blanks", { ...key, ...json }, " ".repeat(65_536), 400, expect.any(String)],
    ["half of JSON", { ...key, ...json }, "{", 400, expect.any(String)],
    ["nothing", { ...key, ...json }, "", 400, expect.any(String)],
    [
      "an array",
      { ...key, ...json },
      "[]",
      422,
      [{ loc: ["body"], msg: expect.any(String), type: "value_error" }],
    ],
  ])("refuses %s", async (_, headers, body, status, detail) => {
    expect(await seen(await post(body, { headers }))).toEqual([
      status,
      { detail, message: typeof detail === "string" ? detail : expect.any(String) },
    ]);
  });

  it.each([
    [{ ...params, to_number: undefined }, "to_number", "missing"],
    [{ ...params, to_number: "123" }, "to_number", "value_error"],
    [{ ...params, record: null }, "record", "value_error"],
    [{ ...params, flow_url: "http://app.test/" }, "flow_url", "value_error"],
    [{ ...params, flow_url: "http://localhost/" }, "flow_url", "value_error"],
    [{ ...params, more: 1 }, "more", "extra_forbidden"],
    [{ ...params, toString: 1 }, "toString", "extra_forbidden"],
  ])("names the wrong field of %j", async (body, field, type) => {
    expect(await seen(await post(body))).toEqual([
      422,
      {
        detail: [{ loc: ["body", field], msg: expect.any(String), type }],
        message: expect.stringContaining(`body.${field}: `),
      },
    ]);
  });

  it("refuses bytes that are not UTF-8", async () => {
    const response = await post("", { body: new Uint8Array([0x22, 0xff, 0x22]) });
    expect(response.status).toBe(400);
  });

  it("rejects as the body of a request does that breaks off", async () => {
    const lost = new Error("connection lost");
    const body = new ReadableStream({ pull: (controller) => controller.error(lost) });
    await expect(post("", { body, duplex: "half" } as RequestInit)).rejects.toBe(lost);
  });

  it("takes plain http on loopback where it is itself on loopback", async () => {
    const local = { ...params, flow_url: "http://127.0.0.1:9/flow" };
    const to = "http://127.0.0.1:4010/api/v1/calls/initiate";
    expect((await post(local, {}, to)).status).toBe(202);
  });

  it("refuses a foreign from_number last", async () => {
    const foreign = { ...params, from_number: "+12025550198" };
    const detail = "from_number does not belong to this account.";
    expect(await seen(await post(foreign))).toEqual([403, { detail, message: detail }]);
  });

  it("lets a page on another origin call it", async () => {
    const response = await fetch(url, {
      method: "OPTIONS",
      headers: { "Access-Control-Request-Method": "POST" },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-headers")).toMatch(
      /x-api-key, content-type/i,
    );
    expect((await post(params)).headers.get("access-control-allow-origin")).toBe("*");
  });
});

describe("the scenario numbers", () => {
  const dial = (to_number: string, init: RequestInit = {}) => post({ ...params, to_number }, init);

  it.each([
    ["+12025550110", 503],
    ["+12025550111", 429],
  ])("%s answers %i with Retry-After", async (to_number, status) => {
    const response = await dial(to_number);
    expect(response.status).toBe(status);
    expect(response.headers.get("retry-after")).toBe("1");
    expect(response.headers.get("access-control-expose-headers")).toContain("Retry-After");
  });

  it("+12025550118 answers 503 without Retry-After: the call is placed, so nothing asks to repeat the request", async () => {
    const before = emulator.calls.length;
    const response = await dial("+12025550118");
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, null]);
    expect(emulator.calls.length).toBe(before + 1);
  });

  it("+12025550112 answers only the abort, with its reason", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const response = dial("+12025550112", { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 10);
    await expect(response).rejects.toBe(reason);
  });

  it("+12025550113 stalls in the body until the abort", async () => {
    const controller = new AbortController();
    const response = await dial("+12025550113", { signal: controller.signal });
    expect(response.status).toBe(202);
    const text = response.text();
    setTimeout(() => controller.abort(new Error("enough")), 10);
    await expect(text).rejects.toThrow("enough");
  });

  it("+12025550114 drops the connection", async () => {
    await expect(dial("+12025550114")).rejects.toThrow(TypeError);
  });

  it("+12025550115 accepts without JSON", async () => {
    const response = await dial("+12025550115");
    expect(response.status).toBe(202);
    await expect(response.json()).rejects.toThrow(SyntaxError);
  });
});

describe("keys", () => {
  it("are new for every emulator, 32 random bytes", () => {
    expect(apiKey).toMatch(/^ak_[\w-]{43}$/);
    expect(createEmulator().apiKey).not.toBe(apiKey);
  });

  it("rejects a request whose signal has aborted, with its reason", async () => {
    const reason = new Error("before");
    await expect(post(params, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});
