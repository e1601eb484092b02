import {
  BadParametersException,
  type CallParams,
  calls,
  isException,
  type Options,
} from "../../index.ts";
import type { Service } from "../../service.ts";
import { baseUrlOf, defaultPort, isEmulator, reachDirectly } from "../address.ts";
import {
  carrierFlags,
  carrierNames,
  carrierOf,
  detectionFlag,
  detectionOf,
  keyNote,
  keyOf,
} from "../carrier.ts";
import {
  type Command,
  defineCommand,
  type Exit,
  exits,
  Failure,
  type Flags,
  type Host,
  issueLine,
  issuesByFlag,
  UsageError,
} from "../command.ts";
import { jsonLine, plain } from "../terminal.ts";

/** The options that `call` and `trigger` have in common. */
export const placingFlags = {
  "no-record": { type: "boolean", help: "no recording; without --service calls are recorded" },
  timeout: {
    type: "string",
    value: "ms",
    help: 'time limit, or "false" for none; default 10000',
    sets: "timeout",
  },
  json: { type: "boolean", help: "the whole call as one line of JSON; errors too, on stderr" },
} as const;

/** The exit codes of `call` and `trigger`. */
export const placingExits = {
  0: "placed; its id is on stdout",
  1: "refused or never sent: nobody was called",
  2: "the command line is wrong; nothing was sent",
  3: "a call may have been placed: find out before you call again",
} as const;

const flags = {
  from: {
    type: "string",
    required: true,
    value: "number",
    help: 'E.164: "+" and 7 to 15 digits',
    sets: "from_number",
  },
  to: { type: "string", required: true, value: "number", help: "the same", sets: "to_number" },
  flow: {
    type: "string",
    required: true,
    value: "url",
    help: "where the service fetches the call flow, once the call is answered",
    sets: "flow_url",
  },
  callback: {
    type: "string",
    required: true,
    value: "url",
    help: "where the service sends status notifications",
    sets: "status_callback_url",
  },
  "base-url": { type: "string", value: "url", help: "the service (or OUTDIAL_BASE_URL)" },
  ...carrierFlags,
  ...detectionFlag,
  ...placingFlags,
  idempotent: {
    type: "boolean",
    help: "the service keeps Idempotency-Key: ask again after a lost answer",
    sets: "idempotent",
  },
  "idempotency-key": {
    type: "string",
    value: "key",
    help: "the same with a key of your own, such as the id of a queue's message",
    sets: "idempotencyKey",
  },
} as const;

interface Placing {
  readonly apiKey: string;
  /** Where to place calls; a carrier has a default. */
  readonly baseUrl: string | undefined;
  readonly service?: Service | undefined;
  readonly timeout: string | undefined;
  /** Whether and by which key the service is asked again. */
  readonly repeated?: Pick<Options, "idempotent" | "idempotencyKey">;
  readonly json: boolean | undefined;
  readonly flags: Flags;
  /** The names of parameters that no flag sets. */
  readonly names: Readonly<Record<string, string>>;
}

const failureOf = (
  error: unknown,
  { flags: known, names }: Pick<Placing, "flags" | "names">,
): unknown => {
  if (!isException(error)) return error;
  const { name, message, placed } = error;
  if (error instanceof BadParametersException) {
    const issues = issuesByFlag(error.issues, known, names);
    return new UsageError(`${issueLine(issues)} (no call was placed)`, { placed, issues });
  }
  const exit = placed === "no" ? exits.refused : exits.maybe;
  return new Failure(message, exit, { ...error, name, placed });
};

/**
 * Places one call, and prints its id, or all of it with `--json`.
 *
 * @throws {Failure} whose exit code says whether a telephone may ring
 */
export const place = async (
  params: CallParams,
  placing: Placing,
  { terminal, reached, signal }: Host,
): Promise<Exit> => {
  const { apiKey, baseUrl, service, timeout, repeated, json } = placing;
  reachDirectly(baseUrl);
  const endpoint = service ? { service, baseUrl } : { baseUrl: baseUrl ?? "" };
  reached("sent"); // From here on only an exception of `create` knows better.
  const call = await calls
    .create(params, {
      apiKey,
      ...endpoint,
      ...repeated,
      signal,
      ...(timeout !== undefined && { timeout: timeout === "false" ? false : Number(timeout) }),
    })
    .catch((error: unknown) => {
      throw failureOf(error, placing);
    });
  reached("placed");
  const id = plain(call.id);
  const line = json ? (jsonLine(call) ?? jsonLine({ id: call.id }) ?? id) : id;
  if (!(await terminal.print(line))) {
    // The call is placed, and nobody must place it again.
    await terminal.report(`outdial: placed, but stdout cannot be written; the id is ${id}`);
  }
  return exits.done;
};

/** How long to look for an emulator before the hint is given up, in milliseconds. */
const hintTimeout = 2_000;

const withoutBaseUrl = async (): Promise<string> => {
  const local = baseUrlOf("127.0.0.1", defaultPort);
  return (await isEmulator(local, hintTimeout))
    ? `which service? An emulator runs here: pass --base-url ${local}, and its key in OUTDIAL_API_KEY`
    : "which service? Set OUTDIAL_BASE_URL, or pass --base-url";
};

/** `outdial call`: places one call, and prints its id on stdout or the reason on stderr. */
export const command: Command = defineCommand({
  flags,
  example: `call --from +12025550199 --to +12025550100 --flow https://app.example/flow \\
      --callback https://app.example/status`,
  notes: [
    `The key is read from OUTDIAL_API_KEY, or from a file, and is never an argument.
${keyNote}`,
  ],
  exits: placingExits,
  run: async ({ flags: given, env, ...host }) => {
    const { from = "", to = "", flow = "", callback = "", timeout, json } = given;
    const { OUTDIAL_BASE_URL } = env;
    const names = {
      ...carrierNames,
      apiKey: given["key-file"] ? "--key-file" : "OUTDIAL_API_KEY",
      baseUrl: given["base-url"] ? "--base-url" : "OUTDIAL_BASE_URL",
    };
    const machineDetection = detectionOf(given, env);
    const service = await carrierOf(given, env, { machineDetection }).catch((error: unknown) => {
      throw failureOf(error, { flags, names });
    });
    const baseUrl = given["base-url"] ?? OUTDIAL_BASE_URL;
    if (!baseUrl && !service) throw new UsageError(await withoutBaseUrl());
    const apiKey = keyOf(given, env);
    const params = {
      from_number: from,
      to_number: to,
      flow_url: flow,
      status_callback_url: callback,
      ...(given["no-record"] && { record: false }),
    };
    const repeated = { idempotent: given.idempotent, idempotencyKey: given["idempotency-key"] };
    const placing = { apiKey, baseUrl, service, timeout, repeated, json, flags, names };
    return place(params, placing, { env, ...host });
  },
});
