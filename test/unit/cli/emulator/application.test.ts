import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test, vi } from "vitest";
import { carriers } from "../../../../src/carriers/carriers.ts";
import { forwarding } from "../../../../src/cli/emulator/application.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const close of closing.splice(0)) close();
});

const signatures = Object.entries(carriers).map(([name, { shown }]) => [name, shown.signature]);

test.each(signatures)(
  "a GET that %s signs is forwarded by its header %s; others are not",
  async (_, signature = "") => {
    const seen: string[] = [];
    const server = createServer(({ method, url, headers: { host } }, response) => {
      seen.push(`${method} ${host}${url}`);
      response.writeHead(204).end();
    });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    closing.push(() => server.close());
    const direct = vi
      .spyOn(globalThis, "fetch")
      .mockImplementation(async () => new Response("direct"));
    const { port } = server.address() as AddressInfo;
    const { fetch } = forwarding(`http://127.0.0.1:${port}`, () => false, signature);
    const ask = (url: string, headers: Readonly<Record<string, string>>) =>
      fetch(new Request(url, { headers }), { signal: new AbortController().signal });

    expect(await (await ask("https://other.example/media", { Range: "bytes=0-9" })).text()).toBe(
      "direct",
    );
    expect((await ask("https://app.example/flow?a=1", { [signature]: "s" })).status).toBe(204);
    // What is played is of the application from then on.
    expect(
      (await ask("https://app.example/a.wav", { [signature]: "s", Range: "bytes=0-9" })).status,
    ).toBe(204);
    expect(await (await ask("https://other.example/", {})).text()).toBe("direct");
    expect(seen).toEqual(["GET app.example/flow?a=1", "GET app.example/a.wav"]);
    expect(direct).toHaveBeenCalledTimes(2);
  },
);
