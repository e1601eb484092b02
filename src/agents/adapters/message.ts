import type { Frame } from "../agent.ts";
import { AgentException } from "../exception.ts";

/** A message of an agent: nothing about it is certain. */
export type Message = Readonly<Record<string, unknown>>;

const isMessage = (value: unknown): value is Message =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The object that a frame is, in JSON.
 *
 * @throws {AgentException} without the content
 */
export const messageIn = (frame: Frame): Message => {
  try {
    const message: unknown = typeof frame === "string" && JSON.parse(frame);
    if (isMessage(message)) return message;
  } catch {
    // Told below: the parser's own error quotes it.
  }
  throw new AgentException("agent_malformed");
};

/** An object within a message; an empty one where there is none. */
export const part = (message: Message, name: string): Message => {
  const value = message[name];
  return isMessage(value) ? value : {};
};

/** A text within a message; an empty one where there is none. */
export const text = (message: Message, name: string): string => {
  const value = message[name];
  return typeof value === "string" ? value : "";
};

/** One message, as it is sent. */
export const frameOf = (message: object): Frame => JSON.stringify(message);
