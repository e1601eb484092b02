import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Client } from "outdial";
import { type CallEvent, callbackHandler, isFinal, type UnknownEvent } from "outdial/callbacks";
import {
  flowHandler,
  gather,
  hangup,
  pause,
  play,
  say,
  stream,
  streamSession,
} from "outdial/flows";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { WebSocketServer } from "ws";
import { cases } from "../conformance/emulator/api.ts";
import { apiKey, exceptionOf, from_number, params } from "../conformance/fixtures.ts";
import { announce } from "../output.ts";
import { missingPython, type PythonServer, startPython } from "./python.ts";
import { errorsOf } from "./values.ts";

if (missingPython) announce(`not run: the service in Python: ${missingPython}`);

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const env = { OUTDIAL_API_KEY: apiKey, FROM_NUMBER: from_number, WEBHOOK_SECRET: webhookSecret };

const { service } = vi.hoisted(() => ({ service: { url: "" } }));

// The cases of the emulator's API reach the service in Python instead.
vi.mock("outdial/emulator", () => ({
  createEmulator: () => ({
    fetch: async (input: string | URL | Request, init?: RequestInit) => {
      const request = new Request(input, init);
      const { pathname } = new URL(request.url);
      const headers = new Headers(request.headers);
      headers.delete("Content-Length"); // One that lies is for a request without a network.
      const { method } = request;
      const body = method === "GET" || method === "HEAD" ? null : await request.arrayBuffer();
      return fetch(service.url + pathname, { method, headers, body });
    },
    close: async () => {},
  }),
}));

/** The cases of the emulator's API that are about the interface, and not about the emulator's own options and words. */
const shared = [
  "emulator: accepts a call on both paths with 202 and the call under data",
  "emulator: answers a Request, and a string or URL with init, without this",
  "emulator: a key places one call on either path, also at once; another body is a conflict, a malformed key 422",
  "emulator: knows the two paths and no others",
  "emulator: refuses a request without a key with 422, and with another key with 403",
  "emulator: takes only application/json, with any parameters and in any case",
  "emulator: refuses more than 64 KiB with 413, however it comes, before it looks at the JSON",
  "emulator: refuses what is not JSON in UTF-8 with 400",
  "emulator: names the wrong field with 422: missing, unknown, or against its rule",
  "emulator: refuses a from_number of somebody else with 403, after everything else",
];

describe.skipIf(missingPython)("the service in Python responds as the emulator does", () => {
  let server: PythonServer;
  beforeAll(async () => {
    server = await startPython("service.py", env);
    service.url = server.url;
  });
  afterAll(() => server.stop());

  test.each(shared)("%s", async (name) => {
    const found = cases.find((one) => one.name === name);
    expect(found).toBeDefined();
    await found?.run({ runtime: "node24", peer: "", inspect: String });
  });

  test("refuses every other method with 405 and Allow", async () => {
    for (const method of ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const response = await fetch(`${server.url}/api/v1/calls/initiate`, { method });
      expect([response.status, response.headers.get("Allow")], method).toEqual([405, "POST"]);
    }
  });
});

/** An application of this package on a port: what came, and the responses to the first notifications. */
const startApplication = async (statuses: readonly number[] = []) => {
  const received: { path: string; status: number; body: string }[] = [];
  const events: (CallEvent | UnknownEvent)[] = [];
  const { promise: over, resolve } = Promise.withResolvers<void>();
  const status = callbackHandler({
    webhookSecret,
    onEvent: ({ event }) => {
      events.push(event);
      if (isFinal(event)) resolve();
    },
  });
  const flow = flowHandler({
    dangerouslyAllowUnverified: true,
    onAnswer: () =>
      received.filter(({ path }) => path === "/flow").length === 1
        ? play(`${url}/hello.wav`, { flow_url: `${url}/flow` })
        : hangup(),
  });
  const handle = async (request: Request): Promise<Response> => {
    const { pathname: path } = new URL(request.url);
    const body = await request.clone().text();
    const refused = path === "/status" ? statuses[received.length] : undefined;
    received.push({ path, status: refused ?? 0, body });
    if (refused) return new Response(null, { status: refused });
    if (path === "/broken") return new Response(null, { status: 500 });
    return path === "/flow" ? flow(request) : status(request);
  };
  const server = createServer(getRequestListener(handle));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    received,
    events,
    over,
    close: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(closed));
    },
  };
};

describe.skipIf(missingPython)("the service in Python asks, and takes keys", () => {
  let server: PythonServer;
  beforeAll(async () => {
    server = await startPython("service.py", { ...env, LOOPBACK: "1", SECOND: "0", KEYS: "12# 3" });
  });
  afterAll(() => server.stop());

  test("for a flow of say and gather", async () => {
    const given: unknown[] = [];
    let origin = "";
    const { promise: over, resolve } = Promise.withResolvers<unknown>();
    const flow = flowHandler({
      dangerouslyAllowUnverified: true,
      onAnswer: ({ call: { digits } }) => {
        given.push(digits);
        const flow_url = `${origin}/flow`;
        if (given.length === 1) return say(["Hello.", pause(1000)], { flow_url });
        if (given.length === 4) return say("Goodbye.");
        const answer =
          given.length === 2 ? { finish_on_key: "#" as const } : { digits: 1 as const };
        return gather("Your number?", { ...answer, flow_url });
      },
    });
    const status = callbackHandler({
      webhookSecret,
      onEvent: ({ event }) => isFinal(event) && resolve(event.data),
    });
    const handle = (request: Request): Promise<Response> =>
      request.url.endsWith("/flow") ? flow(request) : status(request);
    const app = createServer(getRequestListener(handle));
    await new Promise<void>((listening) => app.listen(0, "127.0.0.1", listening));
    origin = `http://127.0.0.1:${(app.address() as AddressInfo).port}`;
    await new Client(apiKey, { baseUrl: server.url }).calls.create({
      from_number,
      to_number: "+12025550100",
      flow_url: `${origin}/flow`,
      status_callback_url: `${origin}/status`,
    });
    expect(await over).toMatchObject({ reason: "normal" });
    expect(given).toEqual([undefined, undefined, "12", "3"]);
    app.closeAllConnections();
    await new Promise((closed) => app.close(closed));
  });
});

describe.skipIf(missingPython)("this package with the service in Python", () => {
  let server: PythonServer;
  let client: Client;
  beforeAll(async () => {
    server = await startPython("service.py", { ...env, LOOPBACK: "1", SECOND: "0.001" });
    client = new Client(apiKey, { baseUrl: server.url });
  });
  afterAll(() => server.stop());

  test.each([
    ["+12025550100", "/flow", ["initiated", "ringing", "answered", "completed"], "normal"],
    ["+12025550100", "/broken", ["initiated", "ringing", "answered", "completed"], "flow_error"],
    ["+12025550101", "/flow", ["initiated", "failed"], "busy"],
    ["+12025550102", "/flow", ["initiated", "ringing", "failed"], "no_answer"],
    ["+12025550104", "/flow", ["initiated", "failed"], "unreachable"],
  ])("a call to %s with %s: %j, %s", async (to_number, path, states, reason) => {
    const app = await startApplication();
    const call = await client.calls.create({
      from_number,
      to_number,
      flow_url: app.url + path,
      status_callback_url: `${app.url}/status`,
    });
    await app.over;
    expect(app.events.map(({ type }) => type)).toEqual(states.map((state) => `call.${state}`));
    expect(app.events.at(-1)).toMatchObject({ call_id: call.id, data: { reason, to: to_number } });
    const names = { "/flow": "FlowRequest", "/broken": "FlowRequest" };
    for (const { path, body } of app.received) {
      const content = JSON.parse(body);
      const name = Object.entries(names).find(([one]) => one === path)?.[1] ?? "Notification";
      expect(errorsOf(`openapi.json#/components/schemas/${name}`, content), body).toBe("");
    }
    expect(app.received.filter(({ path }) => path === "/flow").length).toBe(
      reason === "normal" ? 2 : 0,
    );
    await app.close();
  });

  test("sends a notification again until it is received, and nothing again after 410", async () => {
    const app = await startApplication([503, 302, 410]);
    await client.calls.create({
      from_number,
      to_number: "+12025550101",
      flow_url: `${app.url}/flow`,
      status_callback_url: `${app.url}/status`,
    });
    await vi.waitFor(() => expect(app.received.length).toBe(4), 600_000);
    const types = app.received.map(({ body }) => JSON.parse(body).type);
    expect(types).toEqual(["call.initiated", "call.initiated", "call.initiated", "call.failed"]);
    expect(new Set(app.received.slice(0, 3).map(({ body }) => body)).size).toBe(1);
    await app.over;
    await app.close();
  });

  test("sends it six times at most", async () => {
    const app = await startApplication([500, 500, 500, 500, 500, 500]);
    await client.calls.create({
      from_number,
      to_number: "+12025550101",
      flow_url: `${app.url}/flow`,
      status_callback_url: `${app.url}/status`,
    });
    await app.over;
    const types = app.received.map(({ body }) => JSON.parse(body).type);
    expect(types.filter((type) => type === "call.initiated")).toHaveLength(6);
    expect(types).toHaveLength(7);
    await app.close();
  });

  test("streams the callee's audio to a session of this package, and takes what that sends", async () => {
    const sockets = new WebSocketServer({ port: 0, host: "127.0.0.1" });
    await new Promise((listening) => sockets.on("listening", listening));
    const ws_url = `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}/media`;
    const heard: number[] = [];
    const starts: unknown[] = [];
    const frames: string[] = [];
    sockets.on("connection", (socket) => {
      socket.on("message", (message) => frames.push(String(message)));
      const session = streamSession(socket, {
        onStart: (start) => void starts.push(start),
        onAudio: ({ bytes }) => {
          heard.push(bytes.length);
          if (heard.length !== 3) return;
          session.audio(new Uint8Array(6_400));
          session.clear();
          session.audio(new Uint8Array(1_600));
          session.close();
        },
      });
    });
    const app = await startApplication();
    const flow = createServer(
      getRequestListener(() =>
        Response.json(stream(ws_url, { sample_rate: "16k", chunk_size: 20 })),
      ),
    );
    await new Promise<void>((listening) => flow.listen(0, "127.0.0.1", listening));
    const call = await client.calls.create({
      from_number,
      to_number: "+12025550100",
      flow_url: `http://127.0.0.1:${(flow.address() as AddressInfo).port}/`,
      status_callback_url: `${app.url}/status`,
    });
    await app.over;
    expect(app.events.at(-1)).toMatchObject({ type: "call.completed", data: { reason: "normal" } });
    expect(starts).toMatchObject([{ call_id: call.id, data: { sample_rate: 16_000 } }]);
    expect(heard.slice(0, 3)).toEqual([640, 640, 640]);
    const [first, ...audio] = frames.map((frame) => JSON.parse(frame));
    expect(errorsOf("asyncapi.json#/components/schemas/Start", first)).toBe("");
    for (const [index, message] of audio.entries()) {
      expect(errorsOf("asyncapi.json#/components/schemas/ServiceAudio", message)).toBe("");
      expect(message.message_id).toBe(index + 2);
    }
    await vi.waitFor(() => expect(server.lines).toContain('{"waiting": 1600}'), 600_000);
    await app.close();
    sockets.close();
    flow.closeAllConnections();
    await new Promise((closed) => flow.close(closed));
  });

  test("its refusals are exceptions that say that no call was placed", async () => {
    const other = new Client("ak_other", { baseUrl: server.url });
    expect(await exceptionOf(other.calls.create(params))).toMatchObject({
      name: "ForbiddenException",
      placed: "no",
      detail: "Invalid API Key.",
    });
    const foreign = { ...params, from_number: "+12025550178" };
    expect(await exceptionOf(client.calls.create(foreign))).toMatchObject({
      code: 403,
      placed: "no",
    });
  });
});
