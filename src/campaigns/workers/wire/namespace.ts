import type { Answers, Asks } from "./protocol.ts";
import { refuse } from "./refusal.ts";

/** A way to one shard, as `get` of a namespace gives it. */
export interface ShardStub {
  /** Asks the object. */
  fetch(request: Request): Promise<Response>;
}

/** The namespace of the shards, as the Worker's binding gives it (`env.SHARDS`). */
export interface ShardNamespace {
  /** The id of the object with a name. */
  idFromName(name: string): unknown;
  /** A way to the object with an id. */
  get(id: unknown): ShardStub;
}

/** Sends a question to a shard; only the Worker's own code can. */
export const send = async (
  namespace: ShardNamespace,
  name: string,
  what: string,
  body: unknown,
): Promise<Response> => {
  const stub = namespace.get(namespace.idFromName(name));
  const init = { method: "POST", body: JSON.stringify(body ?? null) };
  const response = await stub.fetch(new Request(`https://shard/${what}`, init));
  return response.ok ? response : refuse(response);
};

/** Asks a shard for something, and gives its answer. */
export const ask = async <What extends keyof Asks>(
  namespace: ShardNamespace,
  name: string,
  what: What,
  body: Asks[What],
): Promise<Answers[What]> => (await send(namespace, name, what, body)).json();
