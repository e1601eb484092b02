import { ended } from "../../calls/ended.ts";
import type { LiveOptions } from "../../calls/live.ts";
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
import { canRead } from "../dial/live-calls.ts";
import { flowOf } from "../flow.ts";
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
    value: "url",
    help: "where the service fetches the call flow, once the call is answered",
    sets: "flow_url",
  },
  say: {
    type: "string",
    value: "text",
    help: 'what is said instead, before the call ends; "-": the text on stdin',
  },
  "flow-file": {
    type: "string",
    value: "file",
    help: "a module whose default export is the action instead: say([…])",
  },
  callback: {
    type: "string",
    value: "url",
    help: "where it sends status notifications; may be left out with --service",
    sets: "status_callback_url",
  },
  wait: { type: "boolean", help: "waits until the call is over, and prints how it ended" },
  "end-timeout": {
    type: "string",
    value: "ms",
    help: "how long --wait waits; default 600000",
    sets: "endTimeout",
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
    help: "the same with a key of your own, such as a queue message's id",
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
  /** Whether the command goes on until the call is over. */
  readonly wait?: boolean | undefined;
  readonly flags: Flags;
  /** The names of parameters that no flag sets. */
  readonly names: Readonly<Record<string, string>>;
}

/** How the call is placed and read. */
const optionsOf = ({ apiKey, baseUrl, service, timeout }: Placing): LiveOptions => ({
  apiKey,
  ...(service ? { service, baseUrl } : { baseUrl: baseUrl ?? "" }),
  ...(timeout !== undefined && { timeout: timeout === "false" ? false : Number(timeout) }),
});

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
 * @returns the id
 * @throws {Failure} whose exit code says whether a telephone may ring
 */
export const place = async (
  params: CallParams,
  placing: Placing,
  { terminal, reached, signal }: Host,
): Promise<string> => {
  const { baseUrl, repeated, json, wait } = placing;
  reachDirectly(baseUrl);
  reached("sent"); // From here on only an exception of `create` knows better.
  const call = await calls
    .create(params, { ...optionsOf(placing), ...repeated, signal })
    .catch((error: unknown) => {
      throw failureOf(error, placing);
    });
  reached(wait ? "waiting" : "placed");
  const id = plain(call.id);
  const line = json ? (jsonLine(call) ?? jsonLine({ id: call.id }) ?? id) : id;
  if (!(await terminal.print(line))) {
    // The call is placed, and nobody must place it again.
    await terminal.report(`outdial: placed, but stdout cannot be written; the id is ${id}`);
  }
  return call.id;
};

/** How long to look for an emulator before the hint is given up, in milliseconds. */
const hintTimeout = 2_000;

const withoutBaseUrl = async (): Promise<string> => {
  const local = baseUrlOf("127.0.0.1", defaultPort);
  return (await isEmulator(local, hintTimeout))
    ? `which service? An emulator runs here: pass --base-url ${local}, and its key in OUTDIAL_API_KEY`
    : "which service? Set OUTDIAL_BASE_URL, or pass --base-url";
};

/** The exit codes of `call`. */
const callExits = {
  ...placingExits,
  0: "placed; its id is on stdout. With --wait: completed",
  4: "with --wait: it ended otherwise than completed, or its flow failed",
  5: "with --wait: placed, and its end is not known",
} as const;

/** @throws {UsageError} for a limit that is none, or without `--wait` */
const endTimeoutOf = (given: string | undefined, wait: boolean | undefined): number | undefined => {
  if (given === undefined) return;
  if (!wait) throw new UsageError("--end-timeout needs --wait");
  const limit = Number(given);
  if (limit > 0 && limit < 2 ** 31) return limit;
  throw new UsageError("--end-timeout must be above 0 ms and below 2 ** 31 ms");
};

/**
 * Waits for the end of a call, and prints it in one line, or the whole call with `--json`.
 *
 * @throws {Failure} whose exit code says that the end is not known
 */
const waitForEnd = async (
  id: string,
  placing: Placing,
  endTimeout: number | undefined,
  { terminal, signal }: Host,
): Promise<Exit> => {
  const call = await ended(id, optionsOf(placing), { signal, endTimeout }).catch(
    (error: unknown) => {
      if (!isException(error)) throw error;
      const { name, message } = error;
      const facts = { ...error, name, id, placed: "yes" };
      throw new Failure(
        `${message} (the call was placed; its end is not known)`,
        exits.unknown,
        facts,
      );
    },
  );
  const { state, reason, duration } = call;
  const parts = [state, reason, duration === undefined ? undefined : `${duration} s`];
  const line = plain(parts.filter((part) => part !== undefined).join(", "));
  await terminal.print(placing.json ? (jsonLine(call) ?? line) : line);
  return state === "completed" && reason !== "flow_error" ? exits.done : exits.ended;
};

/** `outdial call`: places one call, and prints its id on stdout or the reason on stderr. */
export const command: Command = defineCommand({
  flags,
  example: `call --from +12025550199 --to +12025550100 --flow https://app.example/flow \\
      --callback https://app.example/status
    echo "Your table is ready." | outdial call --service twilio \\
      --from +12025550199 --to +12025550100 --say - --wait`,
  notes: [
    `The key is read from OUTDIAL_API_KEY, or from a file, and is never an argument.
${keyNote}`,
  ],
  exits: callExits,
  run: async ({ flags: given, env, ...host }) => {
    const { from = "", to = "", callback, timeout, json, wait } = given;
    const endTimeout = endTimeoutOf(given["end-timeout"], wait);
    const { OUTDIAL_BASE_URL } = env;
    const names = {
      ...carrierNames,
      apiKey: given["key-file"] ? "--key-file" : "OUTDIAL_API_KEY",
      baseUrl: given["base-url"] ? "--base-url" : "OUTDIAL_BASE_URL",
      flow: given["flow-file"] ? "--flow-file" : "--say",
    };
    const machineDetection = detectionOf(given, env);
    const service = await carrierOf(given, env, { machineDetection }).catch((error: unknown) => {
      throw failureOf(error, { flags, names });
    });
    const baseUrl = given["base-url"] ?? OUTDIAL_BASE_URL;
    if (!baseUrl && !service) throw new UsageError(await withoutBaseUrl());
    const apiKey = keyOf(given, env);
    const repeated = { idempotent: given.idempotent, idempotencyKey: given["idempotency-key"] };
    const placing = { apiKey, baseUrl, service, timeout, repeated, json, wait, flags, names };
    if (wait && !canRead(optionsOf(placing))) {
      throw new UsageError("--wait reads the call, for which Telnyx needs OUTDIAL_ACCOUNT_SID");
    }
    const params = {
      from_number: from,
      to_number: to,
      ...(await flowOf(given, { env, ...host })),
      ...(callback !== undefined && { status_callback_url: callback }),
      ...(given["no-record"] && { record: false }),
    };
    const id = await place(params, placing, { env, ...host });
    return wait ? waitForEnd(id, placing, endTimeout, { env, ...host }) : exits.done;
  },
});
