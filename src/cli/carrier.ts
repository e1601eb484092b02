import { readFileSync } from "node:fs";
import type { Service } from "../service.ts";
import { type Environment, suggestion, UsageError, type Values } from "./command.ts";
import { codeOf } from "./terminal.ts";

/** When the flow of a machine is requested: once it is known, or once its greeting is over. */
export type MachineDetection = "detect" | "message";

/** What a carrier's account is made of. */
interface Account {
  readonly account: string;
  readonly keyId?: string | undefined;
  /** Telnyx's account, which is not the application of `account`. */
  readonly accountSid?: string | undefined;
  /** The key that places calls. */
  readonly apiKey?: string | undefined;
  /** What verifies the carrier's notifications, where that is not the key. */
  readonly signatureSecret?: string | undefined;
  readonly callsPerSecond?: number | undefined;
  readonly machineDetection?: MachineDetection | undefined;
}

/** What the commands know of a carrier. */
interface Carrier {
  /** How the id of an account begins, or what it is. */
  readonly account: string;
  /** An account that nobody has, for an emulator. */
  readonly sampleAccount: string;
  /** The key, for the help. */
  readonly key: string;
  /** Loaded only when the carrier is asked for. */
  readonly load: (account: Account) => Promise<Service>;
}

/** What all carriers have. */
const commonOf = ({ callsPerSecond, machineDetection }: Account) => ({
  ...(callsPerSecond !== undefined && { callsPerSecond }),
  ...(machineDetection && { machineDetection }),
});

/** The carriers, by the names that `--service` takes. */
const carriers: Readonly<Record<string, Carrier>> = {
  twilio: {
    account: "AC…",
    sampleAccount: `AC${"0".repeat(32)}`,
    key: "the auth token, or with --key-id the secret of that API key",
    load: async (account) => {
      const { twilio } = await import("../carriers/twilio/index.ts");
      const { keyId, apiKey } = account;
      const credentials = keyId ? { apiKeySid: keyId } : { authToken: apiKey };
      return twilio({ accountSid: account.account, ...credentials, ...commonOf(account) });
    },
  },
  vonage: {
    account: "Vonage application",
    sampleAccount: "00000000-0000-4000-8000-000000000000",
    key: "the private key of the application, a PEM",
    load: async (account) => {
      const { vonage } = await import("../carriers/vonage/index.ts");
      const { signatureSecret } = account;
      const signed = signatureSecret ? { signatureSecret } : {};
      return vonage({ applicationId: account.account, ...signed, ...commonOf(account) });
    },
  },
  telnyx: {
    account: "TeXML application",
    sampleAccount: "1000000000000000000",
    key: "an API key",
    load: async (account) => {
      const { telnyx } = await import("../carriers/telnyx/index.ts");
      const { signatureSecret } = account;
      const signed = signatureSecret ? { publicKey: signatureSecret } : {};
      const own = account.accountSid ? { accountSid: account.accountSid } : {};
      return telnyx({ applicationId: account.account, ...own, ...signed, ...commonOf(account) });
    },
  },
};

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
 * @throws {UsageError} for a name that no carrier has
 */
export const carrierNamed = (name: string): Carrier => {
  const carrier = Object.hasOwn(carriers, name) ? carriers[name] : undefined;
  if (carrier) return carrier;
  throw new UsageError(`there is no such --service${suggestion(name, Object.keys(carriers))}`);
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
  more: Pick<Account, "callsPerSecond" | "machineDetection"> = {},
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
