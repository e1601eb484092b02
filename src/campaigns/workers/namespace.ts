import { BadParametersException } from "../../errors.ts";
import { LedgerException, type LedgerReason } from "../ledger-exception.ts";
import type { Answers, Asks } from "./protocol.ts";

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

const isReason = (value: unknown): value is LedgerReason => typeof value === "string";

/**
 * Throws what a shard has thrown.
 *
 * @throws {BadParametersException} when it was asked for something against the rules
 * @throws {LedgerException} when its ledger can't be used, or there is none
 */
const refuse = async (response: Response): Promise<never> => {
  const { issues, reason } = await response.json();
  if (issues) throw new BadParametersException(issues);
  if (isReason(reason)) throw new LedgerException(reason);
  throw new Error(`A shard has answered ${response.status}`);
};

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
