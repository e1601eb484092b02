import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { custom, type GenericSchema, optional, strictObject } from "valibot";
import { serviceNameRule } from "../campaigns/options.ts";
import type { CarrierAccount } from "../carriers/carrier.ts";
import { BadParametersException } from "../errors.ts";
import { check, isText, presence, ruleSchema, withoutThrowing } from "../lib/check.ts";
import type { Service } from "../service.ts";
import { carrierNamed, carrierNames } from "./carrier.ts";
import { type Environment, issueLine, issuesByFlag, suggestion, UsageError } from "./command.ts";
import { codeOf } from "./terminal.ts";

/** The option of the commands that know several services. */
export const servicesFileFlag = {
  "services-file": {
    type: "string",
    value: "file",
    help: "JSON: several services in the place of one; see docs/at-scale.md",
  },
} as const;

/** One service in the file. Its numbers and texts are checked where they are used. */
export interface FileService {
  readonly name: string;
  /** The carrier; absent for outdial's own interface. */
  readonly service?: string | undefined;
  readonly account?: string | undefined;
  readonly accountSid?: string | undefined;
  readonly keyId?: string | undefined;
  readonly baseUrl?: string | undefined;
  /** The name of the environment variable that has the key. */
  readonly apiKeyEnv?: string | undefined;
  /** A file with the key, seen from the folder of this one. */
  readonly keyFile?: string | undefined;
  /** The name of the environment variable that has what verifies the carrier's notifications. */
  readonly signatureSecretEnv?: string | undefined;
  readonly from_number: string | readonly string[];
  readonly flow_url?: string | undefined;
  readonly status_callback_url?: string | undefined;
  readonly rate?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly callsPerSecond?: number | undefined;
}

const text = custom<string>((value) => isText(value) && value !== "", "must be a text");

const number = custom<number>((value) => typeof value === "number", "must be a number");

const variable = custom<string>(
  (value) => isText(value) && /^[A-Za-z_]\w{0,127}$/.test(value),
  "must be the name of an environment variable",
);

const numbersRule = (value: unknown): string | undefined =>
  isText(value) || (Array.isArray(value) && value.length > 0 && value.every(isText))
    ? undefined
    : "must be a text, or a list of texts";

const schema: GenericSchema<unknown, FileService> = strictObject(
  {
    name: ruleSchema<string>(serviceNameRule),
    service: optional(text),
    account: optional(text),
    accountSid: optional(text),
    keyId: optional(text),
    baseUrl: optional(text),
    apiKeyEnv: optional(variable),
    keyFile: optional(text),
    signatureSecretEnv: optional(variable),
    from_number: ruleSchema<string | readonly string[]>(numbersRule),
    flow_url: optional(text),
    status_callback_url: optional(text),
    rate: optional(number),
    concurrency: optional(number),
    callsPerSecond: optional(number),
  },
  presence,
);

/** The names of the package's options in the file, where they are others. */
const names: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.keys(carrierNames).map((option) => [option, "account"])),
  apiKey: "apiKeyEnv or keyFile",
  apiKeySid: "keyId",
  authToken: "apiKeyEnv",
  signatureSecret: "signatureSecretEnv",
  publicKey: "signatureSecretEnv",
  callsPerSecond: "callsPerSecond",
};

/** How messages name a service of the file. */
export const labelOf = (name: string): string => `--services-file: ${name}:`;

/**
 * A failure that names the service and its field.
 *
 * @param fields - the names of fields in the file, by those of the package's options
 * @returns `error` itself, if it is none of broken rules
 */
export const fieldFailure = (label: string, error: unknown, fields = names): unknown => {
  if (!(error instanceof BadParametersException)) return error;
  const issues = issuesByFlag(error.issues, {}, fields);
  return new UsageError(
    issueLine(issues.map(({ param, message }) => ({ param: `${label} ${param}`, message }))),
  );
};

const serviceIn = (value: unknown, at: number): FileService => {
  const place = `service ${at + 1}`;
  try {
    return check(schema, () => value, "the whole");
  } catch (error) {
    const name = withoutThrowing(() => Reflect.get(Object(value), "name"));
    const label = serviceNameRule(name) === undefined ? String(name) : place;
    throw fieldFailure(labelOf(label), error, {});
  }
};

/**
 * The services in a file, without their secrets.
 *
 * @throws {UsageError} which names the service and the field
 */
export const servicesIn = (file: string): readonly [FileService, ...FileService[]] => {
  let json: string;
  try {
    json = readFileSync(file, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    throw new UsageError(`--services-file cannot be read (${codeOf(error) ?? "unknown"})`);
  }
  const list: unknown = withoutThrowing(() => JSON.parse(json));
  const [first, ...others] = Array.isArray(list) ? list.map(serviceIn) : [];
  if (!first) {
    throw new UsageError(
      '--services-file must be a JSON list of one service or more: [{ "name": "main", … }]',
    );
  }
  const all = [first, ...others] as const;
  const twice = all.find(({ name }, at) => all.findIndex((each) => each.name === name) < at);
  if (twice) throw new UsageError(`${labelOf(twice.name)} name is given twice`);
  return all;
};

/** A secret that the environment has. */
const secretIn = (
  entry: FileService,
  field: "apiKeyEnv" | "signatureSecretEnv",
  env: Environment,
): string | undefined => {
  const { [field]: name } = entry;
  if (name === undefined) return;
  const secret: unknown = env[name];
  if (isText(secret) && secret !== "") return secret;
  // The name isn't printed: it may be the secret itself.
  throw new UsageError(`${labelOf(entry.name)} the variable that ${field} names is not set`);
};

const keyOf = (entry: FileService, folder: string, env: Environment): string => {
  const { name, apiKeyEnv, keyFile } = entry;
  if ((apiKeyEnv === undefined) === (keyFile === undefined)) {
    throw new UsageError(
      `${labelOf(name)} give either apiKeyEnv, which names an environment variable, or keyFile`,
    );
  }
  if (keyFile === undefined) return secretIn(entry, "apiKeyEnv", env) ?? "";
  try {
    return readFileSync(resolve(folder, keyFile), "utf8").trim();
  } catch (error) {
    throw new UsageError(`${labelOf(name)} keyFile cannot be read (${codeOf(error) ?? "unknown"})`);
  }
};

/**
 * The carrier of a service; `undefined` for outdial's own interface.
 *
 * @param more - its secrets, which an emulator needs not; without an account it is one that nobody has
 * @throws {UsageError} which names the field
 */
export const carrierIn = async (
  { name, service, account, keyId, accountSid, callsPerSecond }: FileService,
  more: Partial<CarrierAccount>,
): Promise<Service | undefined> => {
  if (service === undefined) return;
  const label = labelOf(name);
  try {
    const { load, sampleAccount } = carrierNamed(service, label);
    return await load({
      ...{ account: account ?? sampleAccount, keyId, accountSid, callsPerSecond },
      ...more,
    });
  } catch (error) {
    throw fieldFailure(label, error);
  }
};

/** The account at a service. */
export interface FileAccount {
  /** The carrier; `undefined` for outdial's own interface. */
  readonly service: Service | undefined;
  readonly apiKey: string;
  /** `""` for a carrier's own. */
  readonly baseUrl: string;
}

/**
 * The account at a service of the file.
 *
 * @param file - the path of the file
 * @throws {UsageError} which names the field
 */
export const accountIn = async (
  entry: FileService,
  file: string,
  env: Environment,
  more: Pick<CarrierAccount, "machineDetection"> = {},
): Promise<FileAccount> => {
  const { name, account, baseUrl = "" } = entry;
  if (entry.service !== undefined && account === undefined) {
    throw new UsageError(`${labelOf(name)} account is missing`);
  }
  if (entry.service === undefined && !baseUrl) {
    throw new UsageError(`${labelOf(name)} give baseUrl, or service, the name of a carrier`);
  }
  const apiKey = keyOf(entry, dirname(file), env);
  const signatureSecret = secretIn(entry, "signatureSecretEnv", env);
  const service = await carrierIn(entry, { apiKey, signatureSecret, ...more });
  return { service, apiKey, baseUrl };
};

/**
 * The service of a file that `--service` names.
 *
 * @throws {UsageError} if there is none
 */
export const chosenService = (file: string, name: string | undefined): FileService => {
  const all = servicesIn(file);
  const found = all.find((each) => each.name === name);
  if (found) return found;
  const known = all.map((each) => each.name);
  throw new UsageError(
    `--service must be one of those in --services-file: ${known.join(", ")}${suggestion(name ?? "", known)}`,
  );
};

/** @throws {UsageError} for options that each service in the file has of its own */
export const refuseBesideFile = (
  flags: Readonly<Record<string, unknown>>,
  own: readonly string[],
): void => {
  const given = own.filter((name) => flags[name] !== undefined).map((name) => `--${name}`);
  if (given.length === 0) return;
  throw new UsageError(
    `${given.join(", ")} cannot be beside --services-file: each service in it has its own`,
  );
};
