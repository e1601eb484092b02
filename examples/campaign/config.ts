import type { Speech } from "../bridge/config.ts";

/** Somebody who may call lists: one of your systems, or one person at the page. */
export interface Caller {
  readonly name: string;
  /** 32 characters or more, made at random. */
  readonly token: string;
  /** What a number must start with. As long as you can make them: "+1" holds more than 20 countries. */
  readonly prefixes: readonly string[];
  /** Calls a second of one campaign. */
  readonly rate: number;
  /** Calls a day of one campaign. */
  readonly per_day: number;
  /** Campaigns in any 24 hours. With `per_day` it bounds what a stolen token can cost. */
  readonly campaigns: number;
}

/** All that the Worker must be told. */
export interface Config {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly fromNumber: string;
  /** Where the service reaches the Worker. Not taken from requests: anyone can write their `Host`. */
  readonly publicUrl: string;
  /** Signs the URLs. The first signs, all are accepted. */
  readonly secret: readonly string[];
  /** Of the service's own signature, if it signs its notifications. */
  readonly webhookSecret: string | undefined;
  readonly callers: readonly Caller[];
  readonly record: boolean;
  /** Who speaks to whoever answers; without one the message. */
  readonly speech: Speech | undefined;
  /** Seconds that an agent may talk: calls that nobody ends cost money. */
  readonly longest: number;
  /** What is played to who answers; without one the call ends at once. */
  readonly messageUrl: string | undefined;
}

const isCaller = (value: unknown): boolean => {
  const { token, prefixes, rate, per_day, campaigns } = Object(value);
  return (
    /^[!-~]{32,}$/.test(token) &&
    Array.isArray(prefixes) &&
    prefixes.length > 0 &&
    prefixes.every((prefix) => /^\+[1-9]\d{0,14}$/.test(prefix)) &&
    rate > 0 &&
    [per_day, campaigns].every((count) => Number.isInteger(count) && count > 0)
  );
};

const callersIn = (json: string): Caller[] | undefined => {
  try {
    const callers = Object.entries<Caller>(JSON.parse(json));
    if (callers.length === 0 || !callers.every(([, caller]) => isCaller(caller))) return undefined;
    return callers.map(([name, caller]) => ({ ...caller, name }));
  } catch {
    return undefined; // The parser's own error quotes it, tokens and all.
  }
};

/** https, or http to this machine: then the service is an emulator on it. */
const originIn = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, origin } = new URL(url);
  const isHere = protocol === "http:" && ["localhost", "127.0.0.1"].includes(hostname);
  return protocol === "https:" || isHere ? origin : undefined;
};

const secondsIn = (text: string): number | undefined =>
  /^\d+$/.test(text) && Number(text) > 0 ? Number(text) : undefined;

const kinds = ["openai", "gpt-live", "elevenlabs", "deepgram"] as const;

const agents: ReadonlyMap<string, Speech["kind"] | "none"> = new Map([
  ...kinds.map((kind) => [kind, kind] as const),
  ["none", "none"],
]);

const words: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

/**
 * The configuration out of the environment.
 *
 * @throws an error that names every variable that is missing or wrong, and never a value
 */
export const configOf = (env: (name: string) => string | undefined): Config => {
  const wrong: string[] = [];
  const read = <T>(name: string, parse: (text: string) => T | undefined, otherwise?: string): T => {
    const value = parse(env(name) || otherwise || "");
    if (value === undefined) wrong.push(name);
    return value as T; // Not used when undefined: the throw below comes first.
  };
  const text = (value: string) => value || undefined;
  const record = read("RECORD", (word) => words.get(word), "false");
  const agent = read("AGENT", (word) => agents.get(word), "none");
  const speech = agent !== undefined &&
    agent !== "none" && {
      kind: agent,
      apiKey: read("AGENT_KEY", text),
      url: env("AGENT_URL") || undefined,
      agentId: agent === "elevenlabs" ? read("AGENT_ID", text) : "",
      instructions: env("AGENT_INSTRUCTIONS") ?? "",
      record,
    };
  const config: Config = {
    apiKey: read("OUTDIAL_API_KEY", text),
    baseUrl: read("OUTDIAL_BASE_URL", text),
    fromNumber: read("FROM_NUMBER", text),
    publicUrl: read("PUBLIC_URL", originIn),
    secret: read("CAMPAIGN_SECRET", (list) => {
      const secrets = list.split(",");
      return secrets.every((secret) => secret.length >= 32) ? secrets : undefined;
    }),
    webhookSecret: env("WEBHOOK_SECRET") || undefined,
    callers: read("CALLERS", callersIn),
    record,
    speech: speech || undefined,
    longest: read("LONGEST_CALL_SECONDS", secondsIn, "600"),
    messageUrl: env("MESSAGE_URL") || undefined,
  };
  if (wrong.length > 0) throw new Error(`Missing, or against its rule: ${wrong.join(", ")}`);
  return config;
};

/** The configuration out of a Worker's variables. */
export const configIn = (env: Readonly<Record<string, unknown>>): Config =>
  configOf((name) => {
    const value = env[name];
    return typeof value === "string" ? value : undefined;
  });
