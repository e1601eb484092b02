import { utf8 } from "../../../bytes/utf8.ts";

/**
 * Which shard a telephone belongs to: the same one for ever, so that its claims have one home. It is
 * FNV-1a over the number's bytes, modulo the shards.
 *
 * @param to_number - E.164
 * @param shards - how many there are
 * @returns from 0
 *
 * @example Find a telephone's shard
 * ```ts
 * import { shardOf } from "outdial/campaigns/workers";
 *
 * console.log(shardOf("+12025550100", 4)); // 3
 * ```
 */
export const shardOf = (to_number: string, shards: number): number => {
  const hash = utf8(to_number).reduce(
    (so_far, byte) => Math.imul(so_far ^ byte, 0x01000193),
    0x811c9dc5,
  );
  return (hash >>> 0) % shards;
};
