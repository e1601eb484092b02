import assert from "node:assert/strict";
import { test } from "node:test";
import { createEmulator } from "outdial/emulator";
import { createApp } from "./app.ts";

/** The application beside the whole service, without a network: calls take no real time. */
const start = () => {
  const events: string[] = [];
  const emulator = createEmulator({ clock: "instant", fetch: (request) => app(request) });
  const token = crypto.randomUUID();
  const env = {
    OUTDIAL_BASE_URL: "https://voice.test",
    OUTDIAL_API_KEY: emulator.apiKey,
    FROM_NUMBER: "+12025550199",
    PUBLIC_URL: "https://app.test",
    SIGNING_SECRET: crypto.randomUUID(),
    CALL_TOKEN: token,
  };
  const app = createApp(env, { fetch: emulator.fetch, onEvent: ({ type }) => events.push(type) });
  const place = (to_number: string, authorization = `Bearer ${token}`) =>
    app(
      new Request("https://app.test/call", {
        method: "POST",
        headers: { authorization },
        body: JSON.stringify({ to_number }),
      }),
    );
  return { emulator, events, place };
};

test("a call rings, is answered, and ends", async () => {
  const { emulator, events, place } = start();
  const response = await place("+12025550100");
  assert.equal(response.status, 201);
  const { call_id } = await response.json();
  const { state, reason } = await emulator.ended(call_id);
  assert.deepEqual([state, reason], ["completed", "normal"]);
  await emulator.close();
  assert.deepEqual(events, ["call.initiated", "call.ringing", "call.answered", "call.completed"]);
});

// The dialled number selects the scenario: `outdial help trigger` lists them.
test("a busy telephone is reported", async () => {
  const { emulator, events, place } = start();
  const { call_id } = await (await place("+12025550101")).json();
  await emulator.ended(call_id);
  await emulator.close();
  assert.equal(events.at(-1), "call.failed");
});

test("a call that may have been placed is not repeated", async () => {
  const { emulator, place } = start();
  const response = await place("+12025550114");
  assert.equal(response.status, 202);
  assert.deepEqual(await response.json(), { error: "NetworkException", placed: "maybe" });
  await emulator.close();
});

test("nobody is called without the token", async () => {
  const { emulator, place } = start();
  assert.equal((await place("+12025550100", "Bearer guess")).status, 401);
  await emulator.close();
});
