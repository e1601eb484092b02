import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { type Asterisk, startAsterisk } from "./asterisk/asterisk.ts";
import { timedFiles } from "./asterisk/pjsip.ts";
import { applicationOf, openStage, placeCall, type Stage, until } from "./stage.ts";
import type { Answering } from "./telephone/telephone.ts";

/** The interval that the exchange proposes, in seconds: the least that there is. */
const interval = 90;

let asterisk: Asterisk;

const start = () => startAsterisk(inject("exchange").installed, undefined, timedFiles);

beforeAll(async () => {
  asterisk = await start();
});

afterAll(() => asterisk?.stop());

const openTimed = (fetch: (request: Request) => Promise<Response>, timed = asterisk) =>
  openStage({ fetch }, { asterisk: timed, speech: inject("exchange").speech });

/** An application that is quiet until the call is over. */
const quiet = () =>
  applicationOf({ "/flow": { action: "say", prompts: Array(5).fill({ pause_ms: 60_000 }) } });

/** A call that is answered by a telephone with or without session timers. */
const answered = async (stage: Pick<Stage, "client" | "telephone">, answering: Answering) => {
  const { id, call } = await placeCall(stage);
  expect(call.sessionInterval).toBe(interval);
  // A telephone without timers has no reason to refuse.
  expect(call.requires("timer")).toBe(false);
  await call.answer(answering);
  await until(() => call.packets.length > 0);
  return { id, call };
};

test.each(["UPDATE", "INVITE"] as const)(
  "a telephone refreshes its session by %s, and the call goes on",
  async (method) => {
    const stage = await openTimed(quiet().fetch);
    const { call } = await answered(stage, {
      timers: { refresher: "telephone", method, every: 500 },
    });
    await until(() => call.refreshes.length >= 3 || call.isOver);
    expect(call.refreshes.slice(0, 3)).toEqual([method, method, method]);
    const { length } = call.packets;
    await until(() => call.packets.length > length + 25 || call.isOver);
    expect(call.isOver).toBe(false);
  },
);

test("a telephone that finds the interval too short is called with a longer one, and rings once", async () => {
  const app = applicationOf({ "/flow": { action: "hangup" } });
  const stage = await openTimed(app.fetch);
  const { id, call } = await placeCall(stage);
  await call.demandInterval(1_800);
  expect(call.sessionInterval).toBe(1_800);
  await call.answer({ timers: { refresher: "caller", knowsUpdate: true } });
  expect(await call.ended).toBe("caller");
  expect((await stage.exchange.ended(id)).reason).toBe("normal");
  expect(stage.telephone.calls).toHaveLength(1);
});

test("a telephone that refuses session timers is not reached", async () => {
  const stage = await openTimed(applicationOf({}).fetch);
  const { id, call } = await placeCall(stage);
  call.refuse(420, "Bad Extension", [["Unsupported", "timer"]]);
  const { state, reason } = await stage.exchange.ended(id);
  expect([state, reason]).toEqual(["failed", "unreachable"]);
  expect(stage.telephone.calls).toHaveLength(1);
});

test("the exchange refreshes the session of every telephone, as each knows it, and ends the call of one that is gone", async () => {
  const stage = await openTimed(quiet().fetch);
  const kinds: readonly Answering[] = [
    { timers: { refresher: "caller", knowsUpdate: true } },
    { timers: { refresher: "caller", knowsUpdate: false } },
    {},
  ];
  const calls = [];
  for (const answering of kinds) calls.push(await answered(stage, answering));
  const gone = await answered(stage, {});
  gone.call.vanish();
  const { state, reason } = await stage.exchange.ended(gone.id);
  expect([state, reason]).toEqual(["completed", "normal"]);
  expect(calls.map(({ call }) => call.refreshes[0])).toEqual(["UPDATE", "INVITE", "INVITE"]);
  expect(calls.some(({ call }) => call.isOver)).toBe(false);
  // Half the interval until a refresh, and 32 s each until that and a BYE have failed.
}, 240_000);

test("a telephone whose Asterisk was killed ends by itself before the interval is over; without timers it stays", async () => {
  const killed = await start();
  try {
    const stage = await openTimed(quiet().fetch, killed);
    const timers = { refresher: "caller", knowsUpdate: true } as const;
    const { call } = await answered(stage, { timers });
    const { call: untimed } = await answered(stage, {});
    killed.process.kill("SIGKILL");
    expect(await call.ended).toBe("timer");
    expect(call.endedAt - call.answeredAt).toBeLessThan(interval * 1_000);
    expect(untimed.isOver).toBe(false);
  } finally {
    await killed.stop();
  }
});
