import assert from "node:assert/strict";
import { Client } from "outdial";
import { signUrl } from "outdial/callbacks";
import { createEmulator } from "outdial/emulator";

/** An application that has mounted both handlers, at `/flow` and `/status`. */
export interface Mounted {
  readonly fetch: (request: Request) => Promise<Response>;
  readonly close: () => unknown;
}

/** A server on this machine, which gets the requests for the application. */
export const onPort = (port: number, close: () => unknown): Mounted => ({
  fetch: (request) => {
    const { pathname, search } = new URL(request.url);
    return fetch(new Request(`http://127.0.0.1:${port}${pathname}${search}`, request));
  },
  close,
});

const media = "https://app.example/hello.wav";

/** The application performs the flow, takes each notification once, says whether it has the secret, and refuses what is not signed. */
export const checkMounted = async ({ fetch }: Mounted, secret: string): Promise<void> => {
  const emulator = createEmulator({
    clock: "instant",
    fetch: (request) => (request.url === media ? new Response() : fetch(request)),
  });
  const { apiKey } = emulator;
  const client = new Client(apiKey, { baseUrl: "https://voice.test", fetch: emulator.fetch });
  const call = await client.calls.create({
    from_number: "+12025550199",
    to_number: "+12025550100",
    flow_url: await signUrl("https://app.test/flow?a=1&b=%2F", { secret }),
    status_callback_url: await signUrl("https://app.test/status", { secret }),
  });
  const { state, history } = await emulator.ended(call.id);
  assert.equal(state, "completed");
  const actions = history.flatMap((entry) => (entry.type === "action" ? [entry.action] : []));
  assert.deepEqual(actions, [{ action: "play", media_url: media }]);
  const statuses = history.flatMap((one) => (one.type === "notification" ? [one.status] : []));
  assert.deepEqual(statuses, [204, 204, 204, 204]);
  for (const path of ["/flow", "/status"]) {
    const signed = await signUrl(`https://app.test${path}`, { secret });
    assert.equal((await fetch(new Request(signed, { method: "HEAD" }))).status, 204);
    const forged = new Request(`https://app.test${path}`, { method: "POST", body: "{}" });
    assert.equal((await fetch(forged)).status, 401);
  }
  await emulator.close();
};
