import { EdgeVM } from "@edge-runtime/vm";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { nobodysUrl } from "../nobody.ts";
import { bundle } from "./bundle.ts";
import { execute, path } from "./execute.ts";
import { onlyCall, type Service, startService, to } from "./service.ts";

type Env = Readonly<Record<string, string>>;

const wrong = { OUTDIAL_API_KEY: "ak_MARKEDkey0123456789" };
const CALL_TOKEN = "a token that was made at random";
const address = "https://function.test/api/call";

interface Init {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | null;
}

const authorization = `Bearer ${CALL_TOKEN}`;
const post = (to_number: string): Init => ({
  method: "POST",
  headers: { authorization },
  body: JSON.stringify({ to_number }),
});

let service: Service;

beforeEach(async () => {
  service = await startService();
});

afterEach(() => service.close());

/** How each function is asked, and what it answers: the status and the text. */
type Ask = (env: Env, init: Init) => Promise<readonly [number, string]>;

let worker: string;
let edge: string;

const lambda = path("test/artefacts/lambda/handler.mjs");

/** Runs one of Lambda's handlers in a process of its own, as a container would. */
const execution = (name: "handler" | "url", event: unknown, env: Env) =>
  execute(
    path("test/node_modules/.bin/node"),
    [
      "--input-type=module",
      "--eval",
      `import { ${name} } from ${JSON.stringify(lambda)};
      console.log(JSON.stringify(await ${name}(${JSON.stringify(event)})));`,
    ],
    { ...env, CALL_TOKEN },
  );

const invoke = async (name: "handler" | "url", event: unknown, env: Env) =>
  JSON.parse((await execution(name, event, env)).stdout);

const functions: Readonly<Record<string, Ask>> = {
  "cloudflare-worker": async (env, init) => {
    const miniflare = new Miniflare({
      modules: true,
      script: worker,
      compatibilityDate: "2026-08-01",
      bindings: { ...env, CALL_TOKEN },
    });
    try {
      const response = await miniflare.dispatchFetch(address, init);
      return [response.status, await response.text()];
    } finally {
      await miniflare.dispose();
    }
  },
  "vercel-edge": async (env, init) => {
    const vm = new EdgeVM({
      extend: (context) => Object.assign(context, { process: { env: { ...env, CALL_TOKEN } } }),
    });
    vm.evaluate(edge);
    return vm.evaluate(
      `example.default(new Request("${address}", ${JSON.stringify(init)}))
        .then(async (response) => [response.status, await response.text()])`,
    );
  },
  "lambda's url": async (env, { method, headers, body }) => {
    const event = { requestContext: { http: { method } }, headers, body, isBase64Encoded: false };
    const { statusCode, body: text = "" } = await invoke("url", event, env);
    return [statusCode, text];
  },
};

beforeAll(async () => {
  worker = await bundle("examples/cloudflare-worker/worker.ts", "esm");
  edge = await bundle("examples/vercel-edge/api/call.ts", "iife");
  await build({
    entryPoints: [path("examples/lambda/handler.ts")],
    bundle: true,
    platform: "node",
    format: "esm",
    outfile: lambda,
    logLevel: "error",
  });
});

describe.each(Object.entries(functions))("%s", (_, ask) => {
  test("places one call, and answers 201 with its id", async () => {
    const [status, text] = await ask(service.env, post(to.placed));
    expect(status).toBe(201);
    expect(JSON.parse(text)).toEqual({ call_id: expect.stringMatching(/^cs_[0-9A-Z]{26}$/) });
    expect(service.calls()).toEqual(onlyCall(to.placed));
    expect(service.urls).toEqual([`${service.baseUrl}/api/v1/calls/initiate`]);
  });

  test("answers 503, so that the caller may try again, when the key is refused", async () => {
    const [status, text] = await ask({ ...service.env, ...wrong }, post(to.placed));
    expect(status).toBe(503);
    expect(JSON.parse(text)).toEqual({ error: "ForbiddenException", placed: "no" });
    expect(service.calls()).toEqual([]);
  });

  test.each([
    ["is no number", JSON.stringify({ to_number: "0170 123" })],
    ["is no text", JSON.stringify({ to_number: { length: 12 } })],
    ["is missing", "{}"],
    ["is in no object", "null"],
    ["is in no JSON", "to_number=+12025550100"],
    ["came in no body", null],
  ])("answers 400, without a request, when the number %s", async (_, body) => {
    const [status, text] = await ask(service.env, { ...post(to.placed), body });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual({ error: "BadParametersException", placed: "no" });
    expect(service.urls).toEqual([]);
  });

  test("answers 503 when it was set up wrongly: that is not the caller's to mend", async () => {
    const [status] = await ask({ ...service.env, FROM_NUMBER: "" }, post(to.placed));
    expect(status).toBe(503);
    expect(service.urls).toEqual([]);
  });

  test("takes POST only", async () => {
    const [status] = await ask(service.env, { method: "GET", headers: { authorization } });
    expect(status).toBe(405);
    expect(service.urls).toEqual([]);
  });

  test.each([
    ["another token", { authorization: "Bearer other" }],
    ["no token", {}],
  ])("lets nobody in with %s", async (_, headers) => {
    const [status] = await ask(service.env, { ...post(to.placed), headers });
    expect(status).toBe(401);
    expect(service.urls).toEqual([]);
  });

  test("answers 202, so that nobody tries again, when the call may have been placed", async () => {
    const [status, text] = await ask(service.env, post(to.garbled));
    expect(status).toBe(202);
    expect(JSON.parse(text)).toEqual({ error: "ServiceException", placed: "maybe" });
    expect(service.calls()).toEqual(onlyCall(to.garbled));
  });
});

describe("lambda's handler", () => {
  const handle = (to_number: string, env: Env) => execution("handler", { to_number }, env);

  test("places one call, and gives its id", async () => {
    const { code, stdout, stderr } = await handle(to.placed, service.env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      status: 201,
      placed: "yes",
      call_id: expect.stringMatching(/^cs_[0-9A-Z]{26}$/),
    });
    expect(service.calls()).toEqual(onlyCall(to.placed));
  });

  test("fails, so that Lambda tries again, when nobody was called and the next try may do better", async () => {
    const OUTDIAL_BASE_URL = await nobodysUrl();
    for (const ended of [
      await handle(to.placed, { ...service.env, OUTDIAL_BASE_URL }),
      await handle(to.limited, service.env),
    ]) {
      expect(ended.code).not.toBe(0);
      expect(ended.stderr).toMatch(/NetworkException|HTTP 429/);
    }
    expect(service.calls()).toEqual([]);
  });

  test.each([
    ["the key is refused", 503, to.placed, wrong],
    ["the number is none", 400, "0170 123", {}],
    ["the call may have been placed", 202, to.garbled, {}],
    ["the service has failed", 202, to.outage, {}],
  ])("ends well, so that Lambda does not try again, when %s", async (_, status, to_number, env) => {
    const { code, stdout, stderr } = await handle(to_number, { ...service.env, ...env });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ status, placed: status === 202 ? "maybe" : "no" });
    expect(stdout + stderr).not.toContain(wrong.OUTDIAL_API_KEY);
  });

  test("ends well for an event of another kind", async () => {
    expect(await invoke("handler", null, service.env)).toMatchObject({ status: 400 });
  });
});
