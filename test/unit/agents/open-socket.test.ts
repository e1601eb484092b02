import { afterEach, expect, test, vi } from "vitest";
import { connect, openSocket } from "../../../src/agents/open-socket.ts";

afterEach(() => void vi.unstubAllGlobals());

const { signal } = new AbortController();
const url = "wss://agent.test/";
const headers = { Authorization: "Bearer key" };
const protocols = ["realtime", "openai-insecure-api-key.key"];

/** How the platform's WebSocket is made where the runtime calls itself so. */
const made = (userAgent: string) => {
  const calls: unknown[][] = [];
  vi.stubGlobal("navigator", { userAgent });
  vi.stubGlobal(
    "WebSocket",
    class {
      constructor(...how: unknown[]) {
        calls.push(how);
      }
    },
  );
  return calls;
};

test.each(["Node.js/24", "Deno/2.9.5", "Bun/1.4.5"])(
  "trap: %s takes headers, and the key is in one, not in a subprotocol",
  async (runtime) => {
    const calls = made(runtime);
    await openSocket({ url, headers, protocols, signal });
    expect(calls).toEqual([[url, { headers }]]);
  },
);

test("trap: a page takes none, so the key is a subprotocol", async () => {
  const calls = made("Mozilla/5.0");
  await openSocket({ url, headers, protocols, signal });
  expect(calls).toEqual([[url, protocols]]);
});

test("where there are no headers the subprotocols are offered, and none if there are none", async () => {
  const calls = made("Node.js/24");
  await openSocket({ url, protocols: ["convai"], signal });
  await openSocket({ url, signal });
  expect(calls).toEqual([
    [url, ["convai"]],
    [url, []],
  ]);
});

test("an agent that is reached by headers only can't be reached from a page", () => {
  const calls = made("Mozilla/5.0");
  expect(() => openSocket({ url, headers, signal })).toThrow(
    expect.objectContaining({ problem: "agent_unreachable", code: "needs_headers" }),
  );
  expect(calls).toEqual([]);
});

test("trap: on Workers a socket comes of a request, open, and its refusal has a status", async () => {
  const socket = { accept: vi.fn(), binaryType: "blob" };
  const fetch = vi.fn(async () => Object.assign(new Response(), { webSocket: socket }));
  vi.stubGlobal("WebSocketPair", class {});
  vi.stubGlobal("fetch", fetch);
  expect(await openSocket({ url, headers, protocols, signal })).toBe(socket);
  expect(fetch).toHaveBeenCalledExactlyOnceWith("https://agent.test/", {
    headers: { ...headers, Upgrade: "websocket" },
    redirect: "manual",
    signal,
  });
  expect(socket.accept).toHaveBeenCalledOnce();
  expect(socket.binaryType).toBe("arraybuffer");
  for (const [status, problem] of [
    [401, "agent_refused"],
    [403, "agent_refused"],
    [307, "agent_unreachable"],
    [500, "agent_unreachable"],
  ] as const) {
    vi.stubGlobal("fetch", async () => new Response(null, { status }));
    await expect(openSocket({ url, headers, signal })).rejects.toMatchObject({
      problem,
      code: String(status),
    });
  }
});

test("a request to this machine doesn't go to the proxy of the environment, and one over TLS may", async () => {
  const fetched: unknown[][] = [];
  made("Bun/1.4.5");
  vi.stubGlobal("fetch", async (to: string, { proxy }: { readonly proxy?: unknown }) => {
    fetched.push([to, proxy]);
    return new Response("", { status: 401 });
  });
  vi.stubGlobal(
    "WebSocket",
    class extends EventTarget {
      readonly readyState = 3;
      close() {}
    },
  );
  for (const origin of ["127.0.0.1:9", "agent.test"]) {
    const secure = origin === "agent.test" ? "s" : "";
    const ticket = { url: `http${secure}://${origin}/ticket`, headers, read: () => url };
    const socket = { url: `ws${secure}://${origin}/socket`, headers };
    for (const address of [{ url, ticket }, socket]) {
      const attempt = connect(
        () => address,
        openSocket,
        signal,
        () => {},
      );
      await expect(attempt).rejects.toThrow();
    }
  }
  expect(fetched).toEqual([
    ["http://127.0.0.1:9/ticket", false],
    ["http://127.0.0.1:9/socket", false],
    ["https://agent.test/ticket", undefined],
    ["https://agent.test/socket", undefined],
  ]);
});
