import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fieldsOf, withoutThrowing } from "../lib/check.ts";
import { type Environment, exits, Failure, UsageError } from "./command.ts";

/** What is kept of an emulator's account, so that it is the same at each start. */
export interface Account {
  readonly apiKey?: string | undefined;
  readonly webhookSecret?: string | undefined;
}

/** How what is kept of an account looks; what has no shape is not kept. */
export type AccountShapes = Readonly<Partial<Record<keyof Account, RegExp>>>;

/** The shapes of outdial's own interface. */
export const ownShapes: AccountShapes = {
  apiKey: /^ak_[\w-]{43}$/,
  webhookSecret: /^whsec_[\w+/]{43}=$/,
};

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

const textIn = (value: unknown, shape: RegExp | undefined): string | undefined =>
  typeof value === "string" && shape?.test(value) ? value : undefined;

/** What a file has: the account of outdial's own interface, and in it those of the carriers, by their names. */
const accountsIn = (text: string): Readonly<Record<string, unknown>> =>
  fieldsOf(withoutThrowing(() => JSON.parse(text)));

/** The text of a file; `undefined` where it can't be read. */
const readPrivate = (env: Environment): string | undefined => {
  const file = accountFile(env);
  if (!file || !isAllowed("read", file)) return;
  let others: number;
  try {
    const { mode } = lstatSync(file);
    others = process.platform === "win32" ? 0 : mode & 0o077;
  } catch {
    return;
  }
  if (others) throw new Failure(`other users may read ${file}: chmod 600 it`, exits.refused);
  return readFileSync(file, "utf8");
};

/**
 * The account of the last start: empty at the first start, and where files cannot be read.
 *
 * @param service - the carrier; `undefined` for outdial's own interface
 * @throws {Failure} if other users may read the file
 */
export const readAccount = (
  env: Environment,
  service: string | undefined,
  shapes: AccountShapes,
): Account => {
  const accounts = accountsIn(readPrivate(env) ?? "");
  const kept = service === undefined ? accounts : fieldsOf(accounts[service]);
  return {
    apiKey: textIn(kept.apiKey, shapes.apiKey),
    webhookSecret: textIn(kept.webhookSecret, shapes.webhookSecret),
  };
};

/**
 * Writes the account to a file that only its user can read; without one there is a new account at each start.
 *
 * @param service - the carrier; `undefined` for outdial's own interface
 * @throws {Failure} if other users may read the file
 */
export const writeAccount = (
  env: Environment,
  service: string | undefined,
  account: Account,
): void => {
  const file = accountFile(env);
  if (!file || !isAllowed("write", file)) return;
  const accounts = accountsIn(readPrivate(env) ?? "");
  const next = { ...accounts, ...(service === undefined ? account : { [service]: account }) };
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const beside = `${file}.${process.pid}`;
    writeFileSync(beside, `${JSON.stringify(next)}\n`, { flag: "wx", mode: 0o600 });
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
