import { afterEach, expect, test, vi } from "vitest";
import { createEmulator } from "../../../src/emulator/index.ts";

afterEach(() => void vi.unstubAllGlobals());

test("without Web Crypto, as on Node 18, createEmulator says in one line what it needs", () => {
  vi.stubGlobal("crypto", undefined);
  expect(() => createEmulator()).toThrow(
    new TypeError("createEmulator needs Web Crypto: Node 22 or newer, Deno, Bun or a browser"),
  );
});

test("without a WebSocket client, as on Node 20, a stream says what it needs", async () => {
  vi.stubGlobal("WebSocket", undefined);
  const emulator = createEmulator({
    clock: "instant",
    untimedMedia: true,
    fetch: () => Response.json({ action: "stream", ws_url: "wss://app.test/media" }),
  });
  const response = await emulator.fetch("https://emulator.test/api/v1/calls/initiate", {
    method: "POST",
    headers: { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" },
    body: JSON.stringify({
      from_number: "+12025550199",
      to_number: "+12025550100",
      flow_url: "https://app.test/flow",
      status_callback_url: "https://app.test/status",
    }),
  });
  const { flow_error } = await emulator.ended((await response.json()).data.id);
  expect(flow_error).toBe(
    "step 1: ws_url needs a WebSocket client: use Node 22 or newer, or pass the one of the package ws as the option WebSocket",
  );
});
