import { expect, test } from "vitest";
import {
  createEmulator,
  type EmulatorOptions,
  type HistoryEntry,
} from "../../src/emulator/index.ts";
import { Client } from "../../src/index.ts";
import { applicationOf, from, openStage, pause, urls } from "./stage.ts";
import { voice } from "./telephone/ear.ts";
import type { TelephoneCall } from "./telephone/telephone.ts";

/** Numbers from 0 to 1 that are the same for the same seed. */
const randomOf = (seed: number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
};

/** What a callee does: the same on both. */
type Callee =
  | { readonly does: "press"; readonly keys: string }
  | { readonly does: "speak" | "hang up" | "nothing" }
  | { readonly does: "busy" | "reject" | "no answer" | "unreachable" };

const kinds = [
  "press",
  "speak",
  "hang up",
  "nothing",
  "busy",
  "reject",
  "no answer",
  "unreachable",
] as const;

const calleeOf = (random: () => number): Callee => {
  const does = kinds[Math.floor(random() * kinds.length)] ?? "nothing";
  return does === "press" ? { does, keys: String(Math.floor(random() * 10)) } : { does };
};

const flow = {
  "/flow": {
    action: "gather",
    prompts: [{ text: "Press a key." }],
    digits: 1,
    timeout_ms: 3_000,
    flow_url: "https://app.test/key",
  },
  "/key": { action: "say", prompts: [{ text: "Thank you." }] },
};

/** How long it rings, and how long the callee waits until they act, in milliseconds. */
const [ringDuration, delay, answerTimeout] = [200, 1_500, 6_000];

const outcomes = {
  busy: { outcome: "busy" },
  reject: { outcome: "reject" },
  "no answer": { outcome: "no_answer" },
  unreachable: { outcome: "unreachable" },
} as const;

/** The callee of the emulator. */
const emulated = (callees: ReadonlyMap<string, Callee>): EmulatorOptions => ({
  ringDuration,
  answerTimeout,
  onCall: ({ to_number }) => {
    const { does } = callees.get(to_number) ?? { does: "nothing" };
    return does in outcomes ? outcomes[does as keyof typeof outcomes] : undefined;
  },
  callee: ({ to_number }) => {
    const callee = callees.get(to_number) ?? { does: "nothing" as const };
    const acts = {
      press: [{ type: "press", digits: "keys" in callee ? callee.keys : "1" }],
      speak: [{ type: "tone", hertz: 300, ms: 500 }],
      "hang up": [{ type: "hangup" }],
    } as const;
    const act = acts[callee.does as keyof typeof acts] ?? [];
    return [{ type: "silence", ms: delay }, ...act];
  },
});

const statuses = { busy: 486, reject: 603, unreachable: 404 } as const;

/** The same on a SIP telephone. */
const act = async (call: TelephoneCall, callee: Callee): Promise<void> => {
  const { does } = callee;
  if (does === "busy" || does === "unreachable") return call.refuse(statuses[does]);
  call.ring();
  if (does === "no answer") return;
  await pause(ringDuration);
  if (does === "reject") return call.refuse(statuses[does]);
  await call.answer();
  await pause(delay);
  if (call.isOver) return;
  if (callee.does === "press") await call.press(callee.keys);
  if (does === "speak") await call.speak(voice(1, 500));
  if (does === "hang up") call.hangUp();
};

/** What happened in a call, without its times, ids and notifications' attempts. */
const transcript = (history: readonly HistoryEntry[]): readonly string[] =>
  history.flatMap((entry) => {
    if (entry.type === "state") return [`${entry.state} ${entry.reason ?? ""}`.trim()];
    if (entry.type === "action") return [entry.action.action];
    if (entry.type === "press") return [`press ${entry.digit}`];
    return entry.type === "flow_error" ? [`error ${entry.message}`] : [];
  });

test("the same 32 seeded calls are the same on the emulator and on the line", async () => {
  const random = randomOf(20_261_128);
  const callees = new Map(
    Array.from({ length: 32 }, (_, at) => [`+1202555${String(3_000 + at)}`, calleeOf(random)]),
  );
  const apps = { emulator: applicationOf(flow), line: applicationOf(flow) };
  const emulator = createEmulator({ ...emulated(callees), fetch: apps.emulator.fetch });
  const stage = await openStage({ fetch: apps.line.fetch, answerTimeout });
  for (const [to, callee] of callees) {
    const telephone = await stage.addTelephone(to);
    telephone.behave((call) => act(call, callee));
  }
  const simulated = new Client(emulator.apiKey, {
    baseUrl: "https://emulator.test",
    fetch: emulator.fetch,
  });
  const both = await Promise.all(
    [...callees].map(async ([to, { does }]) => {
      const params = { from_number: from, to_number: to, ...urls };
      const [one, other] = await Promise.all([
        simulated.calls.create(params),
        stage.client.calls.create(params),
      ]);
      const [onEmulator, onLine] = await Promise.all([
        emulator.ended(one.id),
        stage.exchange.ended(other.id),
      ]);
      const eventsOf = (app: keyof typeof apps, id: string) =>
        apps[app].events.filter(({ call_id }) => call_id === id).map(({ type }) => type);
      return {
        emulator: {
          does,
          events: eventsOf("emulator", one.id),
          did: transcript(onEmulator.history),
        },
        line: { does, events: eventsOf("line", other.id), did: transcript(onLine.history) },
      };
    }),
  );
  await emulator.close();
  expect(new Set(both.map(({ line }) => line.does)).size).toBe(kinds.length);
  expect(both.flatMap(({ line }) => line.did)).toContain("gather");
  expect(both.map(({ line }) => line)).toEqual(both.map(({ emulator }) => emulator));
});
