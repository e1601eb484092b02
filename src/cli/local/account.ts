import { lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { exits, Failure, UsageError } from "../command/failure.ts";

/** What stays the same from start to start. */
export interface KeptAccount {
  readonly apiKey?: string | undefined;
  readonly webhookSecret?: string | undefined;
}

/** What is used of Deno, which would stop and ask its user. */
declare const Deno: {
  readonly permissions: {
    querySync(wanted: { readonly name: string; readonly path: string }): { readonly state: string };
  };
};

const isAllowed = (name: "read" | "write", path: string): boolean =>
  !("Deno" in globalThis) || Deno.permissions.querySync({ name, path }).state === "granted";

/** Where the account is kept; `undefined` for a user without a home. */
const accountFile = ({
  XDG_STATE_HOME,
  LOCALAPPDATA,
  HOME,
}: Readonly<Record<string, string | undefined>>): string | undefined => {
  const folder = XDG_STATE_HOME || LOCALAPPDATA || (HOME && join(HOME, ".local", "state"));
  return folder ? join(folder, "outdial", "emulator.json") : undefined;
};

const textIn = (value: unknown, shape: RegExp): string | undefined =>
  typeof value === "string" && shape.test(value) ? value : undefined;

const accountIn = (text: string): KeptAccount => {
  try {
    const { apiKey, webhookSecret } = Object(JSON.parse(text));
    return {
      apiKey: textIn(apiKey, /^ak_[\w-]{43}$/),
      webhookSecret: textIn(webhookSecret, /^whsec_[\w+/]{43}=$/),
    };
  } catch {
    return {};
  }
};

/**
 * The account as the emulator left it: empty at the first start, and where files can't be had.
 *
 * @throws {Failure} when others may read the file
 */
export const keptAccount = (): KeptAccount => {
  const file = accountFile(process.env);
  if (!file || !isAllowed("read", file)) return {};
  let others: number;
  try {
    const { mode } = lstatSync(file);
    others = process.platform === "win32" ? 0 : mode & 0o077;
  } catch {
    return {};
  }
  if (others) throw new Failure(`${file} is not yours alone: chmod 600 it`, exits.refused);
  return accountIn(readFileSync(file, "utf8"));
};

/** Keeps the account in a file that only the user can read, where one can be had. */
export const keep = ({ apiKey, webhookSecret }: KeptAccount): void => {
  const file = accountFile(process.env);
  if (!file || !isAllowed("write", file)) return;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const beside = `${file}.${process.pid}`;
    writeFileSync(beside, `${JSON.stringify({ apiKey, webhookSecret })}\n`, {
      flag: "wx",
      mode: 0o600,
    });
    renameSync(beside, file);
  } catch {
    // A read-only disk: there is a new account at each start.
  }
};

/**
 * The emulator's key that its user has chosen. Never `OUTDIAL_API_KEY`: that may be the real one, and
 * the emulator prints its own.
 *
 * @throws {UsageError} when it is none
 */
export const chosenKey = (): string | undefined => {
  const { OUTDIAL_EMULATOR_KEY: key } = process.env;
  if (!key || /^[\w-]{16,}$/.test(key)) return key || undefined;
  throw new UsageError("OUTDIAL_EMULATOR_KEY must be 16 or more letters, digits, - and _");
};
