import { connectAgent, tones } from "outdial/agents";
import { RefusedException, verifyUrl } from "outdial/callbacks";
import type { Context } from "outdial/flows";
import { createAgent } from "../bridge/config.ts";
import { type Config, readConfig } from "./config.ts";
import type { Objects } from "./directory.ts";
import { refuse } from "./response.ts";

/** The parts of a Durable Object's storage that are used. */
interface Storage {
  get<T>(key: string): Promise<T | undefined>;
  put(key: string, value: unknown): Promise<void>;
  setAlarm(at: number): Promise<void>;
  deleteAll(): Promise<void>;
}

/** Milliseconds until the object is deleted: longer than its URL is valid. */
const remembered = 120_000;

/** Reasons that are not a problem. */
const goodEnds: ReadonlySet<string> = new Set(["hung_up", "agent_hung_up", "agent_ended", "left"]);

const report = (error: unknown): void =>
  console.error(Object(error).name, Object(error).message ?? error);

/** The instructions, with the variables of the contact. */
const instructionsFor = (instructions: string, { variables }: Context): string => {
  const facts = Object.entries(Object(variables)).map(([name, value]) => `${name}: ${value}`);
  return facts.length > 0
    ? `${instructions} About the callee you know: ${facts.join("; ")}.`
    : instructions;
};

/** One call with its agent. Only the Worker can reach it. */
export class Talk {
  readonly #storage: Storage;
  readonly #config: Config;

  constructor({ storage }: { readonly storage: Storage }, env: Readonly<Record<string, unknown>>) {
    this.#storage = storage;
    this.#config = readConfig({ ...env });
  }

  async fetch(request: Request): Promise<Response> {
    const { secret, agent, maxDuration } = this.#config;
    if (!agent || (await this.#storage.get("taken"))) return refuse(409, "connected_before");
    await this.#storage.put("taken", true);
    await this.#storage.setAlarm(Date.now() + remembered);
    const context = await verifyUrl(request.url, { secret });
    const instructions = instructionsFor(agent.AGENT_INSTRUCTIONS, context);
    const { 0: client, 1: socket } = new WebSocketPair();
    socket.accept();
    connectAgent(socket, createAgent({ ...agent, AGENT_INSTRUCTIONS: instructions }), {
      maxDuration,
      ...(agent.PRESS_KEYS && { press: tones }),
      agentTimeout: 5_000, // The callee is waiting.
      onEnd: ({ reason }) => goodEnds.has(reason) || console.error(`A talk has ended: ${reason}`),
      onError: report,
    });
    return new Response(null, { status: 101, webSocket: client });
  }

  alarm(): Promise<void> {
    return this.#storage.deleteAll();
  }
}

/** Passes the audio of a call to its object. Everything is checked before the upgrade. */
export const createMedia =
  ({ secret }: Config, talks: Objects) =>
  async (request: Request): Promise<Response> => {
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
      return refuse(426, "upgrade_required", { Upgrade: "websocket" });
    }
    try {
      const { campaign, contact, attempt } = await verifyUrl(request.url, { secret });
      return talks.get(talks.idFromName(`${campaign}/${contact}/${attempt}`)).fetch(request);
    } catch (error) {
      report(error);
      return refuse(error instanceof RefusedException ? error.status : 500, "refused");
    }
  };
