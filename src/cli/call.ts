import { create } from "../calls/create.ts";
import { BadParametersException, isException } from "../errors.ts";
import { baseUrlOf, defaultPort } from "./address.ts";
import { type Command, UsageError } from "./command.ts";
import { readFlags } from "./flags.ts";
import { plain } from "./terminal/plain.ts";

const flags = {
  from: { type: "string" },
  to: { type: "string" },
  flow: { type: "string" },
  callback: { type: "string" },
  "no-record": { type: "boolean" },
  "base-url": { type: "string" },
  timeout: { type: "string" },
  json: { type: "boolean" },
} as const;

const required = ["from", "to", "flow", "callback"] as const;

/** How a user of the command line knows a parameter or an option. */
const flagOf: Readonly<Record<string, string>> = {
  from_number: "--from",
  to_number: "--to",
  flow_url: "--flow",
  status_callback_url: "--callback",
  timeout: "--timeout",
  apiKey: "OUTDIAL_API_KEY",
};

const exits = { no: 1, maybe: 3 } as const;

/** Why the user's own interrupt ends the call. */
const interrupted = new Error("interrupted");

const fail = (line: string, exit: number): number => {
  console.error(`outdial: ${plain(line)}`);
  return exit;
};

const missing = (values: Readonly<Record<string, unknown>>): string | undefined => {
  const names = required.filter((name) => values[name] === undefined).map((name) => `--${name}`);
  return names.length > 0 ? `${names.join(", ")} ${names[1] ? "are" : "is"} missing` : undefined;
};

const timeoutOf = (text: string): number | false => (text === "false" ? false : Number(text));

/** What to do about a missing base URL; the emulator, when one runs here, says so in a header. */
const withoutBaseUrl = async (): Promise<string> => {
  const local = baseUrlOf("127.0.0.1", defaultPort);
  const signal = AbortSignal.timeout(500);
  const { headers } = await fetch(local, { signal }).catch(() => new Response());
  return headers.get("Server") === "outdial-emulator"
    ? `which service? An emulator runs here: give --base-url ${local}, and its key in OUTDIAL_API_KEY`
    : "which service? Set OUTDIAL_BASE_URL, or give --base-url";
};

/** Says what went wrong, and whether a telephone may ring for it. */
const report = (error: unknown, baseUrl: string): number => {
  if (error === interrupted) {
    return fail("interrupted; the call may have been placed, so ask before you call again", 3);
  }
  if (error instanceof BadParametersException) {
    const named: Readonly<Record<string, string>> = { ...flagOf, baseUrl };
    const issues = error.issues.map(
      ({ param, message }) =>
        `${named[param] ?? param} ${message.replace("baseUrl", "the base URL")}`,
    );
    return fail(`${issues.join("; ")} (no call was placed)`, 2);
  }
  if (isException(error)) return fail(error.message, exits[error.placed]);
  throw error;
};

/** `outdial call`: places one call, and says on stdout which, or on stderr why not. */
export const call: Command = async (args) => {
  const values = readFlags(args, flags);
  const incomplete = missing(values);
  if (incomplete) throw new UsageError(incomplete);
  const { from = "", to = "", flow = "", callback = "", timeout, json } = values;
  const { OUTDIAL_API_KEY: apiKey, OUTDIAL_BASE_URL } = process.env;
  const baseUrl = values["base-url"] ?? OUTDIAL_BASE_URL;
  if (!baseUrl) throw new UsageError(await withoutBaseUrl());
  if (!apiKey) throw new UsageError("OUTDIAL_API_KEY is not set");
  const source = values["base-url"] ? "--base-url" : "OUTDIAL_BASE_URL";

  const stop = new AbortController();
  const interrupt = () => stop.abort(interrupted);
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  try {
    const placed = await create(
      {
        from_number: from,
        to_number: to,
        flow_url: flow,
        status_callback_url: callback,
        ...(values["no-record"] && { record: false }),
      },
      {
        apiKey,
        baseUrl,
        signal: stop.signal,
        ...(timeout !== undefined && { timeout: timeoutOf(timeout) }),
      },
    );
    console.log(json ? JSON.stringify(placed) : plain(placed.id));
    return 0;
  } catch (error) {
    return report(error, source);
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
};
