import { afterEach, expect, test, vi } from "vitest";
import type { Address } from "../../../src/agents/open-socket.ts";
import { connect } from "../../../src/agents/open-socket.ts";

afterEach(() => void vi.unstubAllGlobals());

/** Which URL is connected to; undefined when none is. */
const connected = async (address: Address): Promise<string | undefined> => {
  const urls: string[] = [];
  const { signal } = new AbortController();
  const open = ({ url }: { readonly url: string }) => {
    urls.push(url);
    return Object.assign(new EventTarget(), { readyState: 1, send: () => {}, close: () => {} });
  };
  const attempt = connect(
    () => address,
    open,
    signal,
    () => {},
  );
  await attempt.catch((error) => expect(error).toMatchObject({ problem: "agent_unreachable" }));
  return urls[0];
};

const signed = (url: string, answer: unknown): Address => {
  vi.stubGlobal("fetch", async () => Response.json(answer));
  return {
    url: "wss://not.used/",
    ticket: { url, headers: {}, read: (reported) => Object(reported).signed_url },
  };
};

test.each([
  ["https://api.test/", { signed_url: "wss://agent.test/" }, "wss://agent.test/"],
  ["https://api.test/", { signed_url: "ws://agent.test/" }, undefined],
  ["https://api.test/", { signed_url: "ws://127.0.0.1/" }, undefined],
  ["https://api.test/", { signed_url: "https://agent.test/" }, undefined],
  ["https://api.test/", { signed_url: "wss://a:b@agent.test/" }, undefined],
  ["https://api.test/", { signed_url: 7 }, undefined],
  ["https://api.test/", null, undefined],
  ["http://127.0.0.1/", { signed_url: "ws://127.0.0.1/" }, "ws://127.0.0.1/"],
  ["http://127.0.0.1/", { signed_url: "ws://agent.test/" }, undefined],
  ["http://api.test/", { signed_url: "wss://agent.test/" }, undefined],
])("a URL that %s signs, %j, leads to %s", async (url, answer, leads) => {
  expect(await connected(signed(url, answer))).toBe(leads);
});

test("a URL of its own is connected to as it stands, without a request", async () => {
  const fetch = vi.fn();
  vi.stubGlobal("fetch", fetch);
  expect(await connected({ url: "wss://agent.test/?model=m" })).toBe("wss://agent.test/?model=m");
  expect(fetch).not.toHaveBeenCalled();
});

test("a socket that fails, closes or is given up while it opens leaves no listener once it is closed", async () => {
  for (const way of ["error", "close", "abort"]) {
    const over = new AbortController();
    const listeners = new Set<string>();
    const closed = vi.fn();
    const socket = Object.assign(new EventTarget(), {
      readyState: 0,
      send: () => {},
      close: closed,
    });
    const add = socket.addEventListener.bind(socket);
    const remove = socket.removeEventListener.bind(socket);
    socket.addEventListener = (type: string, listener: EventListener) => {
      listeners.add(type);
      add(type, listener);
    };
    socket.removeEventListener = (type: string, listener: EventListener) => {
      listeners.delete(type);
      remove(type, listener);
    };
    const attempt = connect(
      () => ({ url: "wss://agent.test/" }),
      () => socket,
      over.signal,
      () => {},
    );
    const failed = expect(attempt).rejects.toMatchObject({ problem: "agent_unreachable" });
    await vi.waitFor(() => expect(listeners.size).toBe(3));
    if (way === "abort") over.abort();
    else socket.dispatchEvent(new Event(way));
    await failed;
    socket.dispatchEvent(new Event("close"));
    expect(listeners.size).toBe(0);
    expect(closed).toHaveBeenCalledExactlyOnceWith(1000);
  }
});
