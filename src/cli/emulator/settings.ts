import type { EmulatorOptions } from "../../emulator/options.ts";
import { routeOf } from "../../rules/url.ts";
import { UsageError } from "../command/failure.ts";
import type { Values } from "../command/flags.ts";
import { defaultPort } from "../local/address.ts";
import type { emulatorFlags } from "./flags.ts";

/** What the command line says of an emulator. */
export interface Settings {
  readonly host: string;
  /** 0 for any that is free. */
  readonly port: number;
  /** The origin of the application that flow and status are sent to. */
  readonly forwardTo: string | undefined;
  /** What `createEmulator` is told. */
  readonly options: EmulatorOptions & { readonly speed: number };
  readonly json: boolean;
}

/** How long a telephone may ring at most in the service, in milliseconds. */
const ringsFor = 30_000;

const portOf = (text: string): number => {
  const port = Number(text);
  if (/^\d+$/.test(text) && port < 2 ** 16) return port;
  throw new UsageError("--port must be a number from 0 to 65535");
};

const originOf = (text: string): string => {
  if (routeOf(text)) {
    const { origin, pathname, search, hash } = new URL(text);
    if (pathname + search + hash === "/") return origin;
  }
  throw new UsageError("--forward-to must be an origin, such as http://localhost:3000");
};

/** Milliseconds of ringing; a telephone that rings for longer than usual must not ring in vain. */
const ringing = (text: string) => {
  const ringFor = Number(text) * 1000;
  if (!/^\d+(\.\d+)?$/.test(text) || ringFor > 600_000) {
    throw new UsageError("--ring must be seconds, from 0 to 600");
  }
  return { ringFor, answerWithin: Math.max(ringsFor, ringFor + 1000) };
};

/** @throws {UsageError} naming the option whose rule is broken */
export const settingsOf = (flags: Values<typeof emulatorFlags>): Settings => {
  const { port, host = "127.0.0.1", number: numbers, speed = "1", ring, json = false } = flags;
  const forwardTo = flags["forward-to"];
  return {
    host,
    port: port === undefined ? defaultPort : portOf(port),
    forwardTo: forwardTo === undefined ? undefined : originOf(forwardTo),
    options: {
      speed: Number(speed),
      ...(numbers && { numbers }),
      ...(ring !== undefined && ringing(ring)),
    },
    json,
  };
};
