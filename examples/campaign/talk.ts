import { connectAgent } from "outdial/agents";
import { RefusedException, verifyUrl } from "outdial/callbacks";
import type { Context } from "outdial/flows";
import { refuse } from "../bridge/answer.ts";
import { speechAgent } from "../bridge/speech.ts";
import { type Config, configIn } from "./config.ts";
import type { Objects } from "./directory.ts";

/** As much of a Durable Object's storage as is needed. */
interface Storage {
  get<T>(key: string): Promise<T | undefined>;
  put(key: string, value: unknown): Promise<void>;
  setAlarm(at: number): Promise<void>;
  deleteAll(): Promise<void>;
}

/** Milliseconds that a talk is remembered: longer than the URL of its audio is good for. */
const remembered = 120_000;

/** Reasons for which nobody is to blame. */
const fine: ReadonlySet<string> = new Set(["hung_up", "agent_hung_up", "agent_ended"]);

const report = (error: unknown): void =>
  console.error(Object(error).name, Object(error).message ?? error);

/** What the agent is to do, and what the list says of whom it talks with. */
const instructionsFor = (instructions: string, { variables }: Context): string => {
  const facts = Object.entries(Object(variables)).map(([name, value]) => `${name}: ${value}`);
  return facts.length > 0
    ? `${instructions} Of the person you know: ${facts.join("; ")}.`
    : instructions;
};

/** One call, with its agent. Only the Worker reaches it. */
export class Talk {
  readonly #storage: Storage;
  readonly #config: Config;

  constructor({ storage }: { readonly storage: Storage }, env: Readonly<Record<string, unknown>>) {
    this.#storage = storage;
    this.#config = configIn(env);
  }

  async fetch(request: Request): Promise<Response> {
    const { secret, speech, longest } = this.#config;
    if (!speech || (await this.#storage.get("taken"))) return refuse(409, "connected_before");
    await this.#storage.put("taken", true);
    await this.#storage.setAlarm(Date.now() + remembered);
    const context = await verifyUrl(request.url, { secret });
    const instructions = instructionsFor(speech.instructions, context);
    const { 0: client, 1: socket } = new WebSocketPair();
    socket.accept();
    connectAgent(socket, speechAgent({ ...speech, instructions }), {
      longest,
      agentWithin: 5, // A person is waiting.
      onEnd: ({ reason }) => fine.has(reason) || console.error(`A talk has ended: ${reason}`),
      onError: report,
    });
    return new Response(null, { status: 101, webSocket: client });
  }

  /** Forgets the call. */
  alarm(): Promise<void> {
    return this.#storage.deleteAll();
  }
}

/** Gives the audio of a call to its object. Everything is checked before: a stranger gets no socket. */
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
