import { fail, isKey, isPage, isRecord, isText } from "../../lib/check.ts";
import {
  booleanRule,
  checkOptions,
  type OptionRules,
  objectRule,
  type Rule,
} from "../../lib/rules.ts";
import { routeOf } from "../../lib/url.ts";
import type { ApiKey } from "../../options.ts";
import type { AgentAbilities, AgentEvent, AgentMessage, Codec, Tools } from "../agent.ts";
import { AgentException } from "../problems.ts";
import { checkTools } from "../tools.ts";

/** The options that every adapter has. */
export interface AgentOptions {
  /** The agent's key, or a function that returns it, called once a call. */
  readonly apiKey: ApiKey;
  /** The endpoint, if it isn't the usual one: a gateway, or a scripted agent in a test. */
  readonly url?: string | undefined;
  /**
   * Allows a key in a web page, where every visitor can read it.
   *
   * @defaultValue `false`
   */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
}

export const textOrFalse: Rule = [
  (value) => value === false || isText(value),
  "must be a string or false",
];

/** The rules of the options that every adapter has. */
const agentRules: OptionRules<AgentOptions & { readonly tools?: Tools | undefined }> = {
  apiKey: [
    (value) => typeof value === "function" || isKey(value),
    "must be a legal header value, or a function: is the environment variable set?",
  ],
  url: [(value) => !!routeOf(value, "ws"), "must be a wss URL; ws on loopback only"],
  dangerouslyAllowBrowser: booleanRule,
  tools: objectRule,
};

/**
 * Checks the options of an adapter.
 *
 * @param rules - of the options that other adapters don't have
 * @throws {BadParametersException} (`placed: "no"`: this places no call) that names the option, never its value
 */
export const checkAgentOptions = <Options extends AgentOptions>(
  options: Options & { readonly tools?: Tools | undefined },
  rules: OptionRules<Omit<Options, keyof typeof agentRules>> & Partial<typeof agentRules>,
): void => {
  checkOptions(options, { ...agentRules, ...rules });
  if (options.apiKey === undefined) fail("apiKey", "is missing");
  checkTools(options.tools);
  if (isPage() && options.dangerouslyAllowBrowser !== true) {
    fail("dangerouslyAllowBrowser", "must be true in a web page, where everyone can read the key");
  }
};

/** What an agent can, by the functions of its codec. */
export const abilitiesOf = (codec: Codec): AgentAbilities => ({
  say: !!codec.say,
  reply: !!codec.reply,
  addContext: !!codec.addContext,
  setInstructions: !!codec.setInstructions,
  cancel: !!codec.cancel,
});

/** The key of this call. */
export const keyOf = async ({ apiKey }: AgentOptions): Promise<string> => {
  const key = typeof apiKey === "function" ? await apiKey() : apiKey;
  return isKey(key) ? key : fail("apiKey", "must return a legal header value");
};

/** A parsed message: nothing about it is certain. */
export type Fields = Readonly<Record<string, unknown>>;

/** Decoders of messages by their type. Other messages are ignored. */
export type Decoders = Readonly<Record<string, (message: Fields) => readonly AgentEvent[]>>;

/**
 * Parses a message in JSON.
 *
 * @throws {AgentException} without the content
 */
export const parseMessage = (message: AgentMessage): Fields => {
  try {
    const parsed: unknown = isText(message) && JSON.parse(message);
    if (isRecord(parsed)) return parsed;
  } catch {
    // Thrown below: the parser's own error quotes the content.
  }
  throw new AgentException("agent_malformed");
};

/** Decodes a message by its type. */
export const decodeBy = (
  decoders: Decoders,
  fields: Fields,
  type: string = textOf(fields, "type"),
): readonly AgentEvent[] => (Object.hasOwn(decoders, type) ? (decoders[type]?.(fields) ?? []) : []);

/** An object within a message; an empty one where there is none. */
export const partOf = (fields: Fields, name: string): Fields => {
  const value = fields[name];
  return isRecord(value) ? value : {};
};

/** The objects in a list within a message, or the object in its place. */
export const objectsIn = (value: unknown): readonly Fields[] => [value].flat().filter(isRecord);

/** A text within a message; an empty one where there is none. */
export const textOf = (fields: Fields, name: string): string => {
  const value = fields[name];
  return isText(value) ? value : "";
};

/** A message in JSON. */
export const toMessage = (fields: object): AgentMessage => JSON.stringify(fields);

/** Instructions for one response, where a service has only messages of the user. */
export const asUser = (instructions = "Continue."): string => `[instruction] ${instructions}`;

/** The tool call in an item of a response, if it is one that the model has finished. */
export const toolCallIn = (item: Fields, response: string | undefined): readonly AgentEvent[] => {
  const { type, status = "completed", arguments: args } = item;
  if (type !== "function_call" || status !== "completed") return [];
  const [id, name] = [textOf(item, "call_id"), textOf(item, "name")];
  return [{ type: "tool", id, name, arguments: args, response }];
};
