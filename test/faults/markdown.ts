import type { Runtime } from "../conformance/case.ts";
import type { Attempt } from "./attempt.ts";
import { differenceOf, expectedOf, type Fault, type Outcome, type Protocol } from "./fault.ts";
import type { Verdict } from "./judge.ts";
import { groups } from "./table/index.ts";

const intro = `<!-- Written by \`npm run faults\`; a cell that is not as expected fails that run. -->

# What survives

Every fault below is done to one call by a real server on loopback, in every runtime, by HTTP/1.1 and,
where the runtime's own fetch speaks it, by HTTP/2. Each cell was measured: which exception, what it says
of the telephone (\`placed\`), how long it took, how many POSTs arrived, and what was left: no socket that
still carries the call a second later, no timer of its deadline, no listener on its signal, no process
that outlives its last line by a second, no key and no number in the exception or in anything printed, no
key sent outside of its header or to the host of a redirect. A \`"no"\` for a call that had arrived whole,
without a refusal, fails the run.

✓ is the expected outcome, by every protocol of the row that the runtime speaks. A number leads to a note:
what differs there, and why. Deadlines are 0.4 s where the call is to end by it, and 5 s where it is not
("at once": within 3 s).

Not done: taking the machine's network away under an open connection needs root. What a process sees of
it is here: no network to the host, packets that vanish while connecting, packets that vanish after the
request. HTTP/2 in the clear is spoken by no fetch. Chromium and workerd are not asked to end by
themselves; their launchers are.
`;

const words: Readonly<Record<Protocol, string>> = { h1: "1.1", h2: "2", tls: "1.1, TLS" };

const describe = ({ exception, placed, code, posts, ends, open }: Partial<Outcome>): string =>
  [
    exception && (exception === "none" ? "the call is placed" : exception),
    placed && placed !== "yes" && `\`placed\` ${placed}`,
    code !== undefined && `code ${code}`,
    posts !== undefined && `at most ${posts} POST${posts === 1 ? "" : "s"}`,
    ends && (ends === "deadline" ? "at the deadline" : ""),
    open && `${open} socket left to the runtime`,
  ]
    .filter(Boolean)
    .join(", ");

const tell = ({ exception, code, retryAfter, errors = [] }: Outcome): string => {
  const seconds = [...new Set(retryAfter)].join("–");
  const facts = [
    seconds && `\`retryAfter\` ${seconds}`,
    errors.length > 0 && "with `errors`",
  ].filter(Boolean);
  return [[exception, code].filter(Boolean).join(" "), ...facts].join(", ");
};

/** Only what is not as everywhere else. */
const changed = (fault: Fault, runtime: Runtime, protocol: Protocol): Partial<Outcome> => {
  const expected = Object.entries(fault.expected);
  return Object.fromEntries(
    Object.entries(expectedOf(fault, runtime, protocol)).filter(
      ([name, value]) => !expected.some(([each, usual]) => each === name && usual === value),
    ),
  );
};

/** The table of all verdicts, the same for the same outcomes. */
export const markdown = (verdicts: ReadonlyMap<Runtime, Verdict>): string => {
  const runtimes = [...verdicts.keys()].sort();
  const notes: string[] = [];
  const note = (text: string): string => {
    if (!notes.includes(text)) notes.push(text);
    return `[${notes.indexOf(text) + 1}](#notes)`;
  };
  const attempts = new Map<string, Attempt>();
  for (const [runtime, verdict] of verdicts) {
    for (const each of verdict.attempts) {
      attempts.set(`${runtime} ${each.fault} ${each.protocol}`, each);
    }
  }

  const cell = (fault: Fault, runtime: Runtime): string => {
    const marks = (fault.over ?? (["h1", "h2"] as const)).flatMap((protocol) => {
      const difference = differenceOf(fault, runtime, protocol);
      if (difference?.met === false) return note(`Not met: ${difference.why}.`);
      if (!attempts.has(`${runtime} ${fault.name} ${protocol}`)) return [];
      if (!difference) return "✓";
      const what = describe(changed(fault, runtime, protocol)) || "as elsewhere";
      return note(`${what}: ${difference.why}.`);
    });
    return [...new Set(marks)].join(" ") || "–";
  };

  const sections = Object.entries(groups).map(([title, faults]) => {
    const rows = faults.map((fault) => {
      const { expected, over = ["h1", "h2"] as const } = fault;
      const { exception, placed, posts, ends } = expected;
      const what = [
        fault.name.replaceAll("|", "\\|"),
        over.map((each) => words[each]).join(" and "),
        exception === "none" ? "none" : tell(expected),
        placed,
        String(posts),
        ends === "deadline" ? "deadline" : "at once",
      ];
      return `| ${[...what, ...runtimes.map((runtime) => cell(fault, runtime))].join(" | ")} |`;
    });
    const head = ["fault", "HTTP", "exception", "placed", "POSTs", "ends", ...runtimes];
    return [
      `## ${title}\n`,
      `| ${head.join(" | ")} |`,
      `|${head.map(() => "---|").join("")}`,
      ...rows,
    ].join("\n");
  });
  const list = notes.map((text, index) => `${index + 1}. ${text}`);
  return `${[intro, ...sections.map((each) => `${each}\n`), "## Notes\n", ...list].join("\n")}\n`;
};
