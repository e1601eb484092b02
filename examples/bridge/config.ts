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

/** Seconds of a day: the URLs of a call are good for no longer, and nor is any timer for much longer. */
const day = 86_400;

const milliseconds = (seconds: string): number | undefined => {
  const isTime = /^\d+(\.\d+)?$/.test(seconds) && Number(seconds) > 0 && Number(seconds) <= day;
  return isTime ? Number(seconds) * 1000 : undefined;
};

const numberIn = (text: string): string | undefined =>
  /^\+[1-9]\d{6,14}$/.test(text) ? text : undefined;

/** By https or wss, or without TLS to this machine: then an emulator or a test is at work on it. */
const urlOf =
  (scheme: "http" | "ws") =>
  (url: string): string | undefined => {
    if (!URL.canParse(url)) return undefined;
    const { protocol, hostname } = new URL(url);
    const isHere = protocol === `${scheme}:` && ["localhost", "127.0.0.1"].includes(hostname);
    return protocol === `${scheme}s:` || isHere ? url : undefined;
  };

/** A URL without a path: the bridge answers at the root. */
const originIn = (url: string): string | undefined => {
  if (!urlOf("http")(url)) return undefined;
  const { origin, href } = new URL(url);
  return href === `${origin}/` ? origin : undefined;
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
  // At ElevenLabs it is where a signed URL is fetched.
  const agentUrlOf = urlOf(agent === "elevenlabs" ? "http" : "ws");
  const agentUrl = read("AGENT_URL", (url) => url && agentUrlOf(url)) || undefined;
  const speech = agent !== undefined &&
    agent !== "echo" && {
      kind: agent,
      apiKey: read("AGENT_KEY", text),
      url: agentUrl,
      agentId: agent === "elevenlabs" ? read("AGENT_ID", text) : "",
      instructions: env("AGENT_INSTRUCTIONS") ?? "",
      record,
    };
  const config: Config = {
    apiKey: read("OUTDIAL_API_KEY", text),
    baseUrl: read("OUTDIAL_BASE_URL", urlOf("http")),
    fromNumber: read("FROM_NUMBER", numberIn),
    publicUrl: read("PUBLIC_URL", originIn),
    secret: read("BRIDGE_SECRET", (list) => {
      const secrets = list.split(",");
      return secrets.every((secret) => secret.length >= 32) ? secrets : undefined;
    }),
    webhookSecret: env("WEBHOOK_SECRET") || undefined,
    callers: read("CALLERS", callersIn),
    record,
    speech: speech || undefined,
    agentUrl,
    agentSecret: env("AGENT_SECRET") || undefined,
    agentWithin: read("AGENT_WITHIN_SECONDS", milliseconds, "5"),
    longest: read("LONGEST_CALL_SECONDS", milliseconds, "600"),
  };
  if (wrong.length > 0) throw new Error(`Missing, or against its rule: ${wrong.join(", ")}`);
  return config;
};
