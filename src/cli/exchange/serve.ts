import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { openAddresses } from "../../exchange/addresses.ts";
import { endpointOf, Limits } from "../../exchange/limits.ts";
import { controlTokenOf, type Operator, openOperator } from "../../exchange/operator.ts";
import type { Pages } from "../../exchange/page/routes.ts";
import { limitUses } from "../../exchange/page/state.ts";
import type {
  CarrierAccount,
  ExchangeEvent,
  ExchangeService,
  openService,
} from "../../exchange/service.ts";
import {
  type ExchangeSecrets,
  type ExchangeSettings,
  readSecrets,
  readSettings,
  type SecretAccount,
  writeSecrets,
} from "../../exchange/settings.ts";
import type { openStore, Store } from "../../exchange/store.ts";
import { baseUrlOf, hostsOf } from "../address.ts";
import { exits, Failure, type Host } from "../command.ts";
import { type Server, type Limits as ServerLimits, serve } from "../serve.ts";
import { codeOf, jsonLine } from "../terminal.ts";
import { carrierNames, type ExchangeFlags } from "./flags.ts";

type CarrierName = (typeof carrierNames)[number];

/** What opens the store and the service. */
export interface Opening {
  readonly openStore: typeof openStore;
  readonly openService: typeof openService;
}

/** It is on the internet: slow senders are cut off, and connections leave open files for calls. */
const serverLimits: ServerLimits = {
  headTimeout: 10_000,
  requestTimeout: 30_000,
  silenceTimeout: 500,
  maxConnections: 768,
};

/** New accounts, as the carriers' own look. */
const newAccounts: Readonly<Record<CarrierName, () => SecretAccount>> = {
  twilio: () => ({
    account: `AC${randomBytes(16).toString("hex")}`,
    apiKey: randomBytes(16).toString("hex"),
  }),
};

/** The accounts of carriers, the same at each start: those that are new are kept. */
const accountsFor = (
  names: readonly CarrierName[],
  secrets: ExchangeSecrets,
  folder: string,
): readonly CarrierAccount[] => {
  const missing = names.filter((name) => !secrets.accounts[name]);
  const added = Object.fromEntries(missing.map((name) => [name, newAccounts[name]()]));
  const accounts = { ...secrets.accounts, ...added };
  if (missing.length > 0) writeSecrets(folder, { ...secrets, accounts });
  return names.flatMap((name) => {
    const account = accounts[name];
    return account ? [{ name, ...account }] : [];
  });
};

/** No call was placed, and a later request may place it. */
const notReady = (): Response =>
  new Response(
    JSON.stringify({ detail: "The exchange starts.", message: "The exchange starts." }),
    {
      status: 429,
      headers: { "Content-Type": "application/json", "Retry-After": "1" },
    },
  );

const portErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: "is in use: does an exchange run already?",
  EACCES: "is reserved: use one from 1024",
  EADDRNOTAVAIL: "cannot be opened: this machine has no such address",
};

/** @throws {Failure} which says why the port can't be opened */
const listen = async (
  { host: hostname, port }: ExchangeSettings["listen"],
  handler: (request: Request) => Promise<Response>,
): Promise<Server> => {
  try {
    return await serve(handler, { hostname, port }, serverLimits);
  } catch (error) {
    const reason = portErrors[codeOf(error) ?? ""] ?? "cannot be opened";
    throw new Failure(`port ${port} of ${hostname} ${reason}`, exits.refused);
  }
};

/** Counts the calls of a service against the limits, whose numbers are in its store. */
const counting =
  (limits: Limits, store: Store) =>
  (event: ExchangeEvent): void => {
    if (event.type === "stored") {
      const row = store.call(event.call_id);
      if (row) limits.add(row.facts);
    }
    if (event.type === "answered") limits.answered(event.call_id, Date.now());
    if (event.type === "ended") limits.ended(event.call_id, Date.now());
  };

/** How many of the latest calls are read at the start for the limits of the day. */
const countedHistory = 100_000;

/** @throws {Failure} with what this package says of its own, or with the code of the system's error */
const opened = async <T>(what: string, open: () => T | Promise<T>): Promise<T> => {
  try {
    return await open();
  } catch (error) {
    const known = error instanceof TypeError ? error.message : undefined;
    throw new Failure(known ?? `${what}: ${codeOf(error) ?? "can't be opened"}`, exits.refused);
  }
};

/** What an operator needs to know at the start. */
const started = (
  baseUrl: string,
  pageLink: string,
  key: string | undefined,
  accounts: readonly CarrierAccount[],
  { allow }: ExchangeSettings,
  isReady: boolean,
): string =>
  [
    `base URL     ${baseUrl}`,
    `page         ${pageLink}   (for a day)`,
    ...(key === undefined ? [] : [`key          ${key}   (shown this once)`]),
    ...accounts.map(
      ({ name, account }) => `${name.padEnd(11)}  ${account}   (its token: in the file of secrets)`,
    ),
    ...(isReady
      ? []
      : [
          "Asterisk is not reached, and calls are refused until it is: run outdial exchange check.",
        ]),
    ...(allow.length > 0 ? [] : ['No prefix may be called: name some in "allow".']),
  ].join("\n");

/**
 * Serves until the signal, then takes no new calls and waits for the live ones.
 *
 * @throws {Failure} when a port or a file can't be opened
 * @throws {BadParametersException} for a setting that breaks its rule
 */
export const serveExchange = async (
  flags: ExchangeFlags,
  { terminal, signal, reached }: Pick<Host, "terminal" | "signal" | "reached">,
  opening: Opening,
): Promise<void> => {
  const folder = resolve(flags.folder ?? ".");
  const settings = readSettings(folder);
  const secrets = readSecrets(folder);
  const { asterisk, privateOrigins } = settings;
  const { url, user, app, channelLog } = asterisk;
  const names = carrierNames.filter((name) => flags.also?.includes(name));
  const limits = new Limits(settings);
  const also = accountsFor(names, secrets, folder);
  const addresses = await opened("addresses", () => openAddresses({ privateOrigins }));
  const store = await opened(settings.store, () =>
    opening.openStore(resolve(folder, settings.store)),
  );
  let operator: Operator | undefined;
  let service: ExchangeService | undefined;
  let pages: Pages | undefined;
  const servers: Server[] = [];
  try {
    const { recordings } = settings;
    const kept = await opened("recordings", () =>
      openOperator({
        store,
        recordings: { ...recordings, folder: resolve(folder, recordings.folder) },
        log: (line) => void terminal.print(line),
      }),
    );
    operator = kept;
    const server = await listen(settings.listen, async (request) =>
      service ? service.fetch(request) : notReady(),
    );
    servers.push(server);
    const pageServer = await listen(settings.pages, async (request) =>
      pages ? pages.fetch(request) : notReady(),
    );
    servers.push(pageServer);
    const count = counting(limits, store);
    const baseUrl = settings.baseUrl ?? baseUrlOf(settings.listen.host, server.port);
    const ready = await opening.openService({
      store,
      ari: { url, user, app, password: secrets.ariPassword },
      endpoint: endpointOf,
      channelLog: channelLog && resolve(folder, channelLog),
      speech: settings.speech,
      numbers: settings.numbers,
      webhookSecret: secrets.webhookSecret,
      recordingSecret: secrets.recordingSecret,
      also,
      baseUrl,
      takesPrivate: privateOrigins.length > 0,
      answerTimeout: settings.answerTimeout,
      maxDuration: settings.maxDuration,
      admit: (call) => limits.admit(call),
      outgoing: addresses.outgoing,
      openSocket: addresses.openSocket,
      onEvent: (event) => {
        count(event);
        kept.onEvent(event);
      },
      recorder: kept.recorder,
    });
    for (const { facts } of [...store.ended(countedHistory), ...store.live]) limits.add(facts);
    const key = store.hasKey ? undefined : ready.regenerateKey();
    service = ready;
    const pageUrl = baseUrlOf(settings.pages.host, pageServer.port);
    pages = kept.openPages({
      service: ready,
      limits: () => limitUses(limits.usage(Date.now()), settings.limits),
      isHost: hostsOf(settings.pages.host, pageServer.port),
      password: secrets.pagesPassword,
      controlToken: controlTokenOf(secrets.recordingSecret),
      apiUrl: baseUrl,
    });
    const link = `${pageUrl}/?token=${pages.token}`;
    const facts = {
      type: "started",
      base_url: baseUrl,
      page: link,
      ...(key !== undefined && { api_key: key }),
      accounts: Object.fromEntries(also.map(({ name, account }) => [name, account])),
      is_ready: ready.isReady,
    };
    const text = started(baseUrl, link, key, also, settings, ready.isReady);
    await terminal.print((flags.json && jsonLine(facts)) || text);
    reached("live");
    await untilAborted(signal);
    const { length } = ready.live;
    const waiting = `no new calls are taken; ${length} live ${length === 1 ? "call is" : "calls are"} waited for (again: they are left)`;
    await terminal.print((flags.json && jsonLine({ type: "stopping", live: length })) || waiting);
    await ready.close({ wait: settings.closeTimeout });
    await terminal.print((flags.json && jsonLine({ type: "stopped" })) || "stopped");
  } finally {
    await operator?.close();
    for (const each of servers) await each.finish();
    if (!service) store.close();
    await addresses.close();
  }
};

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    if (signal.aborted) return done();
    signal.addEventListener("abort", () => done(), { once: true });
  });
