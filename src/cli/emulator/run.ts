import { Callee } from "../../emulator/dashboard/callee.ts";
import { dashboard } from "../../emulator/dashboard/dashboard.ts";
import { createEmulator, type Emulator } from "../../emulator/emulator.ts";
import { BadParametersException } from "../../errors.ts";
import { isLoopback } from "../../rules/url.ts";
import { baseUrlOf, defaultPort, hostsOf } from "../address.ts";
import type { Run } from "../command/command.ts";
import { exits, Failure, UsageError } from "../command/failure.ts";
import { serve } from "../serve/serve.ts";
import type { Handler, Server } from "../serve/server.ts";
import { paint } from "../terminal/paint.ts";
import { version } from "../version.ts";
import { eventLine } from "./event-line.ts";
import type { emulatorFlags } from "./flags.ts";
import { sample, sampleCall } from "./sample.ts";
import { Summary } from "./summary.ts";

/** How long the calls that go on may take to end and tell it, in milliseconds. */
const patience = 2_000;

const refusals: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use",
  EACCES: "is not for everyone: take one from 1024",
  EADDRNOTAVAIL: "can't be had: this machine has no such address",
};

const portOf = (text: string): number => {
  const port = Number(text);
  if (/^\d+$/.test(text) && port < 2 ** 16) return port;
  throw new UsageError("--port must be a number from 0 to 65535");
};

/** @throws {UsageError} naming the flag whose rule is broken */
const create = (
  numbers: readonly string[] | undefined,
  speed: number,
  { onCall }: Callee,
): Emulator => {
  try {
    return createEmulator({ speed, onCall, ...(numbers && { numbers }) });
  } catch (error) {
    if (!(error instanceof BadParametersException)) throw error;
    const flagOf: Readonly<Record<string, string>> = { numbers: "--number", speed: "--speed" };
    const [issue] = error.issues;
    throw new UsageError(`${flagOf[issue?.param ?? ""] ?? issue?.param} ${issue?.message}`);
  }
};

/** The line that places a first call, by itself. */
const curlLine = (baseUrl: string, apiKey: string, from_number: string): string => {
  const call = { ...sampleCall(baseUrl, from_number), to_number: "+12025550100" };
  return (
    `echo "X-API-Key: ${apiKey}" | curl ${baseUrl}/api/v1/calls/initiate -H @- ` +
    `-H "Content-Type: application/json" -d '${JSON.stringify(call)}'`
  );
};

const greet = (
  emulator: Emulator,
  host: string,
  port: number,
  token: string,
  from: string,
): void => {
  const baseUrl = baseUrlOf(host, port);
  const rows = {
    "base URL": baseUrl,
    "API key": emulator.apiKey,
    "signs with": emulator.webhookSecret,
    dashboard: `${baseUrl}/?token=${token}`,
  };
  console.log(paint("bold", `outdial emulator ${version}`), "for development and tests\n");
  for (const [name, value] of Object.entries(rows)) {
    console.log(`  ${paint("dim", name.padEnd(10))}  ${value}`);
  }
  if (!isLoopback(baseUrl) || host === "0.0.0.0" || host === "::") {
    console.log(paint("yellow", "\n  Whoever can reach this machine can reach the emulator."));
  }
  console.log(`\n${curlLine(baseUrl, emulator.apiKey, from)}\n`);
};

/** Waits for ctrl-C, or for the end of whoever reads what is printed. */
const stopped = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve());
    process.stdout.once("error", () => resolve());
  });

/** Hangs up, and lets that be told for a while. */
const close = async (emulator: Emulator): Promise<void> => {
  const timer = setTimeout(() => emulator.reset(), patience);
  await emulator.close();
  clearTimeout(timer);
};

/** `outdial emulator`: the service on a port, until ctrl-C. */
export const run: Run<typeof emulatorFlags> = async ({ flags, signal }) => {
  const { host = "127.0.0.1", number: numbers, speed: speedText = "1" } = flags;
  const wanted = portOf(flags.port ?? String(defaultPort));
  const speed = Number(speedText);
  const [from = "+12025550199"] = numbers ?? [];
  const callee = new Callee();
  const service = create(numbers, speed, callee);

  let isHost = (_host: string): boolean => false;
  const { fetch, token } = dashboard(service, {
    isHost: (given) => isHost(given),
    speed,
    callee,
    sample: (origin) => sampleCall(origin, from),
  });
  const handler: Handler = async (request) => sample(request) ?? fetch(request);
  let server: Server;
  try {
    server = await serve(handler, { hostname: host, port: wanted });
  } catch (error) {
    const why = refusals[Object(error).code] ?? "can't be had";
    throw new Failure(`port ${wanted} of ${host} ${why}`, exits.refused);
  }
  isHost = hostsOf(host, server.port);
  const stop = stopped(signal);

  const summary = new Summary();
  const tell = async (): Promise<void> => {
    for await (const event of service) {
      summary.count(event);
      console.log(eventLine(event, new Date(), service.call, paint));
    }
  };
  const told = tell();
  greet(service, host, server.port, token, from);
  await stop;
  await close(service);
  await told;
  await server.stop();
  console.log(`\n${summary}`);
  return exits.done;
};
