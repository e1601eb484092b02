import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { callbackHandler, signUrl } from "outdial/callbacks";
import { type Action, flowHandler, hangup, play, stream } from "outdial/flows";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { partOf } from "../part.ts";
import { begin, invoke, type Running, type Runtime, runtimes, start } from "./cli.ts";

const secret = "a secret that was made at random";
const publicUrl = "https://app.example";
const env = { OUTDIAL_EMULATOR_KEY: "chosen-for-the-tests" };

const closing: (() => void)[] = [];
const running: Running[] = [];
afterEach(async () => {
  for (const { kill, ended } of running.splice(0)) {
    kill("SIGTERM");
    await ended;
  }
  for (const close of closing.splice(0)) close();
});

/** An application that knows itself by its public URL alone, on a port of this machine. */
const application = async (action: () => Action | Promise<Action>) => {
  const seen: string[] = [];
  const handlers: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
    "/flow": flowHandler({ secret, onAnswer: action }),
    "/status": callbackHandler({ secret, onEvent: () => {} }),
  };
  const server = createServer(
    getRequestListener(async (request) => {
      // As Express and others know their host, and proxies: the same.
      const { pathname, host } = new URL(request.url);
      const hosts = new Set([host, request.headers.get("x-forwarded-host")]);
      seen.push(`${request.method} ${[...hosts]}${pathname}`);
      return (await handlers[pathname]?.(request)) ?? new Response(null, { status: 404 });
    }),
  );
  const sockets = new WebSocketServer({ server });
  sockets.on("connection", (socket, { url }) => {
    seen.push(`socket ${url}`);
    socket.close();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  closing.push(() => {
    sockets.close();
    server.close();
    server.closeAllConnections();
  });
  return { seen, origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

/** @param runtime - `"here"`: in this process */
const emulate = async (runtime: Runtime | "here", forwardTo: string) => {
  const args = ["emulator", "--port", "0", "--speed", "50", "--forward-to", forwardTo];
  const emulator = runtime === "here" ? begin(args, env) : start(runtime, args, env);
  running.push(emulator);
  const text = await emulator.says(/^echo .*\n/m);
  const [, baseUrl = ""] = /base URL +(\S+)/.exec(text) ?? [];
  const trigger = async (flow: string, callback: string) => {
    const args = [
      "trigger",
      "answered",
      "--base-url",
      baseUrl,
      "--flow",
      flow,
      "--callback",
      callback,
    ];
    const ended = await invoke(args, env);
    expect(ended).toMatchObject({ code: 0, stderr: "" });
  };
  return { ...emulator, text, trigger };
};

describe.each(partOf(runtimes))("outdial emulator --forward-to, under %s", (runtime) => {
  it("sends flow, media and status there, by their public and signed URLs", async () => {
    const { origin, seen } = await application(() => play(`${publicUrl}/hello.wav`));
    const { says, trigger } = await emulate(runtime, origin);
    const sign = (path: string) => signUrl(publicUrl + path, { secret, context: { order: 1 } });
    await trigger(await sign("/flow"), await sign("/status?to=me"));
    await says(/notified +call\.completed, delivered/);
    expect(new Set(seen)).toEqual(
      new Set(["POST app.example/status", "POST app.example/flow", "GET app.example/hello.wav"]),
    );
  });

  it("opens media sockets there", async () => {
    const { origin, seen } = await application(() => stream("wss://app.example/media?a=1"));
    const { says, trigger } = await emulate(runtime, origin);
    await trigger(await signUrl(`${publicUrl}/flow`, { secret }), "/sample/status");
    await says(/notified +call\.completed, delivered/);
    expect(seen).toContain("socket /media?a=1");
  });
});

describe("outdial emulator --forward-to", () => {
  it("names the application in its curl line", async () => {
    const { origin } = await application(() => hangup());
    const { text } = await emulate("here", `${origin}/`);
    expect(text).toContain(`"flow_url":"${origin}/flow","status_callback_url":"${origin}/status"`);
    expect(text).toMatch(new RegExp(`forwards to +${origin}, path and query kept\n`));
  });

  it("keeps its own sample, and sends every other path of its own there", async () => {
    const { origin, seen } = await application(() => hangup());
    const { says, trigger } = await emulate("here", origin);
    await trigger("/sample/flow", "/other/status");
    await says(/flow +step 1, 200 [^\n]*\/sample\/flow\n/);
    await says(/notified +call\.completed, given up, try 1, /);
    expect(new Set(seen)).toEqual(new Set([expect.stringMatching(/^POST .*\/other\/status$/)]));
  });
});
