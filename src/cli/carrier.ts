import { readFileSync } from "node:fs";
import type { Carrier, CarrierAccount, MachineDetection } from "../carriers/carrier.ts";
import { carriers, carrierNamed as named } from "../carriers/carriers.ts";
import type { Service } from "../service.ts";
import { type Environment, suggestion, UsageError, type Values } from "./command.ts";
import { codeOf } from "./terminal.ts";

/** What carriers have in common, in a list for the help. */
const listOf = (text: (name: string, carrier: Carrier) => string, end: string): string =>
  Object.entries(carriers)
    .map(([name, carrier]) => text(name, carrier))
    .join(end);

/** The names that `--service` takes. */
const serviceNames = listOf((name) => name, ", ");

/** What an account is called at each carrier. */
export const accountNames = listOf((_, { account }) => account, ", ");

/** What the key is with each carrier: a note of the help. */
export const keyNote = `With --service the key is the carrier's own.
${listOf((name, { key }) => `Of ${name} it is ${key}`, ".\n")}.
--key-file reads one that has several lines. OUTDIAL_SIGNATURE_SECRET is Vonage's signature
secret, or Telnyx's public key.`;

/** The options of the commands that can place calls with a carrier. */
export const carrierFlags = {
  service: {
    type: "string",
    value: "name",
    help: `a carrier: ${serviceNames} (or OUTDIAL_SERVICE)`,
  },
  account: {
    type: "string",
    value: "id",
    help: `${accountNames} (or OUTDIAL_ACCOUNT)`,
  },
  "key-id": {
    type: "string",
    value: "id",
    help: "an API key, whose secret is the key: SK… (or OUTDIAL_KEY_ID)",
  },
  "key-file": {
    type: "string",
    value: "path",
    help: "a file with the key (or OUTDIAL_KEY_FILE)",
  },
} as const;

/** The option of the commands that place calls to a flow, by which a carrier finds out who answers. */
export const detectionFlag = {
  "machine-detection": {
    type: "string",
    choices: ["detect", "message"],
    value: "when",
    help: "by the carrier: detect, or message, once a greeting is over",
    sets: "machineDetection",
  },
} as const;

/** @throws {UsageError} without a carrier */
export const detectionOf = (
  { service, "machine-detection": detection }: Values<typeof carrierFlags & typeof detectionFlag>,
  { OUTDIAL_SERVICE }: Environment,
): MachineDetection | undefined => {
  if (detection === undefined) return;
  if (service ?? OUTDIAL_SERVICE) return detection === "message" ? "message" : "detect";
  throw new UsageError("--machine-detection needs --service: only carriers detect machines");
};

/** The names by which the commands know the parameters of a carrier. */
export const carrierNames = {
  accountSid: "--account or OUTDIAL_ACCOUNT",
  applicationId: "--account or OUTDIAL_ACCOUNT",
  apiKeySid: "--key-id or OUTDIAL_KEY_ID",
  authToken: "OUTDIAL_API_KEY",
  signatureSecret: "OUTDIAL_SIGNATURE_SECRET",
  publicKey: "OUTDIAL_SIGNATURE_SECRET",
  callsPerSecond: "--calls-per-second",
} as const;

/**
 * The carrier with a name, if there is one.
 *
 * @param label - the place that has the name, in the place of `--service`
 * @throws {UsageError} for a name that no carrier has
 */
export const carrierNamed = (name: string, label?: string): Carrier => {
  const carrier = named(name);
  if (carrier) return carrier;
  const rule =
    label === undefined ? "there is no such --service" : `${label} there is no such service`;
  throw new UsageError(`${rule}${suggestion(name, Object.keys(carriers))}`);
};

/**
 * The key: in a file, or in the environment. Never an argument, as those are public.
 *
 * @throws {UsageError} if there is none, or the file can't be read
 */
export const keyOf = (
  flags: Pick<Values<typeof carrierFlags>, "key-file">,
  { OUTDIAL_API_KEY: apiKey, OUTDIAL_KEY_FILE }: Environment,
): string => {
  const file = flags["key-file"] ?? (apiKey ? undefined : OUTDIAL_KEY_FILE);
  if (!file) {
    if (apiKey) return apiKey;
    throw new UsageError("OUTDIAL_API_KEY is not set");
  }
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new UsageError(`--key-file cannot be read (${codeOf(error) ?? "unknown"})`);
  }
};

/**
 * The carrier that the flags or the environment name; `undefined` for outdial's own interface.
 *
 * @throws {UsageError} if it is unknown or has no account
 * @throws {BadParametersException} if its account breaks a rule
 */
export const carrierOf = async (
  flags: Values<typeof carrierFlags>,
  env: Environment,
  more: Pick<CarrierAccount, "callsPerSecond" | "machineDetection"> = {},
): Promise<Service | undefined> => {
  const name = flags.service ?? env.OUTDIAL_SERVICE;
  if (!name) return;
  const { load } = carrierNamed(name);
  const account = flags.account ?? env.OUTDIAL_ACCOUNT;
  if (!account)
    throw new UsageError(`which account of ${name}? Set OUTDIAL_ACCOUNT, or pass --account`);
  return load({
    account,
    keyId: flags["key-id"] ?? env.OUTDIAL_KEY_ID,
    apiKey: keyOf(flags, env),
    accountSid: env.OUTDIAL_ACCOUNT_SID,
    signatureSecret: env.OUTDIAL_SIGNATURE_SECRET,
    ...more,
  });
};
