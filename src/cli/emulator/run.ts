import { Attendant } from "../../emulator/dashboard/attendant.ts";
import { dashboard } from "../../emulator/dashboard/dashboard.ts";
import type { Sample } from "../../emulator/dashboard/place.ts";
import type { Emulator } from "../../emulator/emulator.ts";
import type { Run } from "../command/command.ts";
import { exits } from "../command/failure.ts";
import { chosenKey, keep } from "../local/account.ts";
import { baseUrlOf, hostsOf, isPrivate } from "../local/address.ts";
import type { Handler } from "../serve/server.ts";
import { jsonLine } from "../terminal/json.ts";
import { print } from "../terminal/output.ts";
import { paint } from "../terminal/paint.ts";
import { eventLine } from "./event-line.ts";
import { firstCall, shellOf } from "./first-call.ts";
import type { emulatorFlags } from "./flags.ts";
import { forwarding } from "./forward.ts";
import { greeting, started } from "./greeting.ts";
import { listen } from "./listen.ts";
import { sample, sampleCall } from "./sample.ts";
import { settingsOf } from "./settings.ts";
import { startEmulator } from "./start.ts";
import { Summary } from "./summary.ts";

/** How long the calls that go on may take to end and tell it, in milliseconds. */
const patience = 2_000;

/** Hangs up, and lets that be told for a while. */
const close = async (emulator: Emulator): Promise<void> => {
  const timer = setTimeout(() => emulator.reset(), patience);
  await emulator.close();
  clearTimeout(timer);
};

/** `outdial emulator`: the service on a port, until ctrl-C. */
export const run: Run<typeof emulatorFlags> = async ({ flags, signal }) => {
  const settings = settingsOf(flags);
  const { host, options, forwardTo, json } = settings;
  const { speed, answerWithin } = options;
  const attendant = new Attendant();
  let isHost = (_host: string): boolean => false;
  const isOwn = (origin: string) => isHost(new URL(origin).host);
  const outward = forwardTo ? forwarding(forwardTo, isOwn) : {};
  const emulator = startEmulator({ ...options, host, ...outward, onCall: attendant.onCall });

  const [from = "+12025550199"] = options.numbers ?? [];
  // Where others can reach the emulator, it takes no plain http to this machine.
  const app = isPrivate(host) ? forwardTo : "https://app.example";
  const sampleAt = (origin: string): Sample => sampleCall(origin, from, app);
  const { fetch, token } = dashboard(emulator, {
    isHost: (given) => isHost(given),
    beside: sample,
    speed,
    answerWithin,
    attendant,
    sample: sampleAt,
  });
  const handler: Handler = (request) => fetch(request);
  const server = await listen(handler, host, settings.port);
  isHost = hostsOf(host, server.port);

  // Ctrl-C, or nobody reads what is printed any more.
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => stop());

  const baseUrl = baseUrlOf(host, server.port);
  const shell = shellOf(process.env, process.platform);
  const curl = (): string =>
    firstCall(shell, baseUrl, emulator.apiKey, {
      ...sampleAt(baseUrl),
      to_number: "+12025550100",
    });
  const say = async (fact: object, text: string): Promise<void> => {
    if (!(await print((json && jsonLine(fact)) || text))) stop();
  };

  const summary = new Summary();
  const tell = async (): Promise<void> => {
    for await (const event of emulator) {
      if (event.type === "reset" && signal.aborted) continue; // That is how `close` gives up.
      summary.count(event);
      const line = eventLine(event, new Date(), emulator.call, paint);
      if (event.type === "key" && chosenKey() === undefined) keep(emulator);
      await say(event, event.type === "key" ? `${line}\n\n${curl()}\n` : line);
    }
  };
  const told = tell();
  const facts = started(emulator, baseUrl, token, settings);
  await say({ type: "started", ...facts }, greeting(facts, host, curl(), paint));
  await stopped;
  await close(emulator);
  await told;
  await server.stop();
  await say({ type: "ended", summary: `${summary}` }, `\n${summary}`);
  return exits.done;
};
