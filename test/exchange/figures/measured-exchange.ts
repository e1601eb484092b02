import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Asterisk } from "../asterisk/asterisk.ts";
import { Telephone, type TelephoneCall } from "../telephone/telephone.ts";
import type { Asked, Given, Reported } from "./messages.ts";

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

/** Waits until a condition holds, or a time in milliseconds is over. */
export const until = async (condition: () => boolean, timeout = 60_000): Promise<void> => {
  for (const end = performance.now() + timeout; !condition(); await pause(5)) {
    if (performance.now() > end) return;
  }
};

/** An exchange in a process of its own, and the telephone that it calls. */
export interface MeasuredExchange {
  /** What the process has reported, in order. */
  readonly reported: readonly Reported[];
  /** The file that a recording is written to. */
  readonly recording: string;
  readonly ask: (asked: Asked) => void;
  /** Places a call, and returns it once it is answered. */
  readonly place: (flow: string) => Promise<TelephoneCall>;
}

/** How long calls may take to end, in milliseconds. */
const endTimeout = 1_000;

let numbers = 0;

/**
 * Measures with an exchange and a telephone of its own, so that what fails here fails nothing else.
 *
 * @param limit - how long it may take, in milliseconds
 */
export const measureWith = async <T>(
  asterisk: Asterisk,
  given: Omit<Given, "asterisk" | "telephone">,
  limit: number,
  measure: (exchange: MeasuredExchange) => Promise<T>,
): Promise<T> => {
  const telephone = await Telephone.open();
  const { url, user, password } = asterisk;
  const whole: Given = {
    ...given,
    asterisk: { url, user, password },
    telephone: `${telephone.address}:${telephone.port}`,
  };
  const child = fork(fileURLToPath(new URL("gateway.ts", import.meta.url)), {
    env: { ...process.env, GATEWAY: JSON.stringify(whole) },
  });
  const reported: Reported[] = [];
  child.on("message", (one: Reported) => reported.push(one));
  const calls: TelephoneCall[] = [];
  const coming = new Map<string, (call: TelephoneCall) => void>();
  telephone.behave(async (call) => {
    calls.push(call);
    call.ring();
    await call.answer();
    coming.get(call.to)?.(call);
  });
  const ask = (asked: Asked): void => {
    if (child.connected) child.send(asked, () => {});
  };
  const place = (flow: string): Promise<TelephoneCall> => {
    const to = `+1202555${String(1_000 + numbers++)}`;
    const answered = new Promise<TelephoneCall>((resolve) => coming.set(to, resolve));
    ask({ type: "call", to, flow });
    return answered;
  };
  const run = async (): Promise<T> => {
    await until(() => reported.some(({ type }) => type === "ready"));
    return measure({ reported, recording: given.recording, ask, place });
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${limit / 1_000} s`)), limit);
  });
  const ended = once(child, "exit");
  const lost = ended.then(() => {
    throw new Error("the exchange's process has ended");
  });
  try {
    return await Promise.race([run(), late, lost]);
  } finally {
    clearTimeout(timer);
    for (const call of calls) call.hangUp();
    await pause(endTimeout);
    telephone.close();
    child.kill("SIGKILL");
    await ended;
  }
};
