import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { openCampaign, openLedger } from "outdial/campaigns";

/** A list into a file, or out of it. */
export interface BookTold {
  /** Contacts a second. */
  readonly rate: number;
  /** The most that was resident, in bytes. */
  readonly resident: number;
}

const [, , way = "", file = "", contacts = ""] = process.argv;
const count = Number(contacts);

/** Telephones in no order: a step through all ten million numbers of an area, which meets each once. */
const numberOf = (index: number): string =>
  `+1${3_030_000_000 + ((index * 7_654_321) % 10_000_000)}`;

/** As a list in CSV gives them. */
const list = function* () {
  for (let index = 0; index < count; index++) {
    const variables = { name: "Ada" };
    yield { to_number: numberOf(index), id: `A-${index}`, variables, line: index + 2 };
  }
};

const database = new DatabaseSync(file);

const add = async (): Promise<number> => {
  const campaign = await openCampaign(database, {
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    secret: "a secret that was made at random",
    create: async () => ({ id: "cs_1" }),
    window: "always",
  });
  const { added } = await campaign.add(list());
  await campaign.close();
  return added;
};

const read = async (): Promise<number> => {
  let found = 0;
  for (const { to_number } of openLedger(database).results()) if (to_number) found++;
  return found;
};

const began = performance.now();
const done = await (way === "in" ? add() : read());
const took = performance.now() - began;
database.close();
if (done !== count) throw new Error(`${done} of ${count} ${way}`);
console.log(
  JSON.stringify({
    rate: (1000 * count) / took,
    resident: process.resourceUsage().maxRSS * 1024,
  } satisfies BookTold),
);
