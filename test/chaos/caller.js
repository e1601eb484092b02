// One process of a ledger's life, on Node, Deno or Bun: `caller.js <action> <ledger> <log> <contacts>`.
import { appendFileSync } from "node:fs";
import process from "node:process";
import { openCampaign, openLedger } from "../../dist/campaigns/index.js";

const [, , action, file, log, contacts] = process.argv;
const isBun = "Bun" in globalThis;
const { DatabaseSync } = isBun ? {} : await import("node:sqlite");
const { Database } = isBun ? await import("bun:sqlite") : { Database: DatabaseSync };

const numberOf = (index) => `+1202555${String(index).padStart(4, "0")}`;
const list = Array.from({ length: Number(contacts) }, (_, index) => ({
  to_number: numberOf(index),
}));
const database = new Database(file);

const open = () =>
  openCampaign(database, {
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    secret: "a secret that was made at random",
    create: async ({ to_number }) => {
      appendFileSync(log, `${to_number}\n`);
      return { id: "cs_1" };
    },
    notified: false,
    settleTimeout: 1_000, // of claims that a killed process left
    rate: 400,
    window: "always",
  });

const actions = {
  /** Adds the list and closes. */
  add: async () => {
    const campaign = await open();
    await campaign.add(list);
    await campaign.close();
  },
  /** Calls everybody, unless it is killed before. */
  call: async () => {
    const campaign = await open();
    await campaign.add(list);
    await campaign.run();
    await campaign.close();
  },
  /** Blocks the first number, and is killed without closing anything. */
  block: async () => {
    await openLedger(database).block(numberOf(0));
    process.kill(process.pid, "SIGKILL");
  },
  /** Reads results again and again, as a database browser does. */
  read: async () => {
    const ledger = openLedger(database);
    for (;;) {
      for (const _ of ledger.results());
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  },
  /** Looks once, as `--dry-run` does. */
  look: async () => {
    console.log(openLedger(database).progress().contacts);
  },
};

try {
  await actions[action]();
} catch (error) {
  console.log(error.reason ?? error.message);
  process.exitCode = 1;
}
