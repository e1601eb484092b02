import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { loadScript } from "../../../../src/cli/emulator/script.ts";

const script = `
export default {
  onAnswer: () => ({ action: "gather", prompts: ["9?"], digits: 1, as: "stop", on: { 9: "stop" } }),
  steps: {
    stop: async ({ contact, campaign, variables }) => {
      await campaign.block(contact.to_number);
      await campaign.callBack(contact.to_number, new Date(0));
      await campaign.cancel();
      return { action: "say", prompts: [JSON.stringify({ ...contact, variables })] };
    },
  },
};`;

test("the file of a list's flow runs without a list: what it does with one is in the timeline", async () => {
  const folder = mkdtempSync(join(tmpdir(), "script-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "survey.mjs");
  writeFileSync(file, script);
  const notes: string[] = [];
  const { answer } = await loadScript(file, {
    service: undefined,
    note: (call_id, text) => notes.push(`${call_id} ${text}`),
    redirect: () => expect.fail("no machine is detected"),
    onError: (error) => expect.fail(String(error)),
  });
  const act = async (url: string, digits?: string) => {
    const call = {
      ...{ call_id: "cs_1", account_id: "acc_1", from_number: "+12025550199", digits },
      ...{ to_number: "+12025550100", direction: "outbound", actions: ["say", "gather"] },
    };
    const request = new Request(url, { method: "POST", body: JSON.stringify(call) });
    return JSON.parse(await (await answer(request)).text());
  };
  const { flow_url } = await act("https://emulator.test/sample/flow");
  const { prompts } = await act(flow_url, "9");
  const contact = { to_number: "+12025550100", variables: {}, attempt: 1 };
  expect(JSON.parse(prompts[0].text)).toEqual(contact);
  expect(notes).toEqual([
    "cs_1 campaign.note: stop = 9",
    "cs_1 campaign.block: +12025550100",
    "cs_1 campaign.callBack: +12025550100 at 1970-01-01T00:00:00.000Z",
    "cs_1 campaign.cancel",
  ]);
});
