import { listOf, numbersOf } from "../../campaign/csv.ts";
import { startWorker } from "../../campaign/worker.ts";

/** How fast a campaign Worker is, in contacts and calls a second. */
export interface ShardsTold {
  readonly shards: number;
  readonly added: number;
  readonly called: number;
}

/** Calls a list out of one shard, and out of four. */
export const dialFromShards = async (
  baseUrl: string,
  contacts: number,
): Promise<readonly ShardsTold[]> => {
  const worker = await startWorker({ baseUrl, apiKey: "ak_measure" });
  const ask = async (...asked: Parameters<typeof worker.ask>) =>
    (await worker.ask(...asked)).json();
  const told: ShardsTold[] = [];
  const perSecond = (milliseconds: number): number => (1000 * contacts) / milliseconds;
  try {
    for (const shards of [1, 4]) {
      const plan = { rate: 5_000, concurrency: 1_000_000, window: "always", shards };
      const { id } = await ask("POST", "/campaigns", plan);
      const began = performance.now();
      await ask("PUT", `/campaigns/${id}/contacts`, listOf(numbersOf(contacts)));
      const added = performance.now();
      await ask("POST", `/campaigns/${id}/start`);
      for (let waiting = contacts; waiting > 0; ) {
        await new Promise((resolve) => setTimeout(resolve, 50));
        ({ waiting } = await ask("GET", `/campaigns/${id}/progress`));
      }
      const ended = performance.now();
      told.push({ shards, added: perSecond(added - began), called: perSecond(ended - added) });
    }
  } finally {
    await worker.close();
  }
  return told;
};
