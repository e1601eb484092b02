import { readFileSync } from "node:fs";
import { Client, isException } from "outdial";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Running, startPrism } from "./prism.ts";

const openapi = JSON.parse(
  readFileSync(new URL("../../../docs/openapi.json", import.meta.url), "utf8"),
);
const { requestBody } = openapi.paths["/api/v1/calls/initiate"].post;
const params = requestBody.content["application/json"].examples.call.value;

let mock: Running;
beforeAll(async () => {
  mock = await startPrism("mock");
});
afterAll(() => mock.stop());

test.each(["calls", "voice/calls"] as const)(
  "the client places a call with Prism's mock, at %s",
  async (path) => {
    const client = new Client("ak_example", { baseUrl: mock.url, path });
    const call = await client.calls.create({ ...params, flow_url: "http://127.0.0.1/flow" });
    expect(call.id).toMatch(/^cs_/);
    expect(call.to_number).toBe(params.to_number);
  },
);

const refused = Object.entries<{ "x-placed": string }>(openapi.components.responses).map(
  ([name, { "x-placed": placed }]) => ({ status: Number(name.replace("Refused", "")), placed }),
);

test.each(refused)(
  "after the mock's $status the client says placed: $placed",
  async ({ status, placed }) => {
    const headers = { Prefer: `code=${status}` };
    const client = new Client("ak_example", { baseUrl: mock.url, headers });
    const error: unknown = await client.calls.create(params).catch((reason: unknown) => reason);
    expect(isException(error) && { code: error.code, placed: error.placed }).toEqual({
      code: status,
      placed,
    });
  },
);
