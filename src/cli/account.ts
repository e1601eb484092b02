import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Environment, exits, Failure, UsageError } from "./command.ts";

/** The emulator's account: the same at each start. */
export interface Account {
  readonly apiKey?: string | undefined;
  readonly webhookSecret?: string | undefined;
  /** The auth token of an account at Twilio. */
  readonly authToken?: string | undefined;
}

/** The part of Deno's API that is used: Deno would ask its user for a missing permission. */
declare const Deno: {
  readonly permissions: {
    querySync(wanted: { readonly name: string; readonly path: string }): { readonly state: string };
  };
};

const isAllowed = (name: "read" | "write", path: string): boolean =>
  !("Deno" in globalThis) || Deno.permissions.querySync({ name, path }).state === "granted";

/** The file of the account; `undefined` for a user without a home. */
const accountFile = ({ XDG_STATE_HOME, LOCALAPPDATA, HOME }: Environment): string | undefined => {
  const folder = XDG_STATE_HOME || LOCALAPPDATA || (HOME && join(HOME, ".local", "state"));
  return folder ? join(folder, "outdial", "emulator.json") : undefined;
};

const textIn = (value: unknown, shape: RegExp): string | undefined =>
  typeof value === "string" && shape.test(value) ? value : undefined;

const accountIn = (text: string): Account => {
  try {
    const kept: Readonly<Record<string, unknown>> = JSON.parse(text) ?? {};
    const { apiKey, webhookSecret, authToken } = kept;
    return {
      apiKey: textIn(apiKey, /^ak_[\w-]{43}$/),
      webhookSecret: textIn(webhookSecret, /^whsec_[\w+/]{43}=$/),
      authToken: textIn(authToken, /^[\da-f]{32}$/),
    };
  } catch {
    return {};
  }
};

/**
 * The account of the last start: empty at the first start, and where files cannot be read.
 *
 * @throws {Failure} if other users may read the file
 */
export const readAccount = (env: Environment): Account => {
  const file = accountFile(env);
  if (!file || !isAllowed("read", file)) return {};
  let others: number;
  try {
    const { mode } = lstatSync(file);
    others = process.platform === "win32" ? 0 : mode & 0o077;
  } catch {
    return {};
  }
  if (others) throw new Failure(`other users may read ${file}: chmod 600 it`, exits.refused);
  return accountIn(readFileSync(file, "utf8"));
};

/** Writes the account to a file that only its user can read; without one there is a new account at each start. */
export const writeAccount = (
  env: Environment,
  { apiKey, webhookSecret, authToken }: Account,
): void => {
  const file = accountFile(env);
  if (!file || !isAllowed("write", file)) return;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const beside = `${file}.${process.pid}`;
    const text = `${JSON.stringify({ apiKey, webhookSecret, authToken })}\n`;
    writeFileSync(beside, text, { flag: "wx", mode: 0o600 });
    renameSync(beside, file);
  } catch {
    // A read-only disk.
  }
};

/**
 * The emulator's key, if its user chose one. Never `OUTDIAL_API_KEY`: that may be the real one, and the
 * emulator prints its own.
 *
 * @throws {UsageError} if it is too short, or has other characters
 */
export const chosenKey = ({ OUTDIAL_EMULATOR_KEY: key }: Environment): string | undefined => {
  if (!key || /^[\w-]{16,}$/.test(key)) return key || undefined;
  throw new UsageError("OUTDIAL_EMULATOR_KEY must be 16 or more letters, digits, - and _");
};
