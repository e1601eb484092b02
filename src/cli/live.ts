import type { LiveOptions } from "../calls/live.ts";
import { BadParametersException, isException } from "../errors.ts";
import { reachDirectly } from "./address.ts";
import { carrierFlags, carrierNames, carrierOf, keyNote, keyOf } from "./carrier.ts";
import {
  type Environment,
  exits,
  Failure,
  type Host,
  issueLine,
  issuesByFlag,
  UsageError,
  type Values,
} from "./command.ts";
import {
  accountIn,
  chosenService,
  type FileService,
  refuseBesideFile,
  servicesFileFlag,
} from "./services-file.ts";

/** The options of the commands about a call that was placed. */
export const liveFlags = {
  "base-url": { type: "string", value: "url", help: "the service (or OUTDIAL_BASE_URL)" },
  ...carrierFlags,
  ...servicesFileFlag,
  timeout: {
    type: "string",
    value: "ms",
    help: 'time limit, or "false" for none; default 10000',
    sets: "timeout",
  },
  json: { type: "boolean", help: "errors as one line of JSON on stderr" },
} as const;

/** What the help says of the key, and of Telnyx. */
export const liveNotes: readonly string[] = [
  `The key is read from OUTDIAL_API_KEY, or from a file, and is never an argument.
${keyNote}`,
  `Telnyx also needs the account, the account_id of its notifications, in OUTDIAL_ACCOUNT_SID;
end does without it. With --services-file, --service is the name of one of its services.`,
];

const names = {
  ...carrierNames,
  apiKey: "OUTDIAL_API_KEY",
  baseUrl: "--base-url",
  id: "the id",
  url: "the URL",
  hosts: "--host",
  recordingId: "--recording-id",
};

/** A failure of one of the functions about a live call: exit 2 for what was never sent, 1 otherwise. */
export const liveFailure = (error: unknown): unknown => {
  if (!isException(error)) return error;
  if (error instanceof BadParametersException) {
    const issues = issuesByFlag(error.issues, liveFlags, {
      ...names,
      accountSid: "--account, OUTDIAL_ACCOUNT or OUTDIAL_ACCOUNT_SID",
    });
    return new UsageError(issueLine(issues), { issues });
  }
  return new Failure(error.message, exits.refused, { ...error });
};

/**
 * The options of the functions about a live call at a service of a file.
 *
 * @throws {UsageError} which names the field
 */
export const fileOptionsOf = async (
  entry: FileService,
  file: string,
  env: Environment,
): Promise<LiveOptions> => {
  const { service, apiKey, baseUrl } = await accountIn(entry, file, env);
  reachDirectly(baseUrl);
  return { ...(service ? { service, ...(baseUrl && { baseUrl }) } : { baseUrl }), apiKey };
};

/**
 * The options of the functions about a live call, by flags and environment.
 *
 * @throws {UsageError} if the service or the key is missing
 * @throws {BadParametersException} if the account breaks a rule
 */
export const liveOptionsOf = async (
  flags: Values<Omit<typeof liveFlags, "json" | "timeout">>,
  env: Environment,
): Promise<LiveOptions> => {
  const { "services-file": file } = flags;
  if (file !== undefined) {
    refuseBesideFile(flags, ["base-url", "account", "key-id", "key-file"]);
    return fileOptionsOf(chosenService(file, flags.service), file, env);
  }
  const service = await carrierOf(flags, env);
  const baseUrl = flags["base-url"] ?? env.OUTDIAL_BASE_URL;
  if (!baseUrl && !service) {
    throw new UsageError("which service? Set OUTDIAL_BASE_URL, or pass --base-url");
  }
  reachDirectly(baseUrl);
  return {
    ...(service ? { service, baseUrl } : { baseUrl: baseUrl ?? "" }),
    apiKey: keyOf(flags, env),
  };
};

/** Runs one of the functions about a live call with the options of the command line. */
export const withLive = async <T>(
  flags: Values<typeof liveFlags>,
  env: Environment,
  { signal, reached }: Pick<Host, "signal" | "reached">,
  work: (options: LiveOptions) => Promise<T>,
): Promise<T> => {
  try {
    const options = await liveOptionsOf(flags, env);
    const { timeout } = flags;
    reached("live");
    return await work({
      ...options,
      signal,
      ...(timeout !== undefined && { timeout: timeout === "false" ? false : Number(timeout) }),
    });
  } catch (error) {
    throw liveFailure(error);
  }
};
