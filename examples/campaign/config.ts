import * as v from "valibot";
import { callersSchema, count } from "../bridge/callers.ts";
import {
  agentVariables,
  e164,
  flag,
  origin,
  readVariables,
  seconds,
  secrets,
  text,
} from "../bridge/config.ts";

const Variables = v.object({
  OUTDIAL_API_KEY: text,
  OUTDIAL_BASE_URL: text,
  FROM_NUMBER: e164,
  PUBLIC_URL: origin,
  SIGNING_SECRET: secrets,
  WEBHOOK_SECRET: v.optional(text),
  CALLERS: callersSchema({
    /** Calls per second of one campaign. */
    rate: v.pipe(v.number(), v.gtValue(0)),
    /** Calls per day of one campaign. */
    per_day: count,
    /** Campaigns in any 24 hours. With `per_day` it limits what a stolen token can cost. */
    campaigns: count,
  }),
  RECORD: v.optional(flag, "false"),
  MAX_CALL_SECONDS: v.optional(seconds, "600"),
  MESSAGE_URL: v.optional(text),
  QUESTION: v.optional(text),
  AGENT: v.optional(v.picklist(["none", ...agentVariables.AGENT.options]), "none"),
});

const Agent = v.object(agentVariables);

/** What the Worker needs to know. */
export interface Config extends ReturnType<typeof readConfig> {}

/** Somebody who may call lists: one of your systems, or a person at the page. */
export type Caller = Config["callers"][number];

/** @throws an error that names every variable that is missing or wrong, and never a value */
export const readConfig = (environment: Readonly<Record<string, unknown>>) => {
  const variables = readVariables(Variables, environment);
  return {
    apiKey: variables.OUTDIAL_API_KEY,
    baseUrl: variables.OUTDIAL_BASE_URL,
    fromNumber: variables.FROM_NUMBER,
    /** Where the service reaches the Worker. Never taken from a request: anyone can write its `Host`. */
    publicUrl: variables.PUBLIC_URL,
    secret: variables.SIGNING_SECRET,
    webhookSecret: variables.WEBHOOK_SECRET,
    callers: variables.CALLERS,
    record: variables.RECORD,
    /** Talks with whoever answers; without one, the message is played. */
    agent: variables.AGENT === "none" ? undefined : readVariables(Agent, environment),
    maxDuration: variables.MAX_CALL_SECONDS,
    /** Played to whoever answers; without one, the call ends. */
    messageUrl: variables.MESSAGE_URL,
    /** Spoken to whoever answers, who presses a key; in the place of an agent and a message. */
    question: variables.QUESTION,
  };
};
