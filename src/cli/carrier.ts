import type { Service } from "../service.ts";
import { type Environment, suggestion, UsageError, type Values } from "./command.ts";

/** The options of the commands that can place calls with a carrier. */
export const carrierFlags = {
  service: {
    type: "string",
    value: "name",
    help: "a carrier: twilio (or OUTDIAL_SERVICE); --base-url is its own then",
  },
  account: { type: "string", value: "id", help: "its account: AC… (or OUTDIAL_ACCOUNT)" },
  "key-id": {
    type: "string",
    value: "id",
    help: "an API key, whose secret is the key: SK… (or OUTDIAL_KEY_ID)",
  },
} as const;

/** What a carrier's account is made of. */
interface Account {
  readonly account: string;
  readonly keyId: string | undefined;
  /** The key that places calls; without `keyId` it also verifies what the carrier sends. */
  readonly apiKey: string;
  readonly callsPerSecond: number | undefined;
}

/** The carriers, each loaded only when it is asked for. */
const carriers: Readonly<Record<string, (account: Account) => Promise<Service>>> = {
  twilio: async ({ account, keyId, apiKey, callsPerSecond }) => {
    const { twilio } = await import("../twilio/index.ts");
    return twilio({
      accountSid: account,
      ...(keyId ? { apiKeySid: keyId } : { authToken: apiKey }),
      ...(callsPerSecond !== undefined && { callsPerSecond }),
    });
  },
};

/** The names by which the commands know the parameters of a carrier. */
export const carrierNames = {
  accountSid: "--account or OUTDIAL_ACCOUNT",
  apiKeySid: "--key-id or OUTDIAL_KEY_ID",
  authToken: "OUTDIAL_API_KEY",
  callsPerSecond: "--calls-per-second",
} as const;

/**
 * The carrier that the flags or the environment name; `undefined` for outdial's own interface.
 *
 * @throws {UsageError} if it is unknown or has no account
 * @throws {BadParametersException} if its account breaks a rule
 */
export const carrierOf = async (
  flags: Values<typeof carrierFlags>,
  env: Environment,
  callsPerSecond?: number,
): Promise<Service | undefined> => {
  const name = flags.service ?? env.OUTDIAL_SERVICE;
  if (!name) return;
  const load = Object.hasOwn(carriers, name) ? carriers[name] : undefined;
  if (!load) {
    throw new UsageError(`there is no such --service${suggestion(name, Object.keys(carriers))}`);
  }
  const account = flags.account ?? env.OUTDIAL_ACCOUNT;
  if (!account)
    throw new UsageError(`which account of ${name}? Set OUTDIAL_ACCOUNT, or pass --account`);
  const { OUTDIAL_API_KEY: apiKey } = env;
  if (!apiKey) throw new UsageError("OUTDIAL_API_KEY is not set");
  return load({ account, keyId: flags["key-id"] ?? env.OUTDIAL_KEY_ID, apiKey, callsPerSecond });
};
