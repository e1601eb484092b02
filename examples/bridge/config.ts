/** Somebody who may place calls through the bridge: one of your systems, or one person at a page. */
export interface Caller {
  readonly name: string;
  /** 32 characters or more, made at random. */
  readonly token: string;
  /** What a number must start with. As long as you can make them: "+1" holds more than 20 countries. */
  readonly prefixes: readonly string[];
  /** Calls in any 60 seconds. */
  readonly per_minute: number;
  /** Calls in any 24 hours: it bounds what a stolen token can cost. */
  readonly per_day: number;
}

/** A speech agent of one of the services that `outdial/agents` knows. */
export interface Speech {
  readonly kind: "openai" | "gpt-live" | "elevenlabs" | "deepgram";
  readonly apiKey: string;
  /** Where it is, if it isn't where it usually is. */
  readonly url: string | undefined;
  /** Which agent, at ElevenLabs. */
  readonly agentId: string;
  /** What it is to do, beside saying that it is a machine. */
  readonly instructions: string;
  /** Whether it must say that the call is recorded. */
  readonly record: boolean;
}

/** All that the bridge must be told. */
export interface Config {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly fromNumber: string;
  /** Where the service reaches the bridge. Not taken from requests: anyone can write their `Host`. */
  readonly publicUrl: string;
  /** Signs the URLs. The first signs, all are accepted. */
  readonly secret: readonly string[];
  /** Of the service's own signature, if it signs its notifications. */
  readonly webhookSecret: string | undefined;
  readonly callers: readonly Caller[];
  readonly record: boolean;
  /** Who answers; without one the agent at `agentUrl`, and without that the echo. */
  readonly speech: Speech | undefined;
  /** The wss URL of a voice agent of your own. */
  readonly agentUrl: string | undefined;
  /** Signs the agent's URL, so that the agent can tell the bridge from anyone else. */
  readonly agentSecret: string | undefined;
  /** Milliseconds that the agent may take to be there: a person is waiting. */
  readonly agentWithin: number;
  /** Milliseconds that a call may be connected: calls that nobody ends cost money. */
  readonly longest: number;
}

const isCaller = (value: unknown): boolean => {
  const { token, prefixes, per_minute, per_day } = Object(value);
  return (
    /^[!-~]{32,}$/.test(token) &&
    Array.isArray(prefixes) &&
    prefixes.length > 0 &&
    prefixes.every((prefix) => /^\+[1-9]\d{0,14}$/.test(prefix)) &&
    [per_minute, per_day].every((count) => Number.isInteger(count) && count > 0)
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

const milliseconds = (seconds: string): number | undefined =>
  /^\d+(\.\d+)?$/.test(seconds) && Number(seconds) > 0 ? Number(seconds) * 1000 : undefined;

/** https, or http to this machine: then the service is an emulator on it. */
const originIn = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, origin } = new URL(url);
  const isHere = protocol === "http:" && ["localhost", "127.0.0.1"].includes(hostname);
  return protocol === "https:" || isHere ? origin : undefined;
};

const kinds = ["openai", "gpt-live", "elevenlabs", "deepgram"] as const;

const words: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["false", false],
]);

/**
 * The configuration out of the environment, whatever the platform calls it.
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
  const agent = read(
    "AGENT",
    (word) => [...kinds, "echo" as const].find((kind) => kind === word),
    "echo",
  );
  const speech = agent !== undefined &&
    agent !== "echo" && {
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
    secret: read("BRIDGE_SECRET", (list) => {
      const secrets = list.split(",");
      return secrets.every((secret) => secret.length >= 32) ? secrets : undefined;
    }),
    webhookSecret: env("WEBHOOK_SECRET") || undefined,
    callers: read("CALLERS", callersIn),
    record,
    speech: speech || undefined,
    agentUrl: env("AGENT_URL") || undefined,
    agentSecret: env("AGENT_SECRET") || undefined,
    agentWithin: read("AGENT_WITHIN_SECONDS", milliseconds, "5"),
    longest: read("LONGEST_CALL_SECONDS", milliseconds, "600"),
  };
  if (wrong.length > 0) throw new Error(`Missing, or against its rule: ${wrong.join(", ")}`);
  return config;
};
