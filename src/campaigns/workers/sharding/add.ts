import type { Added } from "../../contacts/add.ts";
import type { Contact, RefusedContact } from "../../contacts/contact.ts";
import { shardOf } from "./number.ts";

/** How many contacts a shard is sent at once. */
const most = 1_000;

/** Gives each contact to the shard of its number, a page at a time: they are never all in memory. */
export const addTo = async (
  contacts: Iterable<Contact> | AsyncIterable<Contact>,
  shards: number,
  send: (shard: number, page: readonly Contact[]) => Promise<Added>,
): Promise<Added> => {
  const pages: Contact[][] = Array.from({ length: shards }, () => []);
  const refused: RefusedContact[] = [];
  let added = 0;
  let duplicate = 0;
  let count = 0;
  const flush = async (shard: number): Promise<void> => {
    const page = pages[shard]?.splice(0) ?? [];
    if (page.length === 0) return;
    const answer = await send(shard, page);
    added += answer.added;
    duplicate += answer.duplicate;
    refused.push(...answer.refused);
  };
  try {
    for await (const contact of contacts) {
      const { to_number, line = ++count } = contact;
      const shard = shardOf(String(to_number), shards);
      const page = pages[shard];
      page?.push({ ...contact, line });
      if (page && page.length >= most) await flush(shard);
    }
  } finally {
    // Also what came before the list broke.
    await Promise.all(pages.map((_, shard) => flush(shard)));
  }
  return { added, duplicate, refused: refused.sort((one, other) => one.line - other.line) };
};
