import type { Result } from "../../../campaigns/index.ts";
import type { EmulatedCall } from "./calls.ts";
import type { ConversationLine } from "./conversation.ts";
import type { Emulation } from "./run.ts";
import type { LocalTimes } from "./times.ts";

/** The calls of one day. Times are in milliseconds since 1970. */
interface Day {
  readonly day: string;
  readonly calls: number;
  /** When its first and its last call begin. */
  readonly first: number;
  readonly last: number;
}

/** Contacts who had alike conversations and ended alike. */
export interface ConversationKind {
  readonly contacts: number;
  /** One of them. */
  readonly to_number: string;
  readonly disposition: string;
  readonly conversation: readonly ConversationLine[];
}

/** The figures of an emulation. */
export interface Figures {
  readonly calls: number;
  /** Contacts that were called. */
  readonly called: number;
  /** The most calls at once. */
  readonly mostAtOnce: number;
  /** Seconds of an answered or unanswered call, on average; `0` without one. */
  readonly meanSeconds: number;
  readonly days: readonly Day[];
  /** How many contacts gave which answer, by question; those without one are left out. */
  readonly answers: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Of answered calls, the most frequent first. */
  readonly conversations: readonly ConversationKind[];
}

const byStart = (one: EmulatedCall, other: EmulatedCall): number => one.startedAt - other.startedAt;

const mostAtOnce = (calls: readonly EmulatedCall[]): number => {
  const changes = calls.flatMap(({ startedAt, endedAt }) => [
    { at: startedAt, by: 1 },
    { at: endedAt, by: -1 },
  ]);
  // A call that ends makes room for one that begins at the same time.
  changes.sort((one, other) => one.at - other.at || one.by - other.by);
  let now = 0;
  return changes.reduce((most, { by }) => {
    now += by;
    return Math.max(most, now);
  }, 0);
};

const daysOf = (calls: readonly EmulatedCall[], { day: dayOf }: LocalTimes): readonly Day[] => {
  const days = new Map<string, Day>();
  for (const { startedAt } of calls) {
    const day = dayOf(startedAt);
    const { calls: before = 0, first = startedAt } = days.get(day) ?? {};
    days.set(day, { day, calls: before + 1, first, last: startedAt });
  }
  return [...days.values()];
};

const answersOf = (results: readonly Result[]): Figures["answers"] => {
  const counts = new Map<string, Map<string, number>>();
  for (const { answers } of results) {
    for (const [name, value] of Object.entries(answers)) {
      const values = counts.get(name) ?? new Map<string, number>();
      counts.set(name, values.set(value, (values.get(value) ?? 0) + 1));
    }
  }
  return Object.fromEntries(
    [...counts].map(([name, values]) => [name, Object.fromEntries(values)]),
  );
};

const conversationsOf = ({ results, calls }: Emulation): readonly ConversationKind[] => {
  const kinds = new Map<string, ConversationKind>();
  for (const { to_number, disposition = "waiting" } of results) {
    const answered = (calls.get(to_number) ?? []).findLast(({ isAnswered }) => isAnswered);
    if (!answered) continue;
    const { conversation } = answered;
    // The texts may have the contact's own name in them: only the keys make a difference.
    const shape = conversation.map(({ type, text }) => (type === "presses" ? text : type));
    const key = JSON.stringify([disposition, shape]);
    const kind = kinds.get(key);
    kinds.set(
      key,
      kind
        ? { ...kind, contacts: kind.contacts + 1 }
        : { contacts: 1, to_number, disposition, conversation },
    );
  }
  return [...kinds.values()].sort((one, other) => other.contacts - one.contacts);
};

/** The figures of an emulation, with days by the clock of a zone. */
export const figuresOf = (emulation: Emulation, times: LocalTimes): Figures => {
  const calls = [...emulation.calls.values()].flat().sort(byStart);
  const total = calls.reduce((sum, { startedAt, endedAt }) => sum + endedAt - startedAt, 0);
  return {
    calls: calls.length,
    called: emulation.calls.size,
    mostAtOnce: mostAtOnce(calls),
    meanSeconds: calls.length > 0 ? Math.round(total / calls.length / 1_000) : 0,
    days: daysOf(calls, times),
    answers: answersOf(emulation.results),
    conversations: conversationsOf(emulation),
  };
};
