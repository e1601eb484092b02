import { randomOf } from "../random.ts";

/** What becomes of one POST. What places a call does so once for each key. */
export type Fate =
  /** The call is placed, and the connection ends after so many bytes of the answer. */
  | { readonly is: "cut"; readonly bytes: number; readonly by: "end" | "reset" }
  /** The call is placed, and nothing is answered. */
  | { readonly is: "silent" }
  /** The connection ends, and no call is placed. */
  | { readonly is: "unplaced" }
  /** The call is placed, and the answer is about another one. */
  | { readonly is: "foreign" }
  /** The answer is this; the call is placed, or nothing is. */
  | {
      readonly is: "status";
      readonly status: number;
      readonly code?: string;
      readonly places: boolean;
    }
  /** The call, or the one that was placed already, is answered whole. */
  | { readonly is: "whole" };

/** One `create`. */
export interface Planned {
  /** In the URLs of the call: unique among all runtimes. */
  readonly name: string;
  readonly entry: "outdial" | "outdial/fetch";
  /** Whether a key is sent; a text is the key, which other processes send as well. */
  readonly key: boolean | string;
  /** Of the POSTs, one after the other; the last one of all that follow. */
  readonly fates: readonly Fate[];
  /** `"id"`: the service answers whole in time. `"maybe"`: a repeat is refused. */
  readonly ends: "id" | "maybe";
}

const whole: Fate = { is: "whole" };

/** More bytes than an answer has: some cuts are after its end. */
const longest = 560;

const places = (status: number): Fate => ({ is: "status", status, places: true });
const refuses = (status: number, code?: string): Fate => ({
  is: "status",
  status,
  places: false,
  ...(code && { code }),
});

/** What ends the asking once one POST may have placed a call. */
const refusals: readonly Fate[] = [
  ...[400, 401, 403, 404, 405, 410, 422, 307, 308, 303].map((status) => refuses(status)),
  refuses(409, "idempotency_conflict"),
  { is: "foreign" },
];

/** The ways of a call, by a number and its place in the plan. */
const ways: readonly ((pick: (end: number) => number, cut: Fate) => readonly Fate[])[] = [
  (_, cut) => [cut],
  (_, cut) => [cut],
  (_, cut) => [cut],
  (_, cut) => [cut, places(503), cut],
  (pick) => [places([500, 502, 503, 504][pick(4)] ?? 503)],
  () => [{ is: "unplaced" }],
  () => [refuses(409, "idempotency_in_progress"), refuses(409, "idempotency_in_progress")],
  (_, cut) => [cut, refuses(429)],
  (pick) => [pick(8) ? places(503) : { is: "silent" }],
];

/** How many keys all runtimes send at once. */
const sharedKeys = 10;

/**
 * The calls that a runtime makes: of each way some, each byte of an answer cut once in about 600 calls, and one of four without
 * a key.
 */
export const planOf = (runtime: string, seed: number, count: number): readonly Planned[] => {
  const random = randomOf(seed);
  const pick = (end: number) => Math.floor(random() * end);
  const start = pick(longest);
  const shared = Array.from(
    { length: sharedKeys },
    (_, at): Planned => ({
      name: `shared-${at}`,
      entry: "outdial/fetch",
      key: `shared_${seed}_${at}`,
      fates: [{ is: "cut", bytes: 40 * at, by: "end" }, whole],
      ends: "id",
    }),
  );
  const own = Array.from({ length: count }, (_, at): Planned => {
    const step = Math.max(1, Math.floor((longest * 5) / 3 / count));
    const bytes = (start + at * step) % longest;
    const cut: Fate = { is: "cut", bytes, by: pick(2) ? "end" : "reset" };
    const isRefused = at % 10 === 9;
    const fates: readonly Fate[] = isRefused
      ? [{ ...cut, bytes: bytes % 60 }, refusals[pick(refusals.length)] ?? whole]
      : [...(ways[pick(ways.length)]?.(pick, cut) ?? []), whole];
    return {
      name: `${runtime}-${at}`,
      entry: pick(2) ? "outdial" : "outdial/fetch",
      key: at % 4 !== 3,
      fates,
      ends: isRefused ? "maybe" : "id",
    };
  });
  return [...shared, ...own];
};
