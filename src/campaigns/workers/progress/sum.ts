import { countsOf, type Progress } from "../../ledger/campaign/progress.ts";

/** What a campaign is as a whole when its shards differ: one that waits is what somebody must see. */
const states = ["paused", "running", "canceled"] as const;

/** The progress of a campaign out of that of its shards. */
export const sumOf = (parts: readonly Progress[]): Progress => {
  const reason = parts.find((each) => each.reason !== undefined)?.reason;
  return {
    state: states.find((state) => parts.some((each) => each.state === state)) ?? "running",
    ...(reason !== undefined && { reason }),
    ...countsOf((state) => parts.reduce((total, each) => total + each[state], 0)),
  };
};
