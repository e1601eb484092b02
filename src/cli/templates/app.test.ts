import assert from "node:assert/strict";
import { test } from "node:test";
import { type CalleeAct, createEmulator } from "outdial/emulator";
import { createApp } from "./app.ts";

//~ carrier: const account = {accountText};
//~ carrier:
/** Listens to each question, and presses a key: one of `keys` after the other. */
const pressing = (...keys: string[]) =>
  keys.flatMap((digits): CalleeAct[] => [{ type: "until-prompt" }, { type: "press", digits }]);

/** The application beside the whole service, without a network: calls take no real time. */
const start = (callee: CalleeAct[] = []) => {
  const events: string[] = [];
  const replies: string[] = [];
  //~ !carrier
  const emulator = createEmulator({ clock: "instant", fetch: (request) => app(request), callee });
  //~ end
  //~ carrier: const emulator = createEmulator({
  //~ carrier:   service: { name: "{name}", account },
  //~ carrier:   clock: "instant",
  //~ carrier:   fetch: (request) => app(request),
  //~ carrier:   callee,
  //~ carrier: });
  const token = crypto.randomUUID();
  const env = {
    OUTDIAL_BASE_URL: "https://voice.test",
    //~ carrier: OUTDIAL_ACCOUNT: account,
    OUTDIAL_API_KEY: emulator.apiKey,
    //~ signs: OUTDIAL_SIGNATURE_SECRET: emulator.webhookSecret,
    FROM_NUMBER: "+12025550199",
    PUBLIC_URL: "https://app.test",
    SIGNING_SECRET: crypto.randomUUID(),
    CALL_TOKEN: token,
  };
  const app = createApp(env, {
    fetch: emulator.fetch,
    onEvent: ({ type }) => events.push(type),
    onReply: (_, reply) => void replies.push(reply),
  });
  const place = (to_number: string, authorization = `Bearer ${token}`) =>
    app(
      new Request("https://app.test/call", {
        method: "POST",
        headers: { authorization },
        body: JSON.stringify({ to_number }),
      }),
    );
  return { emulator, events, replies, place };
};

/** The id of the call in a response of `/call`. */
const idIn = async (response: Response): Promise<string> => {
  const { call_id } = Object(await response.json());
  return call_id;
};

/** Calls somebody until the end, and returns what was spoken, in the order of the call. */
const spokenTo = async (to_number: string, { emulator, place }: ReturnType<typeof start>) => {
  const response = await place(to_number);
  assert.equal(response.status, 201);
  const { state, reason, history } = await emulator.ended(await idIn(response));
  assert.deepEqual([state, reason], ["completed", "normal"]);
  await emulator.close();
  return JSON.stringify(history.map((entry) => "plays" in entry && entry.plays));
};

test("a call rings, is answered, and 1 confirms", async () => {
  const started = start(pressing("1"));
  assert.match(await spokenTo("+12025550100", started), /is confirmed/);
  assert.deepEqual(started.replies, ["1"]);
  assert.deepEqual(started.events, [
    "call.initiated",
    "call.ringing",
    "call.answered",
    //~ reportsPersons: "call.machine_detected",
    "call.completed",
  ]);
});

test("after a wrong key the question is asked again, and 2 cancels", async () => {
  const started = start(pressing("7", "2"));
  assert.match(await spokenTo("+12025550100", started), /is cancelled/);
  assert.deepEqual(started.replies, ["2"]);
});

test("silence is no answer: the question is asked three times", async () => {
  const started = start();
  const spoken = await spokenTo("+12025550100", started);
  assert.equal(spoken.split("Press 1 to confirm").length, 4);
  assert.match(spoken, /Goodbye/);
  assert.deepEqual(started.replies, []);
});

// The dialled number selects the scenario: `outdial help trigger` lists them.
test("a busy telephone is reported", async () => {
  const { emulator, events, place } = start();
  await emulator.ended(await idIn(await place("+12025550101")));
  await emulator.close();
  assert.ok(events.includes("call.failed"));
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
//~ carrier:
//~ carrier: test("a machine gets a message, and no question after it", async () => {
//~ carrier:   const started = start();
//~ carrier:   assert.match(await spokenTo("+12025550106", started), /Please call us back/);
//~ carrier:   assert.deepEqual(started.replies, []);
//~ carrier: });
