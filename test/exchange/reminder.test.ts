import { expect, test } from "vitest";
import { applicationOf, from, openStage, spoken, to, until, urls } from "./stage.ts";
import { find, heard } from "./telephone/ear.ts";

const question = "Your appointment is tomorrow at nine. Press one to confirm.";
const thanks = "Thank you. Goodbye.";

const reminder = () =>
  applicationOf({
    "/flow": {
      action: "gather",
      prompts: [{ text: question }],
      digits: 1,
      timeout_ms: 5_000,
      flow_url: "https://app.test/key",
    },
    "/key": { action: "say", prompts: [{ text: thanks }] },
  });

test("a reminder is heard, a key is pressed, and the answer to it is heard to its end", async () => {
  const app = reminder();
  const { client, exchange, telephone } = await openStage({ fetch: app.fetch });
  const ringing = telephone.next();
  const { id } = await client.calls.create({ from_number: from, to_number: to, ...urls });
  const call = await ringing;
  expect([call.to, call.from]).toEqual([to, from]);
  call.ring();
  await call.answer();
  const [asked, thanked] = await Promise.all([spoken(question), spoken(thanks)]);
  await until(() => call.packets.length * 160 > asked.length + 4_000);
  await call.press("1");
  expect(await call.ended).toBe("caller");
  const sound = heard(call.packets, call.answeredAt);
  const first = find(asked, sound);
  const second = find(thanked, sound);
  expect(first.correlation).toBeGreaterThan(0.99);
  expect(second.correlation).toBeGreaterThan(0.99);
  expect(second.at).toBeGreaterThan(first.at);
  // Nothing of the last word is cut off.
  expect(second.at * 8 + thanked.length).toBeLessThanOrEqual(sound.length);
  const { state, reason } = await exchange.ended(id);
  expect([state, reason]).toEqual(["completed", "normal"]);
  expect(app.events.map(({ type }) => type)).toEqual([
    "call.initiated",
    "call.ringing",
    "call.answered",
    "call.completed",
  ]);
  expect(app.asked.map(({ path, fields }) => [path, fields.digits])).toEqual([
    ["/flow", undefined],
    ["/key", "1"],
  ]);
});

test("a key interrupts the question", async () => {
  const app = reminder();
  const { client, telephone } = await openStage({ fetch: app.fetch });
  const ringing = telephone.next();
  await client.calls.create({ from_number: from, to_number: to, ...urls });
  const call = await ringing;
  await call.answer();
  await until(() => call.packets.length > 60);
  await call.press("1");
  await call.ended;
  const sound = heard(call.packets, call.answeredAt);
  const [asked, thanked] = await Promise.all([spoken(question), spoken(thanks)]);
  const { at, correlation } = find(thanked, sound);
  expect(correlation).toBeGreaterThan(0.99);
  expect(at).toBeLessThan((asked.length * 1_000) / 8_000);
});
