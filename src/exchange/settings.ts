import { randomBytes } from "node:crypto";
import { lstatSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { custom, type GenericSchema, is, optional, record, strictObject } from "valibot";
import { CallParams } from "../calls/params.ts";
import { check, fail, flag, isRecord, isText, presence, withoutThrowing } from "../lib/check.ts";
import { isWebhookSecret, randomSecret } from "../server/account.ts";
import { isPublicAddress } from "./addresses.ts";
import { type CallLimits, isAllowable, type LimitOptions } from "./limits.ts";
import type { SpeechSource } from "./sounds.ts";

/** The file of an exchange's settings, and beside it that of its secrets. */
export const settingsFile = "outdial-exchange.json";
export const secretsFile = "outdial-exchange.secrets.json";

/** Where a server listens. */
interface Listening {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
}

/** The line to the telephone network. */
export interface Trunk {
  readonly host: string;
  readonly port?: number | undefined;
  readonly transport: "udp" | "tcp" | "tls";
  /** The name at the trunk; absent where the trunk knows this machine by its address. */
  readonly user?: string | undefined;
  /** Whether the trunk wants a registration. */
  readonly registers: boolean;
}

/** The Asterisk beside the exchange. */
interface AsteriskPlace {
  /** The origin of its HTTP server: loopback, or a private link. */
  readonly url: string;
  readonly user: string;
  /** The name of the application: one process has it at a time. */
  readonly app: string;
  /** The program and what comes before its arguments: how `outdial exchange check` asks for the registration. */
  readonly command: readonly string[];
  /** The file of its channel log. */
  readonly channelLog?: string | undefined;
}

/** The settings of an exchange: what is in outdial-exchange.json. Paths are from its folder. */
export interface ExchangeSettings extends LimitOptions {
  /** Where the API is served. */
  readonly listen: Listening;
  /** Where the pages, metrics and health are served: never where the API is. */
  readonly pages: Listening;
  /** The origin of the API as others see it, such as `https://calls.example.com`; that of `listen` by default. */
  readonly baseUrl?: string | undefined;
  readonly asterisk: AsteriskPlace;
  readonly trunk: Trunk;
  /** The origins that may have an address which isn't public. */
  readonly privateOrigins: readonly string[];
  readonly speech?: SpeechSource | undefined;
  /** The file of calls, keys and notifications. */
  readonly store: string;
  readonly recordings: {
    readonly folder: string;
    /** How long they are kept. */
    readonly days: number;
    /** How much of the disk they may take. */
    readonly megabytes: number;
  };
  /** How long a telephone rings, in milliseconds. */
  readonly answerTimeout: number;
  /** How long a call lasts at most, in milliseconds. */
  readonly maxDuration: number;
  /** How long calls are waited for at the end, in milliseconds. */
  readonly closeTimeout: number;
}

/** An account of a carrier whose interface the exchange speaks. */
export interface SecretAccount {
  readonly account: string;
  readonly apiKey: string;
  readonly webhookSecret?: string | undefined;
}

/** The secrets of an exchange: what is in outdial-exchange.secrets.json, and nowhere else. */
export interface ExchangeSecrets {
  /** The password of Asterisk's REST interface. */
  readonly ariPassword: string;
  /** Signs notifications: `whsec_` and base64. */
  readonly webhookSecret: string;
  /** Signs the URLs of recordings. */
  readonly recordingSecret: string;
  /** Signs in at the page, beside the token of each start. */
  readonly pagesPassword?: string | undefined;
  /** By the carrier's name. */
  readonly accounts: Readonly<Record<string, SecretAccount>>;
}

const isNumber = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value);

const text = (pattern: RegExp, rule: string): GenericSchema<string> =>
  custom<string>((value) => isText(value) && pattern.test(value), rule);

const whole = (min: number, max: number): GenericSchema<number> =>
  custom<number>(
    (value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max,
    `must be a whole number from ${min} to ${max}`,
  );

const above0: GenericSchema<number> = custom<number>(
  (value) => isNumber(value) && value > 0,
  "must be a number above 0",
);

const listOf = (
  isOne: (value: unknown) => boolean,
  rule: string,
): GenericSchema<readonly string[]> =>
  custom<readonly string[]>((value) => Array.isArray(value) && value.every(isOne), rule);

const duration = whole(1_000, 86_400_000);

/** A name or an address of a machine: nothing that ends a line, a section or a value in Asterisk's files. */
const hostPattern = /^[\w.-]{1,253}$|^[\da-f:.]{2,45}$/i;
const host = text(hostPattern, "must be the name or the address of a machine");

const listening = strictObject({ host, port: whole(0, 65_535) }, presence);

/** The origin that a text is; empty for any other URL. */
const originIn = (value: unknown): string => {
  const url = isText(value) ? withoutThrowing(() => new URL(value)) : undefined;
  const isWhole = url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  return isWhole ? url.origin : "";
};

const origin: GenericSchema<string> = custom<string>(
  (value) => originIn(value) === value && value !== "",
  "must be an origin, such as https://calls.example.com",
);

const file = text(/^[^\p{Cc}]{1,500}$/u, "must be the path of a file");

/** The defaults of what an operator may leave out. */
export const settingsDefaults = {
  listen: { host: "127.0.0.1", port: 4011 },
  pages: { host: "127.0.0.1", port: 4012 },
  privateOrigins: [],
  limits: { callsPerSecond: 1, callsAtOnce: 10, minutesPerDay: 600, minutesPerDayToNumber: 60 },
  store: "outdial-exchange.db",
  recordings: { folder: "recordings", days: 30, megabytes: 10_240 },
  answerTimeout: 60_000,
  maxDuration: 3_600_000,
  closeTimeout: 600_000,
} as const;

const limits: GenericSchema<CallLimits> = strictObject(
  {
    callsPerSecond: above0,
    callsAtOnce: whole(1, 10_000),
    minutesPerDay: above0,
    minutesPerDayToNumber: above0,
  },
  presence,
);

const asterisk: GenericSchema<AsteriskPlace> = strictObject(
  {
    url: origin,
    user: text(/^[\w-]{1,64}$/, "must be letters, digits, - and _"),
    app: text(/^[\w-]{1,64}$/, "must be letters, digits, - and _"),
    command: listOf(
      (value) => isText(value) && value !== "" && !/\p{Cc}/u.test(value),
      'must be a list of texts, such as ["asterisk"]',
    ),
    channelLog: optional(file),
  },
  presence,
);

/** A user's name at a trunk: it stands in Asterisk's files and in SIP's headers. */
const userPattern = /^[\w.+@-]{1,64}$/;

const trunk: GenericSchema<Trunk> = strictObject(
  {
    host,
    port: optional(whole(1, 65_535)),
    transport: custom<Trunk["transport"]>(
      (value) => value === "udp" || value === "tcp" || value === "tls",
      "must be udp, tcp or tls",
    ),
    user: optional(text(userPattern, "must be letters, digits, and . _ + @ -")),
    registers: flag,
  },
  presence,
);

/** What speaks: a program, or a service's URL. */
const speech: GenericSchema<SpeechSource> = custom<SpeechSource>(
  (value) =>
    isRecord(value) &&
    (isText(value.command)
      ? Array.isArray(value.args) && value.args.every(isText)
      : originIn(withoutThrowing(() => new URL(String(value.url)).origin)) !== ""),
  "must be { command, args }, or { url }",
);

/** The rule of each setting. */
const SettingsSchema: GenericSchema<unknown, ExchangeSettings> = strictObject(
  {
    listen: optional(listening, settingsDefaults.listen),
    pages: optional(listening, settingsDefaults.pages),
    baseUrl: optional(origin),
    asterisk,
    trunk,
    numbers: listOf(
      (value) => is(CallParams.entries.from_number, value),
      "must be a list of E.164 numbers",
    ),
    allow: listOf(
      (value) => isText(value) && isAllowable(value),
      'must be a list of prefixes with "+" and a whole country code, or of whole sip: addresses',
    ),
    limits: optional(limits, settingsDefaults.limits),
    privateOrigins: optional(
      listOf(
        (value) => value !== "" && originIn(value) === value,
        "must be a list of origins, such as http://10.0.0.5:3000",
      ),
      settingsDefaults.privateOrigins,
    ),
    speech: optional(speech),
    store: optional(file, settingsDefaults.store),
    recordings: optional(
      strictObject(
        { folder: file, days: whole(1, 3_650), megabytes: whole(1, 1_000_000_000) },
        presence,
      ),
      settingsDefaults.recordings,
    ),
    answerTimeout: optional(duration, settingsDefaults.answerTimeout),
    maxDuration: optional(duration, settingsDefaults.maxDuration),
    closeTimeout: optional(duration, settingsDefaults.closeTimeout),
  },
  presence,
);

const portOf = (url: string): string => {
  const { port, protocol } = new URL(url);
  return port || (protocol === "https:" ? "443" : "80");
};

/** @throws {BadParametersException} when settings that are right by themselves don't go together */
const checkTogether = ({ asterisk, privateOrigins, listen, pages }: ExchangeSettings): void => {
  // Asterisk's media sockets have no password: whoever opens one is in another's call.
  if (isPublicAddress(new URL(asterisk.url).hostname.replace(/^\[|\]$/g, ""))) {
    fail("asterisk.url", "must be on this machine, or on a private link to it");
  }
  const ari = portOf(asterisk.url);
  if (privateOrigins.some((each) => portOf(each) === ari)) {
    fail("privateOrigins", "must not have the port of Asterisk's REST interface");
  }
  if (listen.port !== 0 && listen.port === pages.port && listen.host === pages.host) {
    fail("pages", "must be another address than that of the API: choose another port");
  }
};

/**
 * Checks settings, and fills in the defaults.
 *
 * @throws {BadParametersException} which names the setting and its rule
 */
export const settingsOf = (value: unknown): ExchangeSettings => {
  const settings = check(SettingsSchema, () => value, settingsFile);
  checkTogether(settings);
  return settings;
};

const secret = text(/^[!-~]{16,}$/, "must be 16 or more printable characters");

const SecretsSchema: GenericSchema<unknown, ExchangeSecrets> = strictObject(
  {
    ariPassword: text(/^[\w-]{16,128}$/, "must be 16 to 128 letters, digits, - and _"),
    webhookSecret: custom<string>(isWebhookSecret, 'must be "whsec_" and base64 of 24 to 64 bytes'),
    recordingSecret: secret,
    pagesPassword: optional(text(/^.{12,200}$/, "must be 12 to 200 characters")),
    accounts: optional(
      record(
        text(/^[a-z]+$/, "must be a carrier's name"),
        strictObject(
          {
            account: text(/^[\w-]{1,100}$/, "must be an account's id"),
            apiKey: text(/^[^\0]{16,10000}$/, "must be a key"),
            webhookSecret: optional(text(/^.{8,}$/, "must be a text of 8 or more characters")),
          },
          presence,
        ),
      ),
      {},
    ),
  },
  presence,
);

const parsedFile = (path: string, name: string): unknown => {
  const contents = withoutThrowing(() => readFileSync(path, "utf8"));
  if (contents === undefined) {
    fail(name, "is missing or can't be read: run outdial exchange init, or pass --folder");
  }
  return (
    withoutThrowing(() => JSON.parse(contents)) ?? fail(name, "must be JSON: look for a comma")
  );
};

/**
 * Reads the settings in a folder.
 *
 * @throws {BadParametersException} which names the file, or the setting and its rule
 */
export const readSettings = (folder: string): ExchangeSettings =>
  settingsOf(parsedFile(join(folder, settingsFile), settingsFile));

/**
 * Reads the secrets in a folder.
 *
 * @throws {BadParametersException} which names the file, or the secret and its rule; also when others may read the file
 */
export const readSecrets = (folder: string): ExchangeSecrets => {
  const path = join(folder, secretsFile);
  const mode = withoutThrowing(() => lstatSync(path).mode) ?? 0;
  if (process.platform !== "win32" && mode & 0o077) {
    fail(secretsFile, `may be read by other users: chmod 600 ${secretsFile}`);
  }
  const value = parsedFile(path, secretsFile);
  return check(SecretsSchema, () => value, secretsFile);
};

/** Writes the secrets in a folder, for this user alone. */
export const writeSecrets = (folder: string, secrets: ExchangeSecrets): void => {
  const path = join(folder, secretsFile);
  const beside = `${path}.${process.pid}`;
  writeFileSync(beside, `${JSON.stringify(secrets, null, 2)}\n`, { flag: "wx", mode: 0o600 });
  renameSync(beside, path);
};

/** New secrets, all random. */
export const newSecrets = (): ExchangeSecrets => ({
  ariPassword: randomBytes(32).toString("base64url"),
  webhookSecret: randomSecret(),
  recordingSecret: randomBytes(32).toString("base64url"),
  accounts: {},
});
