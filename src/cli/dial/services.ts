import type { Secret } from "../../callbacks/index.ts";
import { recording, redirect } from "../../calls/index.ts";
import { settingsOf } from "../../campaigns/engine.ts";
import type { CampaignOptions, Script, ServicesOptions } from "../../campaigns/index.ts";
import { BadParametersException, Client } from "../../index.ts";
import type { RedirectedCall, Service } from "../../service.ts";
import { reachDirectly } from "../address.ts";
import { carrierOf, keyOf } from "../carrier.ts";
import { type Environment, UsageError } from "../command.ts";
import { secretsIn } from "../ledger.ts";
import {
  accountIn,
  carrierIn,
  type FileService,
  fieldFailure,
  labelOf,
  refuseBesideFile,
  servicesIn,
} from "../services-file.ts";
import { type LiveCallFunctions, liveCallsOf } from "./live-calls.ts";
import {
  type DialOptions,
  type DialService,
  type DialValues,
  decimalOf,
  dryUrl,
  listDetectionOf,
} from "./options.ts";

/** The options that each service in the file has of its own. */
const besideFile = [
  ...["from", "rate", "concurrency", "base-url", "service", "account", "key-id", "key-file"],
  "calls-per-second",
] as const;

/** The services of `--services-file`; none without it. */
export const entriesOf = (flags: DialValues): readonly FileService[] => {
  const { "services-file": file, script } = flags;
  if (file === undefined) return [];
  refuseBesideFile(flags, besideFile);
  const entries = servicesIn(file);
  for (const { name, flow_url } of entries) {
    if (script !== undefined && flow_url !== undefined) {
      throw new UsageError(
        `${labelOf(name)} flow_url cannot be beside --script, which is the flow`,
      );
    }
  }
  return entries;
};

/** @throws {UsageError} if neither the file nor the command line has it */
const urlOf = (
  entry: FileService,
  field: "flow_url" | "status_callback_url",
  flag: "flow" | "callback",
  flags: DialValues,
): string => {
  const url = entry[field] ?? flags[flag];
  if (url !== undefined) return url;
  throw new UsageError(`${labelOf(entry.name)} ${field} is missing: give it, or --${flag}`);
};

/** What a list has of one service of the file. */
const ownIn = (entry: FileService, service: string | Service, flags: DialValues): DialService => {
  const { name, from_number, rate, concurrency } = entry;
  const { script, listen, emulate } = flags;
  const isServed = script !== undefined || emulate === true;
  return {
    ...{ name, from_number, service },
    flow_url: isServed ? `${dryUrl}/flow` : urlOf(entry, "flow_url", "flow", flags),
    status_callback_url:
      listen !== undefined || emulate
        ? `${dryUrl}/status`
        : urlOf(entry, "status_callback_url", "callback", flags),
    ...(rate !== undefined && { rate }),
    ...(concurrency !== undefined && { concurrency }),
  };
};

/** What a list has of the one service of the command line. */
const ownOf = (service: string | Service, flags: DialValues): DialService => {
  const { from = [], flow = "", script, callback, rate, concurrency } = flags;
  const [only = ""] = from;
  return {
    from_number: from.length > 1 ? from : only,
    service,
    flow_url: script === undefined ? flow : `${dryUrl}/flow`,
    status_callback_url: callback || `${dryUrl}/status`,
    ...(rate !== undefined && { rate: decimalOf(rate) }),
    ...(concurrency !== undefined && { concurrency: decimalOf(concurrency) }),
  };
};

/** A service that a list is dialled by, for an emulator, which needs no key. */
export interface EmulatedService {
  readonly own: DialService;
  /** `undefined` for outdial's own interface. */
  readonly service: Service | undefined;
}

/**
 * The services of an emulated list.
 *
 * @param loadOne - loads the carrier of the command line
 */
export const emulatedServices = async (
  flags: DialValues,
  script: Script,
  loadOne: () => Promise<Service | undefined>,
): Promise<readonly [EmulatedService, ...EmulatedService[]]> => {
  const emulated = "the emulator";
  const entries = entriesOf(flags);
  const machineDetection = entries[0] && detectionIn(flags, entries, script);
  const all: EmulatedService[] = [];
  for (const entry of entries) {
    const service = await carrierIn(entry, { machineDetection });
    all.push({ own: ownIn(entry, service ?? emulated, flags), service });
  }
  const [first, ...others] = all;
  if (first) return [first, ...others];
  const service = await loadOne();
  return [{ own: ownOf(service ?? emulated, flags), service }];
};

const detectionIn = (
  { service: _, ...flags }: DialValues,
  entries: readonly FileService[],
  script: Script | undefined,
) => {
  const carrier = entries.find(({ service }) => service !== undefined)?.service;
  if (carrier === undefined && script?.onMachine) return;
  return listDetectionOf({ ...flags, ...(carrier && { service: carrier }) }, {}, script);
};

/** A service that a list is dialled by, with the account there. */
export interface ListService extends EmulatedService {
  readonly apiKey: string;
  /** `""` for a carrier's own. */
  readonly baseUrl: string;
  readonly client: Client;
  readonly live: LiveCallFunctions;
  /** Fetches a recording by its URL, until a signal aborts. */
  readonly recording: (url: string, signal: AbortSignal) => Promise<Response>;
  /** Makes a call continue at a URL, where the carrier finds out during the flow that a machine has answered. */
  readonly redirect: ((call: RedirectedCall, flow_url: string) => Promise<void>) | undefined;
}

/** @param ownFor - what the list has of it, by the carrier or the URL that the ledger belongs to */
const listServiceOf = (
  { service, apiKey, baseUrl }: Pick<ListService, "service" | "apiKey" | "baseUrl">,
  ownFor: (service: string | Service) => DialService,
): ListService => {
  reachDirectly(baseUrl);
  const endpoint = service ? { service, ...(baseUrl && { baseUrl }) } : { baseUrl };
  const client = new Client(apiKey, endpoint);
  return {
    ...{ service, apiKey, baseUrl, client },
    own: ownFor(service ?? new URL(baseUrl).href),
    live: liveCallsOf(apiKey, endpoint),
    recording: (url, signal) => recording(url, { apiKey, ...endpoint, signal }),
    redirect: service && ((call, url) => redirect(call, url, { ...endpoint, service, apiKey })),
  };
};

/**
 * The services that a list is dialled by: those of the file, or the one of the command line.
 *
 * @throws {UsageError} which names the flag, or the service and the field
 */
export const listServices = async (
  flags: DialValues,
  env: Environment,
  entries: readonly FileService[],
  script: Script | undefined,
): Promise<readonly [ListService, ...ListService[]]> => {
  const { "services-file": file = "", "calls-per-second": callsPerSecond } = flags;
  const all: ListService[] = [];
  const machineDetection = entries[0]
    ? detectionIn(flags, entries, script)
    : listDetectionOf(flags, env, script);
  for (const entry of entries) {
    const account = await accountIn(entry, file, env, { machineDetection });
    try {
      all.push(listServiceOf(account, (service) => ownIn(entry, service, flags)));
    } catch (error) {
      throw fieldFailure(labelOf(entry.name), error);
    }
  }
  const [first, ...others] = all;
  if (first) return [first, ...others];
  const pace = callsPerSecond === undefined ? undefined : decimalOf(callsPerSecond);
  const service = await carrierOf(flags, env, { callsPerSecond: pace, machineDetection });
  const baseUrl = flags["base-url"] ?? env.OUTDIAL_BASE_URL ?? "";
  if (!baseUrl && !service)
    throw new UsageError("which service? Set OUTDIAL_BASE_URL, or pass --base-url");
  const account = { service, apiKey: keyOf(flags, env), baseUrl };
  return [listServiceOf(account, (given) => ownOf(given, flags))];
};

/**
 * The secret that signs the URLs: it comes from the environment only.
 *
 * @throws {UsageError} if there is none
 */
export const secretIn = ({ SIGNING_SECRET: secret }: Environment): Secret => {
  if (!secret) {
    throw new UsageError("SIGNING_SECRET is not set: 16 or more random characters");
  }
  return secretsIn(secret);
};

/** The functions and URLs of a service that a command line doesn't decide. */
type Completion = Pick<CampaignOptions, "create" | "get" | "end" | "account"> &
  Partial<Pick<CampaignOptions, "flow_url" | "status_callback_url">>;

/** The options of a campaign with one service, or with several. */
export const campaignOf = (
  { services, ...list }: DialOptions,
  completionOf: (service: DialService) => Completion,
): CampaignOptions | ServicesOptions => {
  const [first] = services;
  if (first.name === undefined) {
    const { name: _, ...own } = first;
    return { ...list, ...own, ...completionOf(first) };
  }
  return {
    ...list,
    services: services.map((service) => {
      const { name = "", ...own } = service;
      return { name, ...own, ...completionOf(service) };
    }),
  };
};

/** The options of a campaign that each of several services has of its own. */
const isOwn = (param: string): boolean =>
  /^(from_number|flow_url|status_callback_url|service|rate|concurrency)\b/.test(param);

/**
 * Checks what a campaign would refuse, before anything is made.
 *
 * @throws {UsageError} which names the service of the file and its field
 * @throws {BadParametersException} for anything else
 */
export const checkOptions = (options: DialOptions): void => {
  const create = () => Promise.reject(new Error("Nobody is called"));
  for (const service of options.services) {
    try {
      settingsOf(campaignOf({ ...options, services: [service] }, () => ({ create })));
    } catch (error) {
      if (service.name === undefined || !(error instanceof BadParametersException)) throw error;
      const issues = error.issues.filter(({ param }) => isOwn(param));
      if (issues.length === 0) throw error;
      throw fieldFailure(labelOf(service.name), new BadParametersException(issues));
    }
  }
};
