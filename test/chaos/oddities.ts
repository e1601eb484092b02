/** What the service does with a request, by the number that it asks for. */
export type Oddity =
  | "whole"
  /** 429 at first, then as usual. */
  | "busy_at_first"
  /** 422: nothing is placed. */
  | "refused"
  /** 503, and nothing is placed. */
  | "down"
  /** 503, though the call is placed. */
  | "placed_and_down"
  /** The call is placed, and no answer comes. */
  | "silent"
  /** The call is placed, and the connection is cut. */
  | "cut"
  /** The call is placed, and the answer makes no sense. */
  | "garbled";

const rare: readonly (readonly [every: number, Oddity])[] = [
  [17, "busy_at_first"],
  [23, "down"],
  [29, "placed_and_down"],
  [31, "cut"],
  [37, "garbled"],
  [43, "refused"],
  [151, "silent"],
];

/** The telephone with an index in the list; the odd numbers of the emulator come first. */
export const numberOf = (index: number): string =>
  index < 16 ? `+120255501${String(index).padStart(2, "0")}` : `+1303${5_550_000 + index}`;

export const oddityOf = (index: number): Oddity =>
  index < 16 ? "whole" : (rare.find(([every]) => index % every === every - 1)?.[1] ?? "whole");

/** How calls end, by index; the emulator's own numbers decide for themselves. */
export const endOf = (index: number) => {
  if (index < 16) return;
  if (index % 11 === 0) return { outcome: "busy" } as const;
  if (index % 13 === 0) return { outcome: "reject" } as const;
  if (index % 19 === 0) return { outcome: "unreachable" } as const;
  return { outcome: "answer" } as const;
};
