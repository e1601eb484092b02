import { version } from "../../../package.json";
import { claimedCall } from "../../callbacks/verify.ts";
import { redirect } from "../../calls/index.ts";
import { carriers } from "../../carriers/carriers.ts";
import { Attendant } from "../../emulator/dashboard/attendant.ts";
import { dashboard } from "../../emulator/dashboard/routes.ts";
import { createEmulator, type Emulator, type EmulatorOptions } from "../../emulator/index.ts";
import { BadParametersException } from "../../index.ts";
import { fieldsOf } from "../../lib/check.ts";
import { chosenKey, readAccount, writeAccount } from "../account.ts";
import { baseUrlOf, defaultPort, hostsOf, isEmulator, isLoopback, isPrivate } from "../address.ts";
import { accountNames, carrierNamed } from "../carrier.ts";
import {
  type Command,
  defineCommand,
  type Environment,
  exits,
  Failure,
  type Invocation,
  issueLine,
  issuesByFlag,
  UsageError,
  type Values,
} from "../command.ts";
import { calleeNames, calleesIn, seedIn } from "../dial/emulation/callees.ts";
import { forwarding, sampleApplication, sampleCall } from "../emulator/application.ts";
import { calleesOf } from "../emulator/callees.ts";
import { emulatedInterface, tryingAt } from "../emulator/carrier.ts";
import { eventLine, RefusalFilter, Summary } from "../emulator/events.ts";
import { loadScript, type ScriptedFlow } from "../emulator/script.ts";
import { onOneLine, shellOf } from "../emulator/shell.ts";
import { type Handler, type Server, serve } from "../serve.ts";
import { codeOf, jsonLine, type Paint, plain } from "../terminal.ts";

const flags = {
  port: { type: "string", value: "port", help: "default 4010; 0 for any free port" },
  host: { type: "string", value: "host", help: "default 127.0.0.1", sets: "host" },
  number: {
    type: "string",
    value: "number",
    multiple: true,
    help: "a number that may call, one each; any by default",
    sets: "numbers",
  },
  "forward-to": {
    type: "string",
    value: "origin",
    help: "your application: http://localhost:3000; see below",
  },
  script: {
    type: "string",
    value: "file",
    help: "a flow: a module whose default export is { onAnswer, steps, … }",
  },
  callees: {
    type: "string",
    value: "shares",
    help: "who does what: machine=20%,busy=10%,press=1:60%; see below",
  },
  seed: { type: "string", value: "number", help: "of --callees: who does what; default 1" },
  ring: { type: "string", value: "seconds", help: "how long a telephone rings; default 2" },
  speed: {
    type: "string",
    value: "factor",
    help: "multiple of real time; default 1",
    sets: "speed",
  },
  service: {
    type: "string",
    value: "name",
    help: `the carrier that it speaks: ${Object.keys(carriers).join(", ")} (or OUTDIAL_SERVICE)`,
    sets: "service",
  },
  account: {
    type: "string",
    value: "id",
    help: `${accountNames} (or OUTDIAL_ACCOUNT)`,
    sets: "service.account",
  },
  actions: {
    type: "string",
    value: "which",
    help: "all (default), or basic: no say, gather, record, as the deployed one",
    sets: "actions",
  },
  json: { type: "boolean", help: "everything as lines of JSON; errors too, on stderr" },
} as const;

/** What each carrier's interface has, for the help. */
const interfaces = Object.entries(carriers)
  .map(([name, { speaks }]) => `\n${name}: ${speaks}`)
  .join(";");

/** The emulator that a command line describes. */
interface Settings {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** The origin of the application that receives flow and status requests. */
  readonly forwardTo: string | undefined;
  /** The file of the application's flow. */
  readonly script: string | undefined;
  readonly options: EmulatorOptions & { readonly speed: number };
}

/** How long a telephone rings at most by default, in milliseconds. */
const defaultAnswerTimeout = 30_000;

const portOf = (text: string): number => {
  const port = Number(text);
  if (/^\d+$/.test(text) && port < 2 ** 16) return port;
  throw new UsageError("--port must be a number from 0 to 65535");
};

const actionsOf = (text: string): "all" | "basic" => {
  if (text === "all" || text === "basic") return text;
  throw new UsageError("--actions must be all or basic");
};

const originOf = (text: string): string => {
  const { origin, href, protocol } = URL.canParse(text) ? new URL(text) : new URL("about:blank");
  const isAllowed = protocol === "https:" || (protocol === "http:" && isLoopback(text));
  if (isAllowed && href === `${origin}/`) return origin;
  throw new UsageError("--forward-to must be an origin, such as http://localhost:3000");
};

/** Milliseconds of ringing; who rings for longer than usual must still be answered. */
const ringing = (text: string) => {
  const ringDuration = Number(text) * 1000;
  if (!/^\d+(\.\d+)?$/.test(text) || ringDuration > 600_000) {
    throw new UsageError("--ring must be seconds, from 0 to 600");
  }
  return { ringDuration, answerTimeout: Math.max(defaultAnswerTimeout, ringDuration + 1000) };
};

/** The carrier that is emulated, if there is one. */
const serviceOf = (
  { service, account }: Values<typeof flags>,
  { OUTDIAL_SERVICE, OUTDIAL_ACCOUNT, OUTDIAL_ACCOUNT_SID: accountSid }: Environment,
): EmulatorOptions["service"] => {
  const name = service ?? OUTDIAL_SERVICE;
  if (!name) return undefined;
  const carrier = carrierNamed(name);
  const id = account ?? OUTDIAL_ACCOUNT;
  if (id) return { name, account: id, ...(accountSid && { accountSid }) };
  throw new UsageError(
    `--account (${carrier.account}) is missing, which --service needs (or OUTDIAL_ACCOUNT)`,
  );
};

/** @throws {UsageError} which names the flag */
const settingsOf = (given: Values<typeof flags>, env: Environment): Settings => {
  const { port, host = "127.0.0.1", number: numbers, speed = "1", ring, actions, script } = given;
  const { callees, seed } = given;
  if (seed !== undefined && callees === undefined) throw new UsageError("--seed needs --callees");
  const service = serviceOf(given, env);
  const forwardTo = given["forward-to"];
  if (script !== undefined && forwardTo !== undefined)
    throw new UsageError("--script is the application: drop --forward-to");
  return {
    host,
    script,
    port: port === undefined ? defaultPort : portOf(port),
    forwardTo: forwardTo === undefined ? undefined : originOf(forwardTo),
    options: {
      speed: Number(speed),
      ...(service && { service }),
      ...(numbers && { numbers }),
      ...(actions !== undefined && { actions: actionsOf(actions) }),
      ...(ring !== undefined && ringing(ring)),
      ...(callees !== undefined && calleesOf(calleesIn(callees), seedIn(seed ?? "1"))),
    },
  };
};

/** Keeps key and secret for the next start: those that its user has not chosen. */
const keepAccount = (env: Environment, { service, apiKey, webhookSecret }: Emulator): void => {
  const { kept: shapes } = emulatedInterface(service);
  const before = readAccount(env, service, shapes);
  const isChosen = chosenKey(env) !== undefined;
  const now = {
    apiKey: shapes.apiKey && (isChosen ? before.apiKey : apiKey),
    webhookSecret: shapes.webhookSecret && webhookSecret,
  };
  const isNew = now.apiKey !== before.apiKey || now.webhookSecret !== before.webhookSecret;
  if (isNew) writeAccount(env, service, now);
};

/** Starts an emulator with the account of the last start. */
const startEmulator = (env: Environment, options: EmulatorOptions): Emulator => {
  const chosen = chosenKey(env);
  const name = options.service?.name;
  const account = readAccount(env, name, emulatedInterface(name).kept);
  try {
    const emulator = createEmulator({ ...account, ...(chosen && { apiKey: chosen }), ...options });
    keepAccount(env, emulator);
    return emulator;
  } catch (error) {
    if (!(error instanceof BadParametersException)) throw error;
    throw new UsageError(
      issueLine(issuesByFlag(error.issues, flags, { apiKey: "OUTDIAL_EMULATOR_KEY" })),
    );
  }
};

/** The longest line that is written into a timeline, in characters. */
const longestNote = 1_000;

/** How long calls may take to end and notify at the end, in milliseconds. */
const closeTimeout = 2_000;

/** Hangs up every call, and sends the last notifications. */
const closeEmulator = async (emulator: Emulator): Promise<void> => {
  const timer = setTimeout(() => emulator.reset(), closeTimeout);
  await emulator.close();
  clearTimeout(timer);
};

const portErrors: Readonly<Record<string, string>> = {
  EACCES: "is reserved: use one from 1024",
  EADDRNOTAVAIL: "cannot be opened: this machine has no such address",
};

/** The first free port of the next ten. */
const nextFreePort = async (hostname: string, port: number): Promise<number> => {
  for (let next = port + 1; next <= Math.min(port + 10, 65_535); next++) {
    try {
      const server = await serve(async () => new Response(), { hostname, port: next });
      await server.stop();
      return next;
    } catch {}
  }
  return 0;
};

/** How long to look for another emulator for the message, in milliseconds. */
const hintTimeout = 5_000;

/** @throws {Failure} which says why the port cannot be opened, and which can */
const listen = async (handler: Handler, host: string, port: number): Promise<Server> => {
  try {
    return await serve(handler, { hostname: host, port });
  } catch (error) {
    const code = codeOf(error) ?? "";
    if (code !== "EADDRINUSE") {
      const reason = portErrors[code] ?? "cannot be opened";
      throw new Failure(`port ${port} of ${host} ${reason}`, exits.refused);
    }
    const owner = (await isEmulator(baseUrlOf(host, port), hintTimeout)) ? " by an emulator" : "";
    const free = await nextFreePort(host, port);
    throw new Failure(
      `port ${port} of ${host} is in use${owner}; try --port ${free}`,
      exits.refused,
    );
  }
};

/** What a user needs to know of an emulator that has started. */
interface Started {
  readonly base_url: string;
  /** The carrier, and the account there. */
  readonly service?: string | undefined;
  readonly account?: string | undefined;
  /** With a carrier its own key: Twilio's auth token. */
  readonly api_key: string;
  /** Absent where the key signs. */
  readonly webhook_secret?: string | undefined;
  /** The link that signs a browser in. */
  readonly dashboard: string;
  readonly forward_to?: string | undefined;
}

/** The first lines on a terminal. */
const greeting = (facts: Started, host: string, line: string, paint: Paint): string => {
  const { account, key, hint } = emulatedInterface(facts.service);
  const rows = {
    "base URL": facts.base_url,
    ...(account && { [account]: facts.account }),
    [key]: onOneLine(facts.api_key),
    ...(facts.webhook_secret && { "signs with": facts.webhook_secret }),
    dashboard: facts.dashboard,
    ...(facts.forward_to && { "forwards to": `${facts.forward_to}, path and query kept` }),
  };
  const warning = [
    paint("yellow", "\n  Everybody who can reach this machine can reach the emulator."),
    paint("yellow", "  It accepts no plain http to this machine: put your https URLs below."),
  ];
  return [
    `${paint("bold", `outdial emulator ${version}`)} for development and tests\n`,
    ...Object.entries(rows).map(([name, value]) => `  ${paint("dim", name.padEnd(11))}  ${value}`),
    ...hint((name) => `process.env.${name}`),
    ...(isPrivate(host) ? [] : warning),
    `\n${line}\n`,
  ].join("\n");
};

const run = async (invocation: Invocation<typeof flags>) => {
  const { flags: given, env, terminal, signal } = invocation;
  const { host, port, options, forwardTo, script } = settingsOf(given, env);
  const { speed, answerTimeout } = options;
  const { paint } = terminal;
  const attendant = new Attendant();
  let isHost = (_host: string): boolean => false;
  const isOwn = (origin: string) => isHost(new URL(origin).host);
  const { key, signature, hasSecret } = emulatedInterface(options.service?.name);
  const outward = forwardTo ? forwarding(forwardTo, isOwn, signature) : {};
  const emulator = startEmulator(env, {
    ...{ onCall: attendant.onCall, ...options, host, ...outward },
  });
  let flow: ScriptedFlow | undefined;
  const trying = await tryingAt(emulator, () => flow?.hasMachineStep() ?? false);
  const { service, encodeCall, respond, commandFor } = trying;
  flow =
    script === undefined
      ? undefined
      : await loadScript(script, {
          service,
          note: (id, text) => {
            emulator.note(id, text.slice(0, longestNote));
          },
          redirect: async (call, url, baseUrl) => {
            if (!service) return;
            const { apiKey, fetch } = emulator;
            await redirect(call, url, { service, apiKey, baseUrl, fetch });
          },
          onError: (error, request, call_id = claimedCall(request)) => {
            const text = plain(String(fieldsOf(error).message ?? error));
            terminal.report(`outdial: --script: ${call_id ? `call ${call_id}: ` : ""}${text}`);
          },
        });

  const [from = "+12025550199"] = options.numbers ?? [];
  // An emulator that others can reach accepts no plain http to this machine.
  const application = isPrivate(host) ? forwardTo : "https://app.example";
  const sample = (origin: string) => sampleCall(origin, from, application);
  const { fetch, token } = dashboard(emulator, {
    isHost: (name) => isHost(name),
    beside: sampleApplication(respond, flow),
    speed,
    answerTimeout,
    attendant,
    keyName: key,
    placing: { sample, encodeCall, commandFor },
  });
  const server = await listen((request) => fetch(request), host, port);
  isHost = hostsOf(host, server.port);

  // Until ctrl-C, or until nobody reads the output any more.
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => stop());
  if (signal.aborted) stop();

  const baseUrl = baseUrlOf(host, server.port);
  const shell = shellOf(env, process.platform);
  const firstCall = (): Promise<string> =>
    commandFor({ ...sample(baseUrl), to_number: "+12025550100" }, baseUrl, shell);
  const print = async (facts: object, text: string): Promise<void> => {
    if (!(await terminal.print((given.json && jsonLine(facts)) || text))) stop();
  };

  const summary = new Summary();
  const refusals = new RefusalFilter();
  const printEvents = async (): Promise<void> => {
    for await (const event of emulator) {
      if (event.type === "reset" && signal.aborted) continue; // From `closeEmulator`.
      summary.count(event);
      const now = new Date();
      const alike = event.type === "refused" ? refusals.count(event, now.getTime()) : 0;
      if (alike === undefined && !given.json) continue;
      const more = alike ? ` (${alike} more like it were not printed)` : "";
      const line = eventLine(event, now, emulator.call, paint) + more;
      if (event.type === "key" && chosenKey(env) === undefined) keepAccount(env, emulator);
      await print(event, event.type === "key" ? `${line}\n\n${await firstCall()}\n` : line);
    }
  };
  const printed = printEvents();
  const facts = {
    base_url: baseUrl,
    ...(emulator.service && { service: emulator.service, account: emulator.accountId }),
    api_key: emulator.apiKey,
    ...(hasSecret && { webhook_secret: emulator.webhookSecret }),
    dashboard: `${baseUrl}/?token=${token}`,
    ...(forwardTo && { forward_to: forwardTo }),
  };
  await print({ type: "started", ...facts }, greeting(facts, host, await firstCall(), paint));
  await stopped;
  await closeEmulator(emulator);
  await printed;
  await server.stop();
  await print({ type: "ended", summary: `${summary}` }, `\n${summary}`);
  if (!terminal.isLost) return exits.done;
  throw new Failure("stdout cannot be written: is the disk full?", exits.refused);
};

/** `outdial emulator`: the service on a port, until ctrl-C. */
export const command: Command = defineCommand({
  flags,
  example: "emulator --script survey.ts",
  notes: [
    `Key and secret stay the same from start to start, in a file that only you can read; or the key is
the one of OUTDIAL_EMULATOR_KEY. OUTDIAL_API_KEY is not read: it may be a real one.`,
    `With --forward-to the URLs of a call may be your public ones: the emulator sends flow and status
requests to that origin, path and query kept, so that signatures hold and no tunnel is needed.`,
    `With --script that file is the application: its default export has the options of flowHandler, such
as onAnswer and steps. It is loaded again when it changes. TypeScript is taken as your runtime
strips it.`,
    `--callees has shares of the calls:
${calleeNames.join(", ")},
and press=KEYS, such as press=4/5:60%: 4 at the first question, 5 at all others.
Who is left answers, and presses nothing. Without it the number decides, or you in the dashboard.`,
    `With --service it speaks that carrier's interface instead, with an account of its own that stays
the same, too: ${interfaces}.`,
  ],
  exits: {
    0: "ended by ctrl-C",
    1: "the port cannot be opened, or stdout cannot be written",
    2: "the command line is wrong",
  },
  run,
});
