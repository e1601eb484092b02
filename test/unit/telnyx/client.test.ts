import { expect, test, vi } from "vitest";
import { create } from "../../../src/calls/index.ts";
import { telnyx } from "../../../src/carriers/telnyx/index.ts";
import { answering, refusalBy } from "../carriers/calls.ts";
import { params } from "../carriers/carriers.ts";

const apiKey = "KEY0195E7A1C3F24B8D9_q1w2E3r4T5y6U7i8";
const service = telnyx({ applicationId: "1494404757140276705" });
const refusal = refusalBy(service, apiKey);
const sid = "v3:mdi91X4lWFEs7IgbBEOT9M4AigoY08M0WWZFISt1Yw2axZ_IiE4pqg";
const queued = { from: params.from_number, to: params.to_number, status: "queued", call_sid: sid };

test.each([[{ call_sid: sid }], [{ CallSid: sid }], [{ sid }], [{ data: { call_sid: sid } }]])(
  "the call's id is taken from %j",
  async (body) => {
    const { fetch } = answering(() => Response.json(body));
    expect((await create(params, { apiKey, service, fetch })).id).toBe(sid);
  },
);

const says = (status: number, ...errors: readonly object[]) =>
  answering(() => Response.json({ errors }, { status, headers: { "x-request-id": "R1" } })).fetch;

test("a refusal has Telnyx's code, detail, request id, and the fields that it is about", async () => {
  const detail = "The 'To' parameter must be of type 'string'";
  const error = await refusal({
    fetch: says(
      422,
      { code: "10026", title: "Invalid parameter type", detail, source: { pointer: "/To" } },
      { code: "10003", title: "Invalid URL", source: { pointer: "/StatusCallback" } },
      { code: "10004", title: "Missing", source: { pointer: "/ApplicationId" } },
    ),
  });
  expect(error).toMatchObject({
    ...{ code: 422, placed: "no", reason: "10026", detail, requestId: "R1" },
    errors: [
      { loc: ["to_number"], msg: detail, type: "10026" },
      { loc: ["status_callback_url"], msg: "Invalid URL", type: "10003" },
      { loc: ["ApplicationId"], msg: "Missing", type: "10004" },
    ],
  });
});

test("an error about no field has a code and a detail, and one without either has none", async () => {
  const limited = { code: "90041", title: "User termination channels limit exceeded" };
  const error = await refusal({ fetch: says(403, limited) });
  expect(error).toMatchObject({
    ...{ name: "ForbiddenException", reason: "90041", detail: limited.title, placed: "no" },
  });
  expect(error).not.toHaveProperty("errors");
  const bare = await refusal({ fetch: says(503) });
  for (const name of ["reason", "errors"]) expect(bare).not.toHaveProperty(name);
});

test("a 429 is tried again once Telnyx's own header says that there is room", async () => {
  const busy = () => new Response("{}", { status: 429, headers: { "x-ratelimit-reset": "2" } });
  expect((await refusal({ fetch: answering(busy).fetch })).retryAfter).toBe(2);
  vi.useFakeTimers();
  try {
    const { fetch, sent } = answering(busy, () => Response.json(queued));
    const call = create(params, { apiKey, service, fetch, retries: 1 });
    await vi.advanceTimersByTimeAsync(1_999);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect((await call).id).toBe(sid);
  } finally {
    vi.useRealTimers();
  }
});

test("the longest URL that Telnyx takes is taken", async () => {
  const { fetch, sent } = answering(() => Response.json(queued));
  const flow_url = `https://app.test/${"x".repeat(1983)}`;
  await create({ ...params, flow_url }, { apiKey, service, fetch });
  expect(JSON.parse(sent[0]?.body ?? "").Url).toHaveLength(2000);
});
