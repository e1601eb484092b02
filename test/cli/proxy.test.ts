import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { partOf } from "../part.ts";
import { invoke, outdial, runtimes, start } from "./cli.ts";
import { json, type Service, serve } from "./service.ts";

// A proxy of the environment sees all of a plain http request, the key too.

let proxy: Server;
let seen: string[];
let service: Service;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  seen = [];
  proxy = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end();
  });
  proxy.on("connect", (request, socket) => {
    seen.push(`CONNECT ${request.url}`);
    // An answer: where there is none, Node asks again without a pause until the call's deadline.
    socket.on("error", () => {}).end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await new Promise<void>((listening) => proxy.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  service = await serve(json(202, { id: "cs_1" }));
  const proxies = Object.fromEntries(
    ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"].map((name) => [name, url]),
  );
  // Node reads them only where it is asked to.
  env = { ...proxies, NODE_USE_ENV_PROXY: "1", NO_PROXY: "voice.test", OUTDIAL_API_KEY: "ak_1" };
});

afterEach(() => {
  service.close();
  proxy.close();
  proxy.closeAllConnections();
});

const call = (app: string) => [
  ...["call", "--from", "+12025550199", "--to", "+12025550100"],
  ...["--flow", `${app}/flow`, "--callback", `${app}/status`],
];

describe.each(partOf(runtimes))("under %s", (runtime) => {
  it.each(["127.0.0.1", "localhost", "127.0.0.2"])(
    "a call to %s goes by no proxy",
    async (host) => {
      const { port } = new URL(service.url);
      const args = [...call("https://app.test"), "--base-url", `http://${host}:${port}`];
      const ended = await outdial(runtime, args, env);
      expect(seen).toEqual([]);
      // The service is bound to 127.0.0.1 alone. A dispatcher that knows proxies isn't Node's plain one: nothing is certain.
      const refused = runtime === "node" ? 3 : 1;
      expect(ended.code).toBe(host === "127.0.0.2" ? refused : 0);
      expect(service.seen).toHaveLength(host === "127.0.0.2" ? 0 : 1);
    },
  );

  it("a call to another host goes by the proxy, where it sees no more than the host", async () => {
    const args = [...call("https://app.test"), "--base-url", "https://other.test"];
    const { code } = await outdial(runtime, args, env);
    expect(code).toBeGreaterThan(0);
    expect(new Set(seen)).toEqual(new Set(["CONNECT other.test:443"]));
  });

  it("the emulator reaches an application on this machine by no proxy", async () => {
    const emulator = start(runtime, ["emulator", "--port", "0", "--speed", "50"], env);
    const text = await emulator.says(/^echo .*\n/m);
    const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? "";
    const own = { ...env, OUTDIAL_API_KEY: find(/API key +(\S+)/) };
    const args = [...call(service.url), "--base-url", find(/base URL +(\S+)/)];
    expect((await invoke(args, own)).code).toBe(0);
    await emulator.says(/notified +call.completed, delivered/);
    expect(seen).toEqual([]);
    emulator.kill("SIGINT");
    await emulator.ended;
  });
});
