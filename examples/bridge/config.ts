import {
  type Agent,
  azure,
  deepgram,
  elevenlabs,
  gemini,
  gptLive,
  leaveVoicemail,
  openaiRealtime,
  pressKeys,
  type Tools,
  transferTo,
  xai,
} from "outdial/agents";
import type { Dial } from "outdial/flows";
import * as v from "valibot";
import { callersSchema, count } from "./callers.ts";

export const text = v.pipe(v.string(), v.nonEmpty());

export const flag = v.pipe(
  v.picklist(["true", "false"]),
  v.transform((value) => value === "true"),
);

/** Seconds, up to a day; milliseconds in the program. */
export const seconds = v.pipe(
  v.string(),
  v.regex(/^\d+(\.\d+)?$/),
  v.transform((value) => Number(value) * 1000),
  v.gtValue(0),
  v.maxValue(86_400_000),
);

/** Secrets of 32 characters or more. The first one signs, all of them verify: `new,old`. */
export const secrets = v.pipe(
  text,
  v.transform((list) => list.split(",")),
  v.array(v.pipe(v.string(), v.minLength(32))),
);

/** An https origin, without a path; http only on loopback. */
export const origin = v.pipe(
  v.string(),
  v.url(),
  v.transform((url) => new URL(url)),
  v.check(({ origin, href }) => href === `${origin}/`),
  v.check(
    ({ protocol, hostname }) =>
      protocol === "https:" ||
      (protocol === "http:" && ["localhost", "127.0.0.1"].includes(hostname)),
  ),
  v.transform(({ origin }) => origin),
);

export const e164 = v.pipe(v.string(), v.regex(/^\+[1-9]\d{6,14}$/));

/** The variables that choose the agent. */
export const agentVariables = {
  AGENT: v.picklist(["openai", "gpt-live", "elevenlabs", "deepgram", "gemini", "xai", "azure"]),
  AGENT_KEY: text,
  AGENT_ID: v.optional(v.string(), ""),
  AGENT_URL: v.optional(v.string()),
  AGENT_MODEL: v.optional(text),
  AGENT_INSTRUCTIONS: v.optional(v.string(), ""),
  RECORD: v.optional(flag, "false"),
  VOICEMAIL_MESSAGE: v.optional(text),
  PRESS_KEYS: v.optional(flag, "false"),
  TRANSFER_TO: v.optional(e164),
};

export type AgentVariables = v.InferOutput<v.ObjectSchema<typeof agentVariables, undefined>>;

/** Where calls continue that the agent has transferred, by the bridge's id. */
export type Transfers = Map<string, Dial>;

/** The tools that the variables ask for. An agent that is configured at its service needs them there, too. */
const toolsOf = (
  variables: AgentVariables,
  greeting: string,
  transfers: Transfers | undefined,
): Tools => {
  const { VOICEMAIL_MESSAGE: text, PRESS_KEYS, TRANSFER_TO: to } = variables;
  return {
    // What is recorded says first, too, that it is a machine.
    ...(text && { leave_voicemail: leaveVoicemail({ message: `${greeting} ${text}` }) }),
    ...(PRESS_KEYS && { press_keys: pressKeys({ most: 8 }) }),
    ...(to &&
      transfers && {
        transfer: transferTo(
          { person: { to, timeout: 30 } },
          { decide: (_, action, { id }) => transfers.set(String(id), action) },
        ),
      }),
  };
};

/** Every agent says first that it is a machine, and whether the call is recorded. */
export const createAgent = (variables: AgentVariables, transfers?: Transfers): Agent => {
  const { AGENT, AGENT_KEY: apiKey, AGENT_ID: agentId, AGENT_URL: url } = variables;
  const { AGENT_INSTRUCTIONS, AGENT_MODEL, RECORD } = variables;
  const greeting = `Hello, I am a machine. This call is ${RECORD ? "" : "not "}being recorded.`;
  const tools = toolsOf(variables, greeting, transfers);
  const instructions =
    `You are on a telephone call that you have placed. Say first, word for word: "${greeting}" ` +
    `Answer in one or two short sentences. Say goodbye and hang up when you are done. ${AGENT_INSTRUCTIONS}`;
  switch (AGENT) {
    case "openai":
      return openaiRealtime({ apiKey, url, instructions, tools });
    case "gpt-live":
      return gptLive({ apiKey, url, instructions, tools });
    case "xai":
      return xai({ apiKey, url, instructions, greeting, tools });
    case "azure":
      if (!url || !AGENT_MODEL) throw new Error("Missing or wrong: AGENT_URL, AGENT_MODEL");
      return azure({ apiKey, url, model: AGENT_MODEL, instructions, tools });
    case "gemini":
      return gemini({ apiKey, url, instructions, tools });
    case "deepgram":
      return deepgram({ apiKey, url, instructions, greeting, tools });
    case "elevenlabs": // Its settings at the service must allow both to be overridden.
      return elevenlabs({
        ...{ apiKey, url, agentId, greeting, tools },
        instructions: AGENT_INSTRUCTIONS || undefined,
      });
  }
};

/**
 * Reads variables out of an environment. An empty one counts as missing.
 *
 * @throws an error that names every variable that is missing or wrong, and never a value
 */
export const readVariables = <Schema extends v.GenericSchema>(
  schema: Schema,
  environment: Readonly<Record<string, unknown>>,
): v.InferOutput<Schema> => {
  const set = Object.entries(environment).filter(([, value]) => value !== "");
  const { success, output, issues } = v.safeParse(schema, Object.fromEntries(set));
  if (success) return output;
  const names = new Set(issues.map(({ path }) => path?.[0]?.key));
  throw new Error(`Missing or wrong: ${[...names].join(", ")}`);
};

const Variables = v.object({
  OUTDIAL_API_KEY: text,
  OUTDIAL_BASE_URL: text,
  FROM_NUMBER: e164,
  PUBLIC_URL: origin,
  BRIDGE_SECRET: secrets,
  WEBHOOK_SECRET: v.optional(text),
  CALLERS: callersSchema({ per_minute: count, per_day: count }),
  ...agentVariables,
  AGENT_TIMEOUT_SECONDS: v.optional(seconds, "5"),
  IDLE_SECONDS: v.optional(seconds, "10"),
  MAX_CALL_SECONDS: v.optional(seconds, "600"),
});

/** What the bridge needs to know. */
export interface Config extends ReturnType<typeof readConfig> {}

/** Somebody who may place calls through the bridge: one of your systems, or a person. */
export type Caller = Config["callers"][number];

/** @throws an error that names every variable that is missing or wrong */
export const readConfig = (environment: Readonly<Record<string, unknown>>) => {
  const variables = readVariables(Variables, environment);
  const transfers: Transfers = new Map();
  return {
    transfers,
    pressKeys: variables.PRESS_KEYS,
    apiKey: variables.OUTDIAL_API_KEY,
    baseUrl: variables.OUTDIAL_BASE_URL,
    fromNumber: variables.FROM_NUMBER,
    /** Where the service reaches the bridge. Never taken from a request: anyone can write its `Host`. */
    publicUrl: variables.PUBLIC_URL,
    secret: variables.BRIDGE_SECRET,
    webhookSecret: variables.WEBHOOK_SECRET,
    callers: variables.CALLERS,
    record: variables.RECORD,
    agent: createAgent(variables, transfers),
    agentTimeout: variables.AGENT_TIMEOUT_SECONDS,
    idleTimeout: variables.IDLE_SECONDS,
    maxDuration: variables.MAX_CALL_SECONDS,
  };
};
