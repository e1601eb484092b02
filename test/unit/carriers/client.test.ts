import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { callbackHandler, receive } from "../../../src/callbacks/index.ts";
import { create } from "../../../src/calls/index.ts";
import { BadParametersException } from "../../../src/errors.ts";
import * as straight from "../../../src/fetch.ts";
import { flowHandler, hangup, type MediaSocket, streamSession } from "../../../src/flows/index.ts";
import { Client } from "../../../src/index.ts";
import type { Service } from "../../../src/service.ts";
import {
  answering as answeringWith,
  credentialsIn,
  type Respond,
  refusalBy,
  type Sent,
} from "./calls.ts";
import { carriers, params } from "./carriers.ts";

describe.each(carriers)("$name", (carrier) => {
  const { service, key: apiKey, placed, statuses } = carrier;
  const refusal = refusalBy(service, apiKey);

  const place = () => {
    const headers = { [carrier.requestIdHeader]: "R1" };
    return Response.json(placed.body, { status: placed.status, headers });
  };
  const answering = (...answers: readonly Respond[]) =>
    answeringWith(...(answers.length > 0 ? answers : [place]));

  test("a call is one POST to the carrier, with the credentials in one header", async () => {
    const { fetch, sent } = answering();
    const call = await create(params, { apiKey, service, fetch });
    expect(call).toEqual({ ...placed.body, id: placed.id });
    expect(sent.map(({ url }) => url)).toEqual([carrier.url]);
    const { authorization, ...rest } = Object.fromEntries(sent[0]?.headers ?? []);
    expect(rest).toEqual({
      "content-type": carrier.contentType,
      "user-agent": expect.stringMatching(/^outdial\//),
    });
    expect(carrier.isOf(`${authorization}`, apiKey)).toBe(true);
  });

  test.each([[service, new URL(carrier.url).origin] as const, ...carrier.hosts])(
    "the host of %j is %s, unless baseUrl is another",
    async (own, host) => {
      const { fetch, sent } = answering();
      const { pathname } = new URL(carrier.url);
      await create(params, { apiKey, service: own, fetch });
      await create(params, { apiKey, service: own, fetch, baseUrl: "https://gateway.test/a//" });
      const urls = [`${host}${pathname}`, `https://gateway.test/a${pathname}`];
      expect(sent.map(({ url }) => url)).toEqual(urls);
    },
  );

  test("outdial/fetch, both clients and the function that only places calls send the same", async () => {
    const { fetch, sent } = answering();
    const options = { apiKey, service, fetch };
    const client = new Client(apiKey, { service, fetch });
    for (const send of [
      () => create(params, { ...options, service: carrier.calls }),
      () => straight.calls.create(params, options),
      () => new straight.Client(() => apiKey, { service, fetch }).calls.create(params),
      () => client.calls.create(params),
      () => client.calls.create(params, { service, timeout: 5_000 }),
    ]) {
      expect((await send()).id).toBe(placed.id);
    }
    expect(sent).toHaveLength(5);
    expect(new Set(sent.map(({ url, body }) => `${url} ${body}`)).size).toBe(1);
  });

  test.each(Object.entries(statuses))(
    "placed is %s after %j, and nothing is sent again",
    async (expected, each) => {
      for (const status of each) {
        const { fetch, sent } = answering(() => new Response("{}", { status }));
        const error = await refusal({ fetch });
        expect([error.code, error.placed], `${status}`).toEqual([status, expected]);
        expect(sent).toHaveLength(1);
      }
    },
  );

  test("what came through a redirect tells nothing, whatever its status", async () => {
    const moved = () =>
      Object.defineProperty(new Response("{}", { status: 400 }), "redirected", { value: true });
    expect((await refusal({ fetch: answering(moved).fetch })).placed).toBe("maybe");
  });

  test("a refusal with the id of a call may have placed it: nothing is sent again", async () => {
    for (const status of [401, 403, 404, 429]) {
      const headers = { "retry-after": "0" };
      const { fetch, sent } = answering(() => Response.json(placed.body, { status, headers }));
      const keys = [apiKey, carrier.otherKey];
      const error = await refusal({ fetch, retries: 2, apiKey: () => keys.shift() ?? apiKey });
      expect([error.code, error.placed], `${status}`).toEqual([status, "maybe"]);
      expect(sent, `${status}`).toHaveLength(1);
    }
  });

  test.each<readonly [string, string]>([
    ["no JSON", "<h1>ok</h1>"],
    ["no object", "[]"],
    ["outdial's own form", '{"id":"cs_1"}'],
    ...carrier.unreadable,
  ])("a 2xx with %s may have placed a call", async (_, body) => {
    const { status } = placed;
    const { fetch, sent } = answering(() => new Response(body, { status }));
    const error = await refusal({ fetch });
    expect([error.name, error.code, error.placed]).toEqual(["ServiceException", status, "maybe"]);
    expect(sent).toHaveLength(1);
  });

  test("a refusal in HTML, empty, truncated or huge keeps its status and its placed", async () => {
    for (const body of ["<h1>no</h1>", "", '{"code":2', "null", "7", " ".repeat(2 ** 21)]) {
      const { fetch } = answering(() => new Response(body, { status: 403 }));
      expect(await refusal({ fetch })).toMatchObject({ name: "ForbiddenException", placed: "no" });
    }
  });

  test.each(carrier.secrets)("%s is in nothing that a refusal shows", async (_, textOf) => {
    let secret = "";
    const echo = (sent: Sent) => {
      secret = textOf(credentialsIn(sent));
      const { body, headers } = carrier.echo(secret);
      return Response.json(body, { status: 401, headers });
    };
    const error = await refusal({ fetch: answering(echo).fetch });
    const shown = `${inspect(error)} ${error.stack} ${JSON.stringify(error)} ${error.requestId}`;
    expect(secret).not.toBe("");
    for (const part of [secret, ...carrier.pieces]) {
      expect(shown.toLowerCase()).not.toContain(part.toLowerCase());
    }
    const throwing = (sent: Sent) => {
      secret = textOf(credentialsIn(sent));
      throw new Error(`You sent ${secret} to us`);
    };
    const lost = await refusal({ fetch: answering(throwing).fetch });
    expect(inspect(lost)).not.toContain(secret);
    expect(lost.placed).toBe("maybe");
  });

  test("neither a service nor a client shows a secret", async () => {
    const own = carrier.secretive;
    const client = new Client(apiKey, { service: own, fetch: answering().fetch });
    await client.calls.create(params);
    for (const value of [own, client]) {
      for (const shown of [inspect(value, { depth: 9 }), JSON.stringify(value)]) {
        for (const piece of carrier.pieces) expect(shown).not.toContain(piece);
      }
    }
  });

  test.each([...carrier.wrongKeys, ...carrier.unusableKeys])(
    "%s is refused before anything is sent, as it is and by a function, and never quoted",
    async (_, key) => {
      const { fetch, sent } = answering();
      const given = key as string;
      for (const apiKey of [given, () => given, async () => given]) {
        const error = await refusal({ apiKey, fetch });
        expect(error).toMatchObject({
          ...{ name: "BadParametersException", param: "apiKey", placed: "no" },
          message: expect.stringMatching(/\(no call was placed\)$/),
        });
        // What a function returns is seen later, and by another rule.
        if (apiKey === given || carrier.unusableKeys.some(([, one]) => one === key))
          expect(error.message).toContain(carrier.keyRule);
        const part = key && (key.length > 90 ? key.slice(60, 90) : key);
        if (part) expect(inspect(error)).not.toContain(part);
      }
      expect(sent).toHaveLength(0);
    },
  );

  test.each(carrier.wrongKeys)("a client is not made with %s", (_, key) => {
    expect(() => new Client(key as string, { service })).toThrow(carrier.keyRule);
  });

  test("after a 401 a function is asked once more, and another key is tried once", async () => {
    const refused = () => new Response("{}", { status: 401 });
    const { fetch, sent } = answering(refused, place);
    const keys = [carrier.otherKey, apiKey];
    const call = await create(params, { apiKey: () => keys.shift() ?? "none", service, fetch });
    expect(call.id).toBe(placed.id);
    const authorizations = sent.map(({ headers }) => headers.get("authorization") ?? "");
    expect(authorizations).toHaveLength(2);
    expect(carrier.isOf(authorizations[0] ?? "", carrier.otherKey)).toBe(true);
    expect(carrier.isOf(authorizations[1] ?? "", apiKey)).toBe(true);
    const same = answering(refused);
    expect((await refusal({ apiKey: () => apiKey, fetch: same.fetch })).code).toBe(401);
    expect(same.sent).toHaveLength(1);
  });

  test("a 429 is tried again with retries alone, with the same body", async () => {
    const busy = () => new Response("{}", { status: 429, headers: { "retry-after": "0" } });
    const once = answering(busy);
    expect(await refusal({ fetch: once.fetch })).toMatchObject({ code: 429, placed: "no" });
    expect(once.sent).toHaveLength(1);
    const { fetch, sent } = answering(busy, busy, place);
    const call = await create(params, { apiKey, service, fetch, retries: 2 });
    expect(call.id).toBe(placed.id);
    expect(sent).toHaveLength(3);
    expect(new Set(sent.map(({ body }) => body)).size).toBe(1);
  });

  test.each<[param: string, input: object, options: object]>([
    ["path", {}, { path: "auto" }],
    ["path", {}, { path: "calls" }],
    ["headers", {}, { headers: { Authorization: "Basic abc" } }],
    ["headers", {}, { headers: { authorization: "Bearer abc" } }],
    ["baseUrl", {}, { baseUrl: "http://voice.test" }],
    ["baseUrl", {}, { baseUrl: "https://voice.test?a=1" }],
    ["flow_url", { flow_url: "http://127.0.0.1/flow" }, {}],
    ...carrier.refused.map(([param, input]): [string, object, object] => [param, input, {}]),
  ])("%s is refused before anything is sent: %j %j", async (param, input, options) => {
    const { fetch, sent } = answering();
    const error = await refusal({ fetch, ...options }, input);
    expect(error).toMatchObject({
      ...{ name: "BadParametersException", param, placed: "no" },
      message: expect.stringMatching(/\(no call was placed\)$/),
    });
    expect(sent).toHaveLength(0);
  });

  test("a client keeps its service: a call with another one is refused", async () => {
    const { fetch, sent } = answering();
    const client = new Client(apiKey, { service, fetch });
    await expect(client.calls.create(params, { service: carrier.secretive })).rejects.toMatchObject(
      { message: "service must be the client's (no call was placed)" },
    );
    expect(sent).toHaveLength(0);
  });

  test("onAttempt gets the URL, the request id and the placed of each POST", async () => {
    const onAttempt = vi.fn();
    await create(params, { apiKey, service, fetch: answering().fetch, onAttempt });
    const { url } = carrier;
    const { status } = placed;
    expect(onAttempt.mock.calls).toEqual([
      [expect.objectContaining({ url, status, requestId: "R1", placed: "yes", attempt: 1 })],
    ]);
  });

  test.each([
    [400, "no"],
    [201, "maybe"],
    [503, "maybe"],
  ])(
    "a body that stalls after a %i ends with the deadline: placed is %s",
    async (status, expected) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      try {
        const cancel = vi.fn();
        const { promise: read, resolve } = Promise.withResolvers<void>();
        const pull = () => {
          resolve();
          return new Promise<void>(() => {});
        };
        const body = new ReadableStream({ pull, cancel }, { highWaterMark: 0 });
        const stalled = () => new Response(body, { status });
        const call = refusal({ fetch: answering(stalled).fetch, timeout: 1_000 });
        await read;
        await vi.advanceTimersByTimeAsync(1_000);
        expect(await call).toMatchObject({
          name: "TimeoutException",
          code: status,
          placed: expected,
        });
        expect(cancel).toHaveBeenCalledOnce();
      } finally {
        vi.useRealTimers();
      }
    },
  );
});

test.each(carriers)(
  "$name without its handlers is refused by name where requests are read",
  async (carrier) => {
    const service = carrier.calls as Service;
    const socket: MediaSocket = Object.assign(new EventTarget(), {
      ...{ readyState: 1, send: () => {}, close: () => {} },
    });
    for (const make of [
      () => callbackHandler({ service, onEvent: () => {} }),
      () => flowHandler({ service, onAnswer: () => hangup() }),
      () => streamSession(socket, {}, { service }),
    ]) {
      expect(make).toThrow(BadParametersException);
      expect(make).toThrow(/^service must be made by twilio\(\) or the like: twilioCalls\(\) only/);
    }
    const request = new Request("https://app.test/status", { method: "POST", body: "{}" });
    await expect(receive(request, { service })).rejects.toThrow(/^service must be made by/);
  },
);

test.each(["twilio", {}, { client: {} }, null, 7])("%j is no service", async (junk) => {
  const error = await refusalBy(junk as never, "key")({ baseUrl: "https://voice.test" });
  const { name, param, placed } = error;
  expect([name, param, placed]).toEqual(["BadParametersException", "service", "no"]);
});
