import type { Progress } from "../ledger/progress.ts";

/** What a campaign is as a whole when its shards differ: one that waits is what somebody must see. */
const states = ["paused", "running", "canceled"] as const;

/** The progress of a campaign out of that of its shards. */
export const sumOf = (parts: readonly Progress[]): Progress => {
  const of = (name: keyof Progress): number =>
    parts.reduce((total, each) => total + Number(each[name]), 0);
  const reason = parts.find((each) => each.reason !== undefined)?.reason;
  return {
    state: states.find((state) => parts.some((each) => each.state === state)) ?? "running",
    ...(reason !== undefined && { reason }),
    done: parts.every((each) => each.done),
    contacts: of("contacts"),
    waiting: of("waiting"),
    calling: of("calling"),
    completed: of("completed"),
    busy: of("busy"),
    no_answer: of("no_answer"),
    rejected: of("rejected"),
    unreachable: of("unreachable"),
    refused: of("refused"),
    unknown: of("unknown"),
    expired: of("expired"),
    canceled: of("canceled"),
    skipped: of("skipped"),
    placed: of("placed"),
  };
};
