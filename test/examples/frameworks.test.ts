import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { serve } from "@hono/node-server";
import {
  Miniflare,
  type Request as MiniflareRequest,
  Response as MiniflareResponse,
} from "miniflare";
import { createEmulator } from "outdial/emulator";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { bundle } from "./bundle.ts";
import { execute, path } from "./execute.ts";
import { isFile, ofMarkdown } from "./extract.ts";
import { checkMounted, type Mounted, onPort } from "./mounted.ts";
import { started } from "./started.ts";

/** The files of three pages, as they stand there: each page has a folder. */
const root = "test/artefacts/files";
const pages = ["frameworks", "worker", "testing"];
const folder = `${root}/frameworks`;

const filesOf = (page: string) =>
  ofMarkdown(`docs/${page}.md`)
    .filter(isFile)
    .map(({ info, code }) => ({ name: info.slice("file: ".length), code }));

const secret = crypto.randomUUID();

beforeAll(() => {
  rmSync(path(root), { recursive: true, force: true });
  for (const page of pages) {
    for (const { name, code } of filesOf(page)) {
      const file = path(join(root, page, name));
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${code}\n`);
    }
  }
  process.env.SIGNING_SECRET = secret;
});

// The files print what they receive.
beforeEach(() => {
  vi.spyOn(console, "log").mockImplementation(() => {});
});
afterEach(() => vi.restoreAllMocks());

const load = (file: string) => import(path(join(folder, file)));

/** A Worker in workerd, with its variables; what it requests goes to `outside`. */
const workerOf = async (
  file: string,
  bindings: Record<string, string>,
  outside?: (request: Request) => Promise<Response>,
) => {
  const miniflare = new Miniflare({
    modules: true,
    script: await bundle(file, "esm"),
    compatibilityDate: "2026-08-01",
    bindings,
    ...(outside && {
      outboundService: async ({ url, method, headers, body }: MiniflareRequest) => {
        const text = await new Response(body as BodyInit | null).text();
        const init = { method, headers: Object.fromEntries(headers), body: text || null };
        const response = await outside(new Request(url, init));
        return new MiniflareResponse(await response.text(), { status: response.status });
      },
    }),
  });
  const ask = async ({ url, method, headers, body }: Request): Promise<Response> => {
    const text = await new Response(body).text();
    const init = { method, headers: Object.fromEntries(headers), body: text || null };
    const { status, ...response } = await miniflare
      .dispatchFetch(url, init)
      .then(async (one) => ({ status: one.status, text: await one.text() }));
    return new Response(status === 204 ? null : response.text, { status });
  };
  return { ask, close: () => miniflare.dispose() };
};

const frameworks: Readonly<Record<string, () => Promise<Mounted>>> = {
  Hono: async () => {
    const { app } = await load("hono.ts");
    return { fetch: async (request) => app.fetch(request), close: () => {} };
  },
  "Hono on Node": async () => {
    const { app } = await load("hono.ts");
    return new Promise((resolve) => {
      const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) =>
        resolve(onPort(port, () => server.close())),
      );
    });
  },
  Express: async () => {
    const { app } = await load("express.ts");
    const server = app.listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as AddressInfo;
    return onPort(port, () => server.close());
  },
  "Cloudflare Workers": async () => {
    const worker = await workerOf(`${folder}/worker.ts`, { SIGNING_SECRET: secret });
    return { fetch: worker.ask, close: worker.close };
  },
  "AWS Lambda": async () => {
    const { handler } = await load("lambda.ts");
    return {
      fetch: async (request) => {
        const { pathname, search, host } = new URL(request.url);
        // What a function URL sends, in the format 2.0.
        const { statusCode, headers, body, isBase64Encoded } = await handler({
          version: "2.0",
          routeKey: "$default",
          rawPath: pathname,
          rawQueryString: search.slice(1),
          headers: { ...Object.fromEntries(request.headers), host },
          requestContext: {
            domainName: host,
            http: { method: request.method, path: pathname, sourceIp: "192.0.2.1" },
          },
          body: Buffer.from(await request.arrayBuffer()).toString("base64"),
          isBase64Encoded: true,
        });
        const bytes = Buffer.from(body ?? "", isBase64Encoded ? "base64" : "utf8");
        return new Response(statusCode === 204 ? null : bytes, { status: statusCode, headers });
      },
      close: () => {},
    };
  },
  Deno: () =>
    started(
      "deno",
      [
        ...["run", "--no-prompt", "--allow-net", "--allow-env=SIGNING_SECRET,DENO_SERVE_ADDRESS"],
        ...["--node-modules-dir=manual", "deno.ts"],
      ],
      { SIGNING_SECRET: secret, DENO_SERVE_ADDRESS: "tcp:127.0.0.1:0" },
      path(folder),
    ),
  Bun: () => started("bun", ["bun.ts"], { SIGNING_SECRET: secret, PORT: "0" }, path(folder)),
};

describe.each(Object.entries(frameworks))("%s", (_, mount) => {
  test("performs the flow, takes each notification once, and refuses what is not signed", async () => {
    const mounted = await mount();
    await checkMounted(mounted, secret);
    await mounted.close();
  });
});

test("every file of the page is mounted here, or with its own package in test/frameworks", () => {
  const here = ["handlers", "hono", "express", "worker", "lambda", "deno", "bun"];
  const apart = ["fastify.ts", "app/flow/route.ts", "app/status/route.ts"];
  expect(new Set(filesOf("frameworks").map(({ name }) => name))).toEqual(
    new Set([...here.map((name) => `${name}.ts`), ...apart]),
  );
});

test("the Worker of docs/worker.md places a call in workerd, and receives its requests", async () => {
  const emulator = createEmulator({ clock: "instant", fetch: (request) => worker.ask(request) });
  const worker = await workerOf(
    `${root}/worker/worker.ts`,
    {
      OUTDIAL_API_KEY: emulator.apiKey,
      OUTDIAL_BASE_URL: "https://emulator.test",
      FROM_NUMBER: "+12025550199",
      SIGNING_SECRET: secret,
      CALL_TOKEN: "token",
    },
    emulator.fetch,
  );
  const place = (to: string, token = "token") =>
    worker.ask(
      new Request(`https://app.test/call?to=${encodeURIComponent(to)}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}` },
      }),
    );
  expect((await place("+12025550100", "another")).status).toBe(401);
  const response = await place("+12025550100");
  expect(response.status).toBe(201);
  const { id }: { id: string } = JSON.parse(await response.text());
  const { state, history } = await emulator.ended(id);
  expect(state).toBe("completed");
  const deliveries = history.filter((entry) => entry.type === "notification");
  expect(deliveries).toMatchObject(Array.from({ length: 4 }, () => ({ status: 204 })));
  expect((await place("not a number")).status).toBe(400);
  expect((await place("+12025550114")).status).toBe(202);
  expect(emulator.calls).toHaveLength(2);
  await emulator.close();
  await worker.close();
});

describe("the tests of docs/worker.md and docs/testing.md pass", () => {
  const node = path("test/node_modules/.bin/node");
  const deno = path("test/node_modules/.bin/deno");
  const bun = path("test/node_modules/.bin/bun");
  const vitest = [path("node_modules/vitest/vitest.mjs"), "run"];
  const named = (...names: readonly string[]) =>
    names.map((name) => path(`${root}/testing/${name}.test.ts`));
  // The package is a link here, whose types Deno doesn't find. `test/package` has them checked.
  const unchecked = ["test", "--no-check", "--node-modules-dir=manual"];
  test.each([
    ["vitest", node, [...vitest, "--root", path(root), "worker.test", "/vitest"], /5 passed/],
    ["node:test", node, ["--test", ...named("node", "node-list")], /pass 2\n/],
    ["deno test", deno, [...unchecked, ...named("deno", "deno-list")], /2 passed/],
    ["bun test", bun, ["test", ...named("bun-list")], /1 pass\n/],
  ])("%s", async (_, command, args, passed) => {
    const { code, stdout, stderr } = await execute(command, args);
    expect(code, stdout + stderr).toBe(0);
    expect(stdout + stderr).toMatch(passed);
  });
});
