import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Call, type Trigger } from "../../../src/emulator/call.ts";
import { instantClock } from "../../../src/emulator/clock.ts";
import { createEmulator } from "../../../src/emulator/index.ts";
import type { HistoryEntry } from "../../../src/server/history.ts";
import { reachOf } from "../../../src/server/outgoing.ts";

/** The transitions of the contract, independent of the table in the code. */
const failures = ["busy", "no_answer", "rejected", "unreachable", "canceled", "lost"];
const allowed = new Set([
  "initiated ringing",
  "ringing answered",
  ...["initiated", "ringing"].flatMap((state) =>
    failures.map((reason) => `${state} failed ${reason}`),
  ),
  ...["normal", "flow_error", "max_duration", "lost"].map(
    (reason) => `answered completed ${reason}`,
  ),
]);

const transitionsIn = (history: readonly HistoryEntry[]): string[] => {
  const states = history.filter((entry) => entry.type === "state");
  expect(states[0]?.state).toBe("initiated");
  return states
    .slice(1)
    .map(({ state, reason }, at) => [states[at]?.state, state, reason].filter(Boolean).join(" "));
};

const trigger = fc.constantFrom<Trigger>(
  "ring",
  "answer",
  "busy",
  "no_answer",
  "rejected",
  "unreachable",
  "canceled",
  "normal",
  "flow_error",
  "max_duration",
  "lost",
);

const params = {
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};

describe("the states of a call", () => {
  it("change only as the table says, whatever happens in whatever order", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.array(trigger, { maxLength: 12 }), (triggers) => {
        let reported = 0;
        const call = new Call(
          {
            id: "cs_1",
            params,
            recordingUrl: () => "https://emulator.test/",
            reach: reachOf(false, false),
          },
          instantClock,
          { onEntry: () => {}, onState: () => reported++ },
        );
        call.begin();
        const changed = triggers.map((each) => call.transition(each));
        const transitions = transitionsIn(call.toRecord().history);
        for (const transition of transitions) {
          expect(allowed).toContain(transition);
          seen.add(transition);
        }
        expect(changed.filter(Boolean)).toHaveLength(transitions.length);
        expect(reported).toBe(transitions.length + 1);
      }),
      { numRuns: 3_000 },
    );
    expect([...seen].sort()).toEqual([...allowed].sort());
  });

  it("change only so from outside too, at any moment of a running call", async () => {
    const app = (request: Request) =>
      request.url.endsWith("/flow")
        ? Response.json({ action: "play", media_url: "https://app.test/a.wav" })
        : new Response(null, { status: 204 });
    const act = fc.constantFrom("answer", "reject", "hangup", "tick", "wait" as const);
    const number = fc.integer({ min: 0, max: 5 }).map((each) => `+1202555010${each}`);
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 8 }), number, async (acts, to_number) => {
        const emulator = createEmulator({ fetch: app, clock: "real", speed: 2_000 });
        const response = await emulator.fetch("https://emulator.test/api/v1/calls/initiate", {
          method: "POST",
          headers: { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" },
          body: JSON.stringify({ ...params, to_number }),
        });
        const { id } = (await response.json()).data;
        for (const each of acts) {
          if (each === "tick") await Promise.resolve();
          else if (each === "wait") await new Promise((resolve) => setTimeout(resolve, 1));
          else emulator[each](id);
        }
        const { history, state } = await emulator.ended(id);
        for (const transition of transitionsIn(history)) expect(allowed).toContain(transition);
        expect(["completed", "failed"]).toContain(state);
        const notifications = history.filter((entry) => entry.type === "notification");
        const states = history.filter((entry) => entry.type === "state");
        expect(notifications.map(({ event }) => event)).toEqual(
          states.map((each) => `call.${each.state}`),
        );
      }),
      { numRuns: 100 },
    );
  });
});
