import { assert } from "chai";
import {
  callbackHandler,
  type Refusal,
  RefusedException,
  receive,
  type Verification,
} from "outdial/callbacks";
import { webhooks } from "./vectors.ts";

export const secret = "a secret that was made at random";
export const other = "another secret, of somebody else";
const [, vector] = webhooks;
if (!vector) throw new Error("no vector");
/** What a service that follows Standard Webhooks has signed. */
export const webhook: (typeof webhooks)[number] = vector;
export const webhookSecret: string = webhook.secret;
export const ringing = JSON.stringify({
  type: "call.ringing",
  call_id: "cs_1",
  data: { to: "+12025550188" },
});

export const post = (
  url: string,
  body: BodyInit | null = ringing,
  headers: HeadersInit = {},
): Request => new Request(url, { method: "POST", body, headers });

/** Runs at a second of the test's choice. */
export const at = async <T>(seconds: number, work: () => Promise<T>): Promise<T> => {
  const { now } = Date;
  Date.now = () => seconds * 1000;
  try {
    return await work();
  } finally {
    Date.now = now;
  }
};

export const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail("expected an exception"),
    (reason: unknown) => reason,
  );

/** Runs with timers that wait for nothing else than a word, and gives what each was to wait. */
export const ringingAtOnce = async (
  work: (ring: () => void) => Promise<void>,
): Promise<number[]> => {
  const { setTimeout } = globalThis;
  const waits: number[] = [];
  let ring = () => {};
  globalThis.setTimeout = ((late: () => void, wait: number) => {
    waits.push(wait);
    ring = late;
  }) as never;
  try {
    await work(() => ring());
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  return waits;
};

/** What throws at whatever is asked of it. */
export const trap = (): object => {
  const spring = () => {
    throw new Error("trap");
  };
  return new Proxy({}, { get: spring, getPrototypeOf: spring, has: spring, ownKeys: spring });
};

const statuses: Partial<Record<Refusal, number>> = {
  wrong_method: 405,
  too_large: 413,
  too_slow: 408,
  not_utf8: 400,
  not_json: 400,
  too_deep: 400,
  wrong_shape: 400,
};

/** Refused for this reason by `receive`, and by the handler with the status and the sentence of the reason. */
export const assertRefused = async (
  make: () => Request,
  options: Verification,
  reason: Refusal,
): Promise<void> => {
  const error = await rejection(receive(make(), options));
  assert.instanceOf(error, RefusedException, String(error));
  assert.equal(error instanceof RefusedException && error.reason, reason);
  const reported: unknown[] = [];
  let events = 0;
  const handler = callbackHandler({
    ...options,
    onEvent: () => ++events,
    onError: (error) => reported.push(error),
  });
  const response = await handler(make());
  assert.equal(response.status, statuses[reason] ?? 401, reason);
  assert.equal(`${reason}: ${await response.text()}`, new RefusedException(reason).message);
  assert.equal(response.headers.get("allow"), reason === "wrong_method" ? "POST" : null);
  assert.equal(events, 0);
  assert.deepEqual(
    reported.map((error) => error instanceof RefusedException && error.reason),
    [reason],
  );
};

export const headersOf = ({ id, timestamp, signature }: (typeof webhooks)[number]) => ({
  "webhook-id": id,
  "webhook-timestamp": String(timestamp),
  "webhook-signature": signature,
});

/** Another printable character, one bit away. */
export const flipped = (text: string, index: number): string => {
  const code = text.charCodeAt(index);
  const flip = code === 0x7e || code === 0x21 ? 2 : 1;
  return text.slice(0, index) + String.fromCharCode(code ^ flip) + text.slice(index + 1);
};
