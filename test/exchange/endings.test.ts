import { expect, test } from "vitest";
import { applicationOf, from, openStage, pause, placeCall, urls } from "./stage.ts";
import type { TelephoneCall } from "./telephone/telephone.ts";

/** Rings for a moment. */
const ring = async (call: TelephoneCall): Promise<void> => {
  call.ring();
  await pause(200);
};

const refused =
  (status: number, rings = true) =>
  async (call: TelephoneCall): Promise<void> => {
    if (rings) await ring(call);
    call.refuse(status);
  };

/** What a telephone does, and how the call has to end: by SIP's status, by its time, or by who hangs up. */
const table: readonly {
  readonly name: string;
  readonly behave: (call: TelephoneCall) => unknown;
  readonly states: string;
  readonly reason: string;
  /** Whether only the time that it may ring ends the call. */
  readonly isTimedOut?: boolean;
}[] = [
  { name: "486 Busy Here", behave: refused(486, false), states: "failed", reason: "busy" },
  { name: "486 after ringing", behave: refused(486), states: "ringing failed", reason: "busy" },
  { name: "600 Busy Everywhere", behave: refused(600), states: "ringing failed", reason: "busy" },
  { name: "603 Decline", behave: refused(603), states: "ringing failed", reason: "rejected" },
  { name: "607 Unwanted", behave: refused(607), states: "ringing failed", reason: "rejected" },
  { name: "608 Rejected", behave: refused(608), states: "ringing failed", reason: "rejected" },
  { name: "403 Forbidden", behave: refused(403, false), states: "failed", reason: "rejected" },
  { name: "404 Not Found", behave: refused(404, false), states: "failed", reason: "unreachable" },
  {
    name: "604 Does Not Exist",
    behave: refused(604, false),
    states: "failed",
    reason: "unreachable",
  },
  { name: "410 Gone", behave: refused(410, false), states: "failed", reason: "unreachable" },
  {
    name: "484 Address Incomplete",
    behave: refused(484, false),
    states: "failed",
    reason: "unreachable",
  },
  {
    name: "488 Not Acceptable",
    behave: refused(488, false),
    states: "failed",
    reason: "unreachable",
  },
  {
    name: "500 Server Error",
    behave: refused(500),
    states: "ringing failed",
    reason: "unreachable",
  },
  { name: "503 Unavailable", behave: refused(503, false), states: "failed", reason: "unreachable" },
  {
    name: "480 after ringing",
    behave: refused(480),
    states: "ringing failed",
    reason: "no_answer",
  },
  {
    name: "480 without ringing",
    behave: refused(480, false),
    states: "failed",
    reason: "unreachable",
  },
  {
    name: "408 after ringing",
    behave: refused(408),
    states: "ringing failed",
    reason: "no_answer",
  },
  {
    name: "487 of the network's",
    behave: refused(487),
    states: "ringing failed",
    reason: "no_answer",
  },
  {
    name: "rings, and nobody answers",
    behave: ring,
    states: "ringing failed",
    reason: "no_answer",
    isTimedOut: true,
  },
  {
    name: "nothing at all",
    behave: () => {},
    states: "failed",
    reason: "unreachable",
    isTimedOut: true,
  },
  {
    name: "100 Trying, and then nothing",
    behave: (call) => call.try(),
    states: "failed",
    reason: "unreachable",
    isTimedOut: true,
  },
  {
    name: "early sound, and nobody answers",
    behave: (call) => call.playEarly(),
    states: "ringing failed",
    reason: "no_answer",
    isTimedOut: true,
  },
  {
    name: "the callee hangs up in the middle",
    behave: async (call) => {
      await ring(call);
      await call.answer();
      await pause(700);
      call.hangUp();
    },
    states: "ringing answered completed",
    reason: "normal",
  },
  {
    name: "the flow ends",
    behave: async (call) => {
      await ring(call);
      await call.answer();
    },
    states: "ringing answered completed",
    reason: "normal",
  },
];

/** Short where nothing else ends the call. */
const timeouts = { true: 4_000, false: 60_000 } as const;

test.each([true, false])("calls end as documented, by a time-out: %s", async (byTime) => {
  const app = applicationOf({
    "/flow": { action: "say", prompts: [{ text: "This is a call that ends by itself." }] },
  });
  const { client, exchange, addTelephone } = await openStage({
    fetch: app.fetch,
    answerTimeout: timeouts[`${byTime}`],
  });
  const endings = table.filter(({ isTimedOut = false }) => isTimedOut === byTime);
  const ended = await Promise.all(
    endings.map(async ({ name, behave }, at) => {
      const to = `+120255502${String(at).padStart(2, "0")}`;
      const telephone = await addTelephone(to);
      telephone.behave(behave);
      const { id } = await client.calls.create({ from_number: from, to_number: to, ...urls });
      const { reason, history } = await exchange.ended(id);
      const states = history.flatMap((entry) => (entry.type === "state" ? [entry.state] : []));
      return { name, states: states.slice(1).join(" "), reason };
    }),
  );
  expect(ended).toEqual(endings.map(({ name, states, reason }) => ({ name, states, reason })));
  expect(app.events.filter(({ type }) => type === "call.initiated")).toHaveLength(endings.length);
});

test("a telephone that nobody answers stops ringing, and so does one whose call is ended", async () => {
  const app = applicationOf({});
  const { client, exchange, telephone } = await openStage({ fetch: app.fetch, answerTimeout: 600 });
  for (const ends of [() => {}, (id: string) => exchange.hangup(id)]) {
    const { id, call } = await placeCall({ client, telephone });
    await ring(call);
    ends(id);
    expect(await call.ended).toBe("cancel");
  }
  const reasons = exchange.calls.map(({ reason }) => reason);
  expect(reasons).toEqual(["no_answer", "canceled"]);
});

test("a call that its longest duration ends is hung up at the telephone", async () => {
  const app = applicationOf({
    "/flow": { action: "say", prompts: [{ pause_ms: 5_000 }] },
  });
  const { client, exchange, telephone } = await openStage({ fetch: app.fetch, maxDuration: 1_000 });
  const { id, call } = await placeCall({ client, telephone });
  await call.answer();
  expect(await call.ended).toBe("caller");
  expect((await exchange.ended(id)).reason).toBe("max_duration");
});
