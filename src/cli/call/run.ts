import type { Run } from "../command/command.ts";
import { UsageError } from "../command/failure.ts";
import { baseUrlOf, defaultPort } from "../local/address.ts";
import { isEmulator } from "../local/is-emulator.ts";
import type { callFlags } from "./flags.ts";
import { place } from "./place.ts";

/** How a user of the command line knows a parameter or an option. */
const names = {
  from_number: "--from",
  to_number: "--to",
  flow_url: "--flow",
  status_callback_url: "--callback",
  timeout: "--timeout",
  apiKey: "OUTDIAL_API_KEY",
} as const;

/** What to do about a missing base URL; the emulator, when one runs here, says so in a header. */
const withoutBaseUrl = async (): Promise<string> => {
  const local = baseUrlOf("127.0.0.1", defaultPort);
  return (await isEmulator(local))
    ? `which service? An emulator runs here: give --base-url ${local}, and its key in OUTDIAL_API_KEY`
    : "which service? Set OUTDIAL_BASE_URL, or give --base-url";
};

/** `outdial call`: places one call, and says on stdout which, or on stderr why not. */
export const run: Run<typeof callFlags> = async ({ flags, ...given }) => {
  const { from = "", to = "", flow = "", callback = "", timeout, json } = flags;
  const { OUTDIAL_API_KEY: apiKey, OUTDIAL_BASE_URL } = process.env;
  const baseUrl = flags["base-url"] ?? OUTDIAL_BASE_URL;
  if (!baseUrl) throw new UsageError(await withoutBaseUrl());
  if (!apiKey) throw new UsageError("OUTDIAL_API_KEY is not set");
  const source = flags["base-url"] ? "--base-url" : "OUTDIAL_BASE_URL";
  const params = {
    from_number: from,
    to_number: to,
    flow_url: flow,
    status_callback_url: callback,
    ...(flags["no-record"] && { record: false }),
  };
  const named = { ...names, baseUrl: source };
  return place(params, { apiKey, baseUrl, timeout, json, names: named, ...given });
};
