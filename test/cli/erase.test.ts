import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { openCampaign, openLedger } from "../../src/campaigns/index.ts";
import { invoke } from "./cli.ts";
import { newFolder } from "./emulate.ts";

const secret = "a secret that was made at random";
const [first, second] = ["+13035551000", "+13035551001"];

const open = async (file: string) => {
  const database = new DatabaseSync(file);
  const campaign = await openCampaign(database, {
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    ...{ secret, window: "always", create: async (_, __) => ({ id: "cs_1" }) },
  });
  const close = async () => {
    await campaign.close();
    database.close();
  };
  return { campaign, close };
};

it("outdial erase leaves no byte of a number in the ledger, also while a process dials from it", async () => {
  const file = join(newFolder(), "people.outdial");
  const { campaign, close } = await open(file);
  await campaign.add([{ to_number: first, id: "Ada Lovelace" }, { to_number: second }]);
  const erased = await invoke(["erase", file, "+1 303 555 1000", "+13035551009"], {
    SIGNING_SECRET: secret,
  });
  expect(erased).toEqual({
    ...{ code: 0, stderr: "" },
    stdout: "1 erased, 1 not in the ledger: marked, and never called\n",
  });
  expect(campaign.progress()).toMatchObject({ waiting: 1, blocked: 1 });
  expect(await campaign.add([{ to_number: first }])).toMatchObject({ added: 0 });
  await close();
  const bytes = readFileSync(file, "latin1");
  for (const text of [first, "3035551000", "Ada", "3035551009"]) expect(bytes).not.toContain(text);
  expect(bytes).toContain(second);
});

it.each([
  [{}, [first], /SIGNING_SECRET is not set/],
  [{ SIGNING_SECRET: "too short" }, [first], /16 characters/],
  [{ SIGNING_SECRET: secret }, [first, "Ada"], /each number must be E\.164, and none was erased/],
  [{ SIGNING_SECRET: secret }, [], /<number…> is missing/],
])("outdial erase with %j and %j erases nobody", async (env, numbers, message) => {
  const file = join(newFolder(), "people.outdial");
  const { campaign, close } = await open(file);
  await campaign.add([{ to_number: first }]);
  await close();
  const { code, stderr } = await invoke(["erase", file, ...numbers], env);
  expect(stderr).toMatch(message);
  expect(code).toBe(2);
  const database = new DatabaseSync(file);
  expect([...openLedger(database).results()].map(({ to_number }) => to_number)).toEqual([first]);
  database.close();
});
