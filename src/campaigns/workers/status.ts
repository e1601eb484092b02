import { type CallbackOptions, callbackHandler } from "../../callbacks/handler.ts";
import { ask, type ShardNamespace } from "./wire/namespace.ts";

/**
 * Makes the handler of a sharded campaign's notifications: it answers `<status_callback_url>/<id>/<shard>`.
 * The path is signed, so a notification reaches the shard that placed the call and no other.
 *
 * @param namespace - the binding of the class that extends `CampaignShard`
 * @param options - how to know the service, as for `callbackHandler`: the `secret` is the shards' own;
 * `onError` hears of what is refused or fails
 * @returns a function from a request to its answer: 204, a refusal, or 500, so that the service delivers
 * again
 *
 * @example Take in what is told of the calls
 * ```ts
 * import { type ShardNamespace, statusHandler } from "outdial/campaigns/workers";
 *
 * export default {
 *   fetch: (request: Request, env: { SHARDS: ShardNamespace; SECRET: string }): Promise<Response> =>
 *     statusHandler(env.SHARDS, { secret: env.SECRET, onError: console.error })(request),
 * };
 * ```
 */
export const statusHandler =
  (
    namespace: ShardNamespace,
    options: Omit<CallbackOptions, "onEvent"> & Required<Pick<CallbackOptions, "secret">>,
  ): ((request: Request) => Promise<Response>) =>
  (request) => {
    const [shard, id] = new URL(request.url).pathname.split("/").reverse();
    const name = `${id}/${shard}`;
    return callbackHandler({
      ...options,
      onEvent: (received) => ask(namespace, name, "note", received),
    })(request);
  };
