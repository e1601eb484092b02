import { readFileSync } from "node:fs";
import { createEmulator, type EmulatorOptions } from "outdial/emulator";
import { expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { path } from "../examples/execute.ts";
import { errorsOf } from "./values.ts";

const origin = "https://emulator.test";
const from_number = "+12025550199";
const params = {
  from_number,
  to_number: "+12025550100",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};

const openapi = JSON.parse(readFileSync(path("docs/openapi.json"), "utf8"));
const { responses: refusals } = openapi.components;

const start = (options: EmulatorOptions = {}) =>
  createEmulator({
    clock: "instant",
    untimedMedia: true,
    numbers: [from_number],
    fetch: () => new Response(),
    ...options,
  });

test.each(["openapi.json", "asyncapi.json"])(
  "the emulator serves %s as it is in docs/",
  async (file) => {
    await using emulator = start();
    const response = await emulator.fetch(`${origin}/${file}`);
    expect(response.status).toBe(200);
    expect(response.headers.get("Content-Type")).toBe("application/json");
    expect(response.headers.get("Access-Control-Allow-Origin")).toBe("*");
    expect(await response.json()).toEqual(JSON.parse(readFileSync(path(`docs/${file}`), "utf8")));

    const head = await emulator.fetch(`${origin}/${file}`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const post = await emulator.fetch(`${origin}/${file}`, { method: "POST" });
    expect([post.status, post.headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
    expect((await emulator.fetch(`${origin}/${file}/`)).status).toBe(404);
  },
);

interface Sent {
  readonly status: number;
  readonly name: string;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const requests: readonly Sent[] = [
  { status: 202, name: "a call", body: params },
  { status: 202, name: "a call without a recording", body: { ...params, record: false } },
  {
    status: 202,
    name: "a call with its flow",
    body: { ...params, flow_url: undefined, flow: { action: "hangup" } },
  },
  {
    status: 422,
    name: "a flow beside flow_url",
    body: { ...params, flow: { action: "hangup" } },
  },
  {
    status: 422,
    name: "a flow against its rule",
    body: { ...params, flow_url: undefined, flow: { action: "say", prompts: [] } },
  },
  { status: 400, name: "no JSON", body: "{" },
  { status: 403, name: "another key", body: params, headers: { "X-API-Key": "ak_wrong" } },
  {
    status: 403,
    name: "a number of somebody else",
    body: { ...params, from_number: "+12025550198" },
  },
  { status: 413, name: "a large body", body: " ".repeat(65_537) },
  {
    status: 415,
    name: "another media type",
    body: params,
    headers: { "Content-Type": "text/plain" },
  },
  { status: 422, name: "an absent field", body: { ...params, flow_url: undefined } },
  { status: 422, name: "an unknown field", body: { ...params, recrod: false } },
  { status: 422, name: "a field against its rule", body: { ...params, to_number: "1" } },
  { status: 422, name: "no object", body: [] },
  { status: 429, name: "a limit", body: { ...params, to_number: "+12025550111" } },
  { status: 503, name: "an outage", body: { ...params, to_number: "+12025550110" } },
];

test.each(requests)(
  "the emulator responds as the file says: $status to $name",
  async ({ status, body, headers }) => {
    await using emulator = start();
    for (const at of Object.keys(openapi.paths).filter((path) => path.endsWith("/initiate"))) {
      const response = await emulator.fetch(origin + at, {
        method: "POST",
        headers: { "X-API-Key": emulator.apiKey, "Content-Type": "application/json", ...headers },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      expect(response.status).toBe(status);
      const { content, headers: described = {} } =
        status === 202 ? openapi.paths[at].post.responses[202] : refusals[`Refused${status}`];
      const { $ref } = content["application/json"].schema;
      expect(errorsOf(`openapi.json${$ref}`, await response.json())).toBe("");
      for (const name of Object.keys(described))
        expect(response.headers.has(name), name).toBe(true);
    }
  },
);

test("the emulator responds as the file says: 409 to a key with another body", async () => {
  await using emulator = start();
  const post = (body: object) =>
    emulator.fetch(`${origin}/api/v1/calls/initiate`, {
      method: "POST",
      headers: {
        "X-API-Key": emulator.apiKey,
        "Content-Type": "application/json",
        "Idempotency-Key": "message-1",
      },
      body: JSON.stringify(body),
    });
  expect((await post(params)).status).toBe(202);
  const response = await post({ ...params, record: false });
  expect(response.status).toBe(409);
  const { $ref } = refusals.Refused409.content["application/json"].schema;
  const body = await response.json();
  expect(errorsOf(`openapi.json${$ref}`, body)).toBe("");
  expect(body.code).toBe("idempotency_conflict");
});

test("every status of the file that the emulator can respond with is tested", () => {
  const untested = Object.keys(refusals)
    .map((name) => Number(name.replace("Refused", "")))
    .filter((status) => !requests.some((sent) => sent.status === status));
  // A missing path, another kind of refusal of a key, failures that the emulator does not have, and what follows a call.
  expect(untested).toEqual([401, 404, 405, 409, 410, 500, 502, 504]);
});

/** The name of the schema of a notification. */
const schemaOf = (type: string): string =>
  type.replace(/(^|\.)(\w)/g, (_, __, letter: string) => letter.toUpperCase());

test("what the emulator sends to an application is as the files say, and what it accepts", async () => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await new Promise((listening) => server.on("listening", listening));
  const address = server.address();
  const ws_url = `ws://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  const frames: string[] = [];
  server.on("connection", (socket) => {
    socket.on("message", (message) => {
      frames.push(String(message));
      if (frames.length === 3) socket.close();
    });
  });
  const sent: { path: string; headers: Request["headers"]; body: string }[] = [];
  await using emulator = start({
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      sent.push({ path: pathname, headers: request.headers, body: await request.text() });
      return pathname === "/flow" ? Response.json({ action: "stream", ws_url }) : new Response();
    },
  });
  const base = "http://127.0.0.1:4010";
  for (const to_number of ["+12025550100", "+12025550101", "+12025550104"]) {
    const response = await emulator.fetch(`${base}/api/v1/calls/initiate`, {
      method: "POST",
      headers: { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" },
      body: JSON.stringify({ ...params, to_number }),
    });
    const { data } = await response.json();
    await emulator.ended(data.id);
  }
  server.close();

  const types = new Set<string>();
  const { parameters } = openapi.webhooks.notification.post;
  for (const { path, headers, body } of sent) {
    const content = JSON.parse(body);
    if (path === "/flow") {
      expect(errorsOf("openapi.json#/components/schemas/FlowRequest", content)).toBe("");
    } else {
      types.add(content.type);
      expect(errorsOf(`openapi.json#/components/schemas/${schemaOf(content.type)}`, content)).toBe(
        "",
      );
      for (const { name, schema } of parameters) {
        expect(headers.get(name), name).toMatch(new RegExp(schema.pattern ?? ".", "u"));
      }
    }
  }
  expect([...types].sort()).toEqual([
    "call.answered",
    "call.completed",
    "call.failed",
    "call.initiated",
    "call.ringing",
  ]);
  expect(sent.filter(({ path }) => path === "/flow")).toHaveLength(1);
  const [first, ...audio] = frames.map((frame) => JSON.parse(frame));
  expect(errorsOf("asyncapi.json#/components/schemas/Start", first)).toBe("");
  expect(audio.length).toBeGreaterThan(0);
  for (const frame of audio) {
    expect(errorsOf("asyncapi.json#/components/schemas/ServiceAudio", frame)).toBe("");
  }
});

test.each(["/api/v1/voice/calls/{id}", "/api/v1/calls/{id}"])(
  "the emulator reads and ends a call as the file says, at %s",
  async (path) => {
    await using emulator = createEmulator({ ringDuration: 600_000, fetch: () => new Response() });
    const headers = { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" };
    const placed = await emulator.fetch(`${origin}/api/v1/calls/initiate`, {
      ...{ method: "POST", headers },
      body: JSON.stringify({
        ...{ from_number, to_number: "+12025550100" },
        ...{ flow_url: "https://app.test/f", status_callback_url: "https://app.test/s" },
      }),
    });
    const { id } = (await placed.json()).data;
    const at = `${origin}${path.replace("{id}", id)}`;
    const get = async () => (await emulator.fetch(at, { headers })).json();
    const described = Object.keys(openapi.components.schemas.LiveCall.properties);
    const call = await get();
    expect(call).toMatchObject({ id, state: "ringing", from_number, to_number: "+12025550100" });
    expect(described).toEqual(
      expect.arrayContaining(Object.keys(call).filter((name) => name !== "direction")),
    );
    const end = () => emulator.fetch(`${at}/hangup`, { method: "POST", headers });
    expect((await end()).status).toBe(202);
    expect(await get()).toMatchObject({ state: "failed", reason: "canceled" });
    const again = await end();
    expect([again.status, (await again.json()).code]).toEqual([409, "call_not_live"]);
    expect((await emulator.fetch(at)).status).toBe(422);
    expect((await emulator.fetch(at, { headers: { "X-API-Key": "no" } })).status).toBe(403);
    expect((await emulator.fetch(`${at}0`, { headers })).status).toBe(404);
    expect((await emulator.fetch(at, { method: "DELETE", headers })).status).toBe(405);
  },
);
