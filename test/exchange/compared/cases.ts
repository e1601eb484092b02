/** What a callee does, one after the other. Times are in milliseconds. */
export type Act =
  /** Waits until the application is heard: a stall of the machine moves all that follows. */
  | { readonly type: "hear" }
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "press"; readonly keys: string }
  | { readonly type: "speak"; readonly ms: number }
  | { readonly type: "hang up" };

/** What becomes of a call before anybody answers. */
export type Unanswered = "busy" | "reject" | "no answer" | "unreachable";

/** A callee: the same in the emulator and on a telephone. */
type Callee =
  | { readonly answers: false; readonly by: Unanswered }
  | { readonly answers: true; readonly acts: readonly Act[] };

/** What the application does in a call, by its name in the flow. */
export type Program = "ask" | "pin" | "record" | "dial" | "tell" | "lost" | "stream" | "live";

/** One call. */
export interface Case {
  readonly to_number: string;
  /** What it is about. */
  readonly kind: string;
  readonly program: Program;
  /** Whom it dials, where it does, and what its application asks the service for while it talks. */
  readonly more: string;
  readonly callee: Callee;
}

/** Numbers from 0 to 1 that are the same for the same seed. */
const randomOf = (seed: number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
};

type Random = () => number;

/** A whole number. */
const between = (random: Random, from: number, to: number): number =>
  Math.floor(from + random() * (to - from + 1));

/** Waits for so long after the application is heard. */
const heard = (random: Random, from: number, to: number): readonly Act[] => [
  { type: "hear" },
  { type: "wait", ms: between(random, from, to) },
];

const press = (keys: string): Act => ({ type: "press", keys });
const hangUp: Act = { type: "hang up" };

/** The numbers of second telephones. The emulator knows them as scenarios. */
export const seconds = {
  talks: "+12025550100",
  busy: "+12025550101",
  "no answer": "+12025550102",
  reject: "+12025550103",
  unreachable: "+12025550104",
} as const;

/** How long the announcements of the programs are, in milliseconds. */
export const announcement = { question: 3_000, long: 8_000 } as const;

/** A kind of call. Moments lie a second and more from those at which a program goes on: a stall of the machine decides nothing. */
interface Kind {
  readonly kind: string;
  readonly program: Program;
  readonly more?: (random: Random) => string;
  readonly acts: ((random: Random) => readonly Act[]) | Unanswered;
}

const asks = (kind: string, acts: (random: Random) => readonly Act[]): Kind => ({
  kind,
  program: "ask",
  acts,
});

const dials = (who: keyof typeof seconds): Kind => ({
  kind: `a second telephone: ${who}`,
  program: "dial",
  more: () => seconds[who],
  acts: () => [],
});

const kinds: readonly Kind[] = [
  asks("a key within the question", (random) => [...heard(random, 600, 1_600), press("1")]),
  asks("a key after the question", (random) => [...heard(random, 4_200, 5_200), press("2")]),
  asks("a wrong key, and then a right one", (random) => [
    ...heard(random, 500, 1_500),
    press(String(between(random, 3, 9))),
    { type: "wait", ms: 1_200 },
    ...heard(random, 300, 600),
    press("1"),
  ]),
  asks("no key", () => []),
  asks("hung up within the question", (random) => [...heard(random, 700, 1_900), hangUp]),
  asks("speech, and no key", (random) => [
    ...heard(random, 500, 1_500),
    { type: "speak", ms: 700 },
  ]),
  {
    kind: "several keys",
    program: "pin",
    acts: (random) => [
      ...(random() < 0.5 ? heard(random, 600, 1_600) : heard(random, 4_200, 5_200)),
      press(`${between(random, 100, 999)}${random() < 0.5 ? "#" : between(random, 0, 9)}`),
    ],
  },
  {
    kind: "too few keys",
    program: "pin",
    acts: (random) => [...heard(random, 600, 1_500), press(String(between(random, 10, 99)))],
  },
  {
    kind: "a message that a key ends",
    program: "record",
    acts: (random) => [
      ...heard(random, 5_000, 5_500),
      { type: "speak", ms: between(random, 600, 1_200) },
      { type: "wait", ms: 1_000 },
      press("#"),
    ],
  },
  {
    kind: "a message that silence ends",
    program: "record",
    acts: (random) => [
      ...heard(random, 5_000, 5_500),
      { type: "speak", ms: between(random, 600, 1_200) },
    ],
  },
  {
    kind: "a message that the callee hangs up after",
    program: "record",
    acts: (random) => [
      ...heard(random, 5_000, 5_500),
      { type: "speak", ms: 1_000 },
      { type: "wait", ms: 1_000 },
      hangUp,
    ],
  },
  dials("talks"),
  dials("busy"),
  dials("no answer"),
  dials("reject"),
  dials("unreachable"),
  {
    kind: "hung up while a second telephone talks",
    program: "dial",
    more: () => seconds.talks,
    acts: (random) => [...heard(random, 1_000, 2_500), hangUp],
  },
  { kind: "a text to its end", program: "tell", acts: () => [] },
  {
    kind: "hung up within a text",
    program: "tell",
    acts: (random) => [...heard(random, 600, 1_200), hangUp],
  },
  { kind: "an announcement that is not there", program: "lost", acts: () => [] },
  { kind: "a media socket that the application closes", program: "stream", acts: () => [] },
  {
    kind: "a media socket, and the callee hangs up",
    program: "stream",
    acts: (random) => [...heard(random, 500, 1_000), hangUp],
  },
  { kind: "ended by the service's API", program: "live", more: () => "end", acts: () => [] },
  { kind: "led elsewhere by the API", program: "live", more: () => "redirect", acts: () => [] },
  { kind: "busy", program: "ask", acts: "busy" },
  { kind: "rejected", program: "ask", acts: "reject" },
  { kind: "not answered", program: "ask", acts: "no answer" },
  { kind: "unreachable", program: "ask", acts: "unreachable" },
];

/** How many kinds there are. */
export const kindCount = kinds.length;

/** Seeded calls: each kind in turn, and then again with other moments and keys. */
export const casesOf = (seed: number, count: number, skip = 0): readonly Case[] => {
  const random = randomOf(seed);
  return Array.from({ length: count }, (_, at) => {
    const { kind, program, more, acts } =
      kinds[(skip + at) % kinds.length] ?? asks("nothing", () => []);
    return {
      to_number: `+1202555${String(3_000 + at)}`,
      kind,
      program,
      more: more?.(random) ?? "",
      callee:
        typeof acts === "string"
          ? { answers: false, by: acts }
          : { answers: true, acts: acts(random) },
    };
  });
};
