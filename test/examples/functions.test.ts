import { EdgeVM } from "@edge-runtime/vm";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { bundle } from "./bundle.ts";
import { execute, path } from "./execute.ts";
import { onlyCall, type Service, startService, to } from "./service.ts";

type Env = Readonly<Record<string, string>>;

const wrong = { OUTDIAL_API_KEY: "ak_MARKEDkey0123456789" };
const CALL_TOKEN = "a token that was made at random";
const address = "https://function.test/api/call";
const post = (to_number: string, token = CALL_TOKEN) => ({
  method: "POST",
  headers: { authorization: `Bearer ${token}` },
  body: JSON.stringify({ to_number }),
});

let service: Service;

beforeEach(async () => {
  service = await startService();
});

afterEach(() => service.close());

/** How each function is asked, and what it answers: the status and the text. */
type Ask = (env: Env, init: ReturnType<typeof post>) => Promise<readonly [number, string]>;

let worker: string;
let edge: string;

const functions: Readonly<Record<string, Ask>> = {
  "cloudflare-worker": async (env, init) => {
    const miniflare = new Miniflare({
      modules: true,
      script: worker,
      compatibilityDate: "2026-08-01",
      bindings: env,
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
};

beforeAll(async () => {
  worker = await bundle("examples/cloudflare-worker/worker.ts", "esm");
  edge = await bundle("examples/vercel-edge/api/call.ts", "iife");
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

  test("answers 503, without a request, when the number is none", async () => {
    const [status, text] = await ask(service.env, post("0170 123"));
    expect(status).toBe(503);
    expect(JSON.parse(text)).toEqual({ error: "BadParametersException", placed: "no" });
    expect(service.urls).toEqual([]);
  });

  test("answers 202, so that nobody tries again, when the call may have been placed", async () => {
    const [status, text] = await ask(service.env, post(to.garbled));
    expect(status).toBe(202);
    expect(JSON.parse(text)).toEqual({ error: "ServiceException", placed: "maybe" });
    expect(service.calls()).toEqual(onlyCall(to.garbled));
  });
});

test("vercel-edge lets nobody in without the token", async () => {
  const [status] = (await functions["vercel-edge"]?.(service.env, post(to.placed, "other"))) ?? [];
  expect(status).toBe(401);
  expect(service.urls).toEqual([]);
});

describe("lambda", () => {
  const handler = path("test/artefacts/lambda/handler.mjs");
  const invoke = (to_number: string, env: Env) =>
    execute(
      path("test/node_modules/.bin/node"),
      [
        "--input-type=module",
        "--eval",
        `import { handler } from ${JSON.stringify(handler)};
        console.log(JSON.stringify(await handler(${JSON.stringify({ to_number })})));`,
      ],
      env,
    );

  beforeAll(() =>
    build({
      entryPoints: [path("examples/lambda/handler.ts")],
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: handler,
      logLevel: "error",
    }),
  );

  test("places one call, and gives its id", async () => {
    const { code, stdout, stderr } = await invoke(to.placed, service.env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual({
      placed: "yes",
      call_id: expect.stringMatching(/^cs_[0-9A-Z]{26}$/),
    });
    expect(service.calls()).toEqual(onlyCall(to.placed));
  });

  test("fails, so that Lambda tries again, when the key is refused", async () => {
    const { code, stdout, stderr } = await invoke(to.placed, { ...service.env, ...wrong });
    expect(code).not.toBe(0);
    expect(stderr).toContain("ForbiddenException");
    expect(stdout + stderr).not.toContain(wrong.OUTDIAL_API_KEY);
    expect(service.calls()).toEqual([]);
  });

  test("ends well, so that Lambda does not, when the call may have been placed", async () => {
    const { code, stdout } = await invoke(to.garbled, service.env);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ placed: "maybe" });
    expect(service.calls()).toEqual(onlyCall(to.garbled));
  });
});
