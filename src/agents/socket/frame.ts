import type { AgentEvent, Frame } from "../agent.ts";
import { AgentException } from "../exception.ts";

/** The longest message that is looked at: more than a minute of audio. */
const longest = 2 ** 23;

/** The longest name that an agent may give to anything, in characters. */
const longestName = 1000;

/**
 * What came on a socket, as an agent's codec takes it.
 *
 * @throws {AgentException} without the content
 */
export const frameIn = (data: unknown): Frame => {
  if (typeof data === "string" && data.length <= longest) return data;
  if (data instanceof ArrayBuffer && data.byteLength <= longest) return new Uint8Array(data);
  throw new AgentException("agent_malformed");
};

/**
 * An event as it is.
 *
 * @throws {AgentException} when it has a name that would be a burden to remember
 */
export const checked = (event: AgentEvent): AgentEvent => {
  for (const name of ["item", "turn", "id", "name"]) {
    if (Object(Reflect.get(event, name)).length > longestName) {
      throw new AgentException("agent_malformed");
    }
  }
  return event;
};
