import { secretRule, secretsOf } from "../../callbacks/url/token.ts";
import { routeOf } from "../../rules/url.ts";
import { UsageError } from "../command/failure.ts";
import type { DialValues } from "./settings.ts";

/** What of the environment is used: the key and the secret come from nowhere else. */
export const environment = (flags: DialValues) => {
  const { OUTDIAL_API_KEY: apiKey, OUTDIAL_SECRET: secret, OUTDIAL_BASE_URL } = process.env;
  const baseUrl = flags["base-url"] ?? OUTDIAL_BASE_URL;
  if (!baseUrl) throw new UsageError("which service? Set OUTDIAL_BASE_URL, or give --base-url");
  if (!routeOf(baseUrl)) throw new UsageError("the base URL must be https; http on loopback only");
  if (!apiKey) throw new UsageError("OUTDIAL_API_KEY is not set");
  if (!secret) {
    throw new UsageError("OUTDIAL_SECRET is not set: 16 characters or more, made at random");
  }
  if (secretsOf(secret).length === 0) throw new UsageError(`OUTDIAL_SECRET ${secretRule}`);
  return { apiKey, secret, baseUrl };
};

/** @throws {UsageError} when it isn't clear who hears what becomes of a call */
export const requireReceiver = ({ listen, callback, attempts, concurrency }: DialValues): void => {
  if ((listen === undefined) === (callback === undefined)) {
    throw new UsageError(
      "either --listen or --callback must be given: who hears what becomes of a call?",
    );
  }
  if (callback !== undefined && (attempts ?? concurrency) !== undefined) {
    throw new UsageError("--attempts and --concurrency need --listen: only notifications can tell");
  }
};
