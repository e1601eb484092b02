import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { openCampaign, openLedger } from "../../src/campaigns/index.ts";
import { invoke } from "./cli.ts";
import { newFolder } from "./emulate.ts";

const secret = "a secret that was made at random";
const [first, second] = ["+13035551000", "+13035551001"];

/** A ledger of two contacts, of whom one is blocked. */
const ledgerOf = async (erased: boolean): Promise<string> => {
  const file = join(newFolder(), "people.outdial");
  const database = new DatabaseSync(file);
  const campaign = await openCampaign(database, {
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    ...{ secret, window: "always", create: async (_, __) => ({ id: "cs_1" }) },
  });
  await campaign.add([{ to_number: first }, { to_number: second }]);
  await campaign.block(first);
  if (erased) await campaign.erase(second);
  await campaign.close();
  database.close();
  return file;
};

it("outdial unblock takes numbers off the list, and keeps the reason in the ledger", async () => {
  const file = await ledgerOf(false);
  const args = ["unblock", file, "+1 303 555 1000", second, "--reason", "asked for it"];
  const ended = { code: 0, stdout: "1 unblocked, 1 not blocked\n", stderr: "" };
  expect(await invoke(args)).toEqual(ended);
  const database = new DatabaseSync(file);
  const ledger = openLedger(database);
  expect(ledger.progress()).toMatchObject({ waiting: 2, blocked: 0 });
  expect([...ledger.audit()]).toContainEqual(
    expect.objectContaining({ event: "unblocked", detail: "asked for it", contact: 1 }),
  );
  database.close();
});

it.each([
  [
    ["--reason", "asked"],
    { SIGNING_SECRET: secret },
    /[oO]ne of the people was erased .* nobody was unblocked/,
  ],
  [["--reason", "asked"], {}, /People were erased .* would not be recognized/],
  [[], {}, /--reason is missing/],
])(
  "outdial unblock %j is refused for who was erased, and needs a reason",
  async (more, env, why) => {
    const file = await ledgerOf(true);
    const { code, stdout, stderr } = await invoke(["unblock", file, first, second, ...more], env);
    expect(stderr).toMatch(why);
    expect([code, stdout]).toEqual([2, ""]);
  },
);

it.each([
  ["call", "asked", /each number must be E\.164|each number must be an E\.164/],
  [first, "by +13035551000", /--reason must be a line of 1 to 200 characters, without a telephone/],
])("outdial unblock of %s for %j says what is wrong", async (number, reason, why) => {
  const file = await ledgerOf(false);
  const { code, stderr } = await invoke(["unblock", file, number, "--reason", reason]);
  expect(stderr).toMatch(why);
  expect(stderr).toContain("None was unblocked");
  expect(code).toBe(2);
});
