import type { Ledger } from "./ledger.ts";
import { type Kind, kinds, type Outcome } from "./traffic.ts";

/** The outcomes as numbers of a ledger; 0 is an attempt that never ended. */
export const outcomes: readonly (Outcome | "never ended")[] = [
  "never ended",
  "placed",
  "refused",
  "maybe",
];

/** What the three processes noted, by attempt. */
export interface Books {
  readonly attempts: number;
  readonly kinds: Ledger;
  /** What the caller knows: an outcome, and the id that it was given. */
  readonly outcomes: Ledger;
  readonly ids: Ledger;
  /** The calls that the service took, and those that the application heard of. */
  readonly taken: { readonly ids: Uint32Array; readonly doubled: number };
  readonly heard: {
    readonly ids: Uint32Array;
    readonly finals: Uint32Array;
    readonly doubled: number;
    readonly refused: number;
  };
}

/** How often each outcome was, and what is wrong: nothing, if all is well. */
export interface Balance {
  readonly counts: Readonly<Record<string, number>>;
  readonly wrong: Readonly<Record<string, number>>;
}

const checks: Readonly<
  Record<
    string,
    (of: {
      readonly kind: Kind;
      readonly outcome: string;
      readonly id: number;
      readonly taken: number;
      readonly heard: number;
      readonly final: number;
    }) => boolean
  >
> = {
  "never ended": ({ outcome }) => outcome === "never ended",
  "lost: placed for the caller, unknown to the service": ({ outcome, taken }) =>
    outcome === "placed" && !taken,
  "another id than the service's": ({ outcome, id, taken }) => outcome === "placed" && id !== taken,
  "refused for the caller, placed for the service": ({ outcome, taken }) =>
    outcome === "refused" && taken !== 0,
  "the application heard of another call": ({ heard, taken }) => heard !== taken,
  "the application did not hear of the end": ({ taken, final }) => taken !== 0 && !final,
  "not taken, and should have been": ({ kind, outcome, taken }) =>
    kind.taken === true && outcome !== "refused" && !taken,
  "taken, and should not have been": ({ kind, taken }) => kind.taken === false && taken !== 0,
};

/** Compares the books of all three, attempt by attempt. */
export const balance = (books: Books): Balance => {
  const { attempts, taken, heard } = books;
  const counts: Record<string, number> = {};
  const wrong: Record<string, number> = {};
  const add = (where: Record<string, number>, what: string, many = 1) => {
    if (many > 0) where[what] = (where[what] ?? 0) + many;
  };
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const kind = kinds[books.kinds.get(attempt)];
    const outcome = outcomes[books.outcomes.get(attempt)] ?? "never ended";
    if (!kind) throw new Error(`attempt ${attempt} is of no kind`);
    const facts = {
      kind,
      outcome,
      id: books.ids.get(attempt),
      taken: taken.ids[attempt] ?? 0,
      heard: heard.ids[attempt] ?? 0,
      final: heard.finals[attempt] ?? 0,
    };
    const rang = outcome === "maybe" && (facts.taken ? ", and was placed" : ", and was not placed");
    add(counts, `${outcome}${rang || ""}`);
    for (const [what, isWrong] of Object.entries(checks))
      if (isWrong(facts)) add(wrong, `${what} (${kind.name})`);
  }
  add(wrong, "doubled at the service", taken.doubled);
  add(wrong, "doubled for the application", heard.doubled);
  add(wrong, "notifications that were refused as forged", heard.refused);
  return { counts, wrong };
};
