import { expect, inject, test } from "vitest";
import { scenarios } from "../../src/emulator/index.ts";
import { type Asterisk, startAsterisk } from "./asterisk/asterisk.ts";
import { openProxy } from "./asterisk/proxy.ts";
import { applicationOf, from, openStage, pause, type Stage, to, until, urls } from "./stage.ts";

const second = "+12025550151";

/** An application that talks until the call is over, or connects the callee with another telephone. */
const talking = () =>
  applicationOf({
    "/flow": { action: "say", prompts: Array(5).fill({ pause_ms: 60_000 }) },
    "/dial": { action: "dial", to: second, timeout: 30 },
  });

/** Three calls: one rings, one talks, and one is connected with another telephone. */
const threeCalls = async ({ client, telephone, addTelephone }: Stage) => {
  const other = await addTelephone(second);
  const calls = [];
  for (const path of ["flow", "flow", "dial"]) {
    const ringing = telephone.next();
    const flow_url = `https://app.test/${path}`;
    const { id } = await client.calls.create({
      from_number: from,
      to_number: to,
      ...urls,
      flow_url,
    });
    const call = await ringing;
    call.ring();
    calls.push({ id, call });
  }
  const [ringing, talks, connected] = calls;
  if (!ringing || !talks || !connected) throw new Error("a call is missing");
  await talks.call.answer();
  const secondRings = other.next();
  await connected.call.answer();
  const answered = await secondRings;
  await answered.answer();
  await until(() => answered.packets.length > 0 && talks.call.packets.length > 0);
  return { ringing, talks, connected, answered };
};

/** Places a call, and returns whether it is refused as one that was not placed. */
const isRefused = async ({ client }: Stage): Promise<boolean> => {
  try {
    await client.calls.create({ from_number: from, to_number: to, ...urls });
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: 429, placed: "no" });
    return true;
  }
};

/** Waits until the exchange knows that it is alone: calls before that are not reached. */
const untilRefused = async (stage: Stage): Promise<void> => {
  while (!(await isRefused(stage))) await pause(50);
};

test("the emulator's numbers are like all others: their telephones ring", async () => {
  const app = applicationOf({ "/flow": { action: "hangup" } });
  const stage = await openStage({ fetch: app.fetch });
  stage.telephone.behave((call) => call.answer());
  const ended = await Promise.all(
    scenarios.map(async ({ to_number }) => {
      const { id } = await stage.client.calls.create({ from_number: from, to_number, ...urls });
      const { state, reason } = await stage.exchange.ended(id);
      return `${state} ${reason}`;
    }),
  );
  expect(new Set(ended)).toEqual(new Set(["completed normal"]));
  const called = stage.telephone.calls.map((call) => call.to);
  expect(called.sort()).toEqual(scenarios.map(({ to_number }) => to_number));
});

test("a call whose media socket is cut ends, and so does one whose telephone hung up while events were lost", async () => {
  const { asterisk, speech } = inject("exchange");
  const proxy = await openProxy(asterisk.url);
  const app = talking();
  const stage = await openStage(
    { fetch: app.fetch },
    { asterisk: { ...asterisk, url: proxy.url }, speech },
  );
  const { ringing, talks, connected, answered } = await threeCalls(stage);
  proxy.refuse(true);
  proxy.cut("/ari/events");
  await untilRefused(stage);
  answered.hangUp();
  ringing.call.refuse(486);
  // Nobody has seen how a telephone ended whose end nobody reported.
  proxy.refuse(false);
  const { state, reason } = await stage.exchange.ended(ringing.id);
  expect([state, reason]).toEqual(["failed", "lost"]);
  expect((await stage.exchange.ended(connected.id)).reason).toBe("normal");
  expect(await connected.call.ended).toBe("caller");
  expect(talks.call.isOver).toBe(false);
  proxy.cut("/media/");
  expect(await talks.call.ended).toBe("caller");
  expect((await stage.exchange.ended(talks.id)).reason).toBe("normal");
});

test("when Asterisk is killed every call ends with a final notification, others are refused as not placed, and it is found again", async () => {
  const { speech, installed } = inject("exchange");
  const first = await startAsterisk(installed);
  const app = talking();
  const stage = await openStage(
    { fetch: app.fetch, answerTimeout: 8_000 },
    { asterisk: first, speech },
  );
  let again: Asterisk | undefined;
  try {
    const { ringing, talks, connected } = await threeCalls(stage);
    first.process.kill("SIGKILL");
    const ended = await Promise.all([talks, connected].map(({ id }) => stage.exchange.ended(id)));
    expect(ended.map(({ state, reason }) => [state, reason])).toEqual([
      ["completed", "lost"],
      ["completed", "lost"],
    ]);
    await untilRefused(stage);
    // Nothing says any more how the telephone that rings has done.
    const { state, reason } = await stage.exchange.ended(ringing.id);
    expect([state, reason]).toEqual(["failed", "lost"]);
    const finals = app.events.filter(({ type }) => /completed|failed/.test(type));
    expect(finals.map(({ call_id }) => call_id).sort()).toEqual(
      [ringing, talks, connected].map(({ id }) => id).sort(),
    );
    again = await startAsterisk(installed, first);
    const rings = stage.telephone.next();
    while (await isRefused(stage)) await pause(100);
    (await rings).refuse(486);
  } finally {
    await first.stop();
    await again?.stop();
  }
});
