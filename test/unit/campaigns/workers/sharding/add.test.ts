import { expect, it } from "vitest";
import type { Contact } from "../../../../../src/campaigns/index.ts";
import { addTo } from "../../../../../src/campaigns/workers/sharding/add.ts";
import { people } from "../../stage.ts";

it("what came before the list broke is sent to its shards", async () => {
  const sent: Contact[] = [];
  const list = function* () {
    yield* people(2_500);
    throw new Error("the upload was cut");
  };
  const adding = addTo(list(), 2, async (_, page) => {
    sent.push(...page);
    return { added: page.length, duplicate: 0, refused: [] };
  });
  await expect(adding).rejects.toThrow("was cut");
  expect(sent).toHaveLength(2_500);
});
