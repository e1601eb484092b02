import { runtimes as all, type Runtime } from "../conformance/case.ts";
import {
  differenceOf,
  expectedOf,
  type Fault,
  type Outcome,
  type Protocol,
  protocolsOf,
} from "./fault.ts";
import { groups } from "./table/index.ts";

const intro = `<!-- Written by \`npm run faults\`; a cell that is not as expected fails that run. -->

# What survives

Every fault below is done to a call by a real server on loopback: to one of each entry that places calls
(\`outdial\`, \`outdial/fetch\`), which must come to the same, in every runtime, by HTTP/1.1 and, where the
runtime's own fetch speaks it, by HTTP/2. Each cell is tested: which exception, what it says of the
telephone (\`placed\`), what ended the call, how many POSTs arrived, and what was left: no socket that still
carries the call, no timer of its deadline, no listener on its signal, nothing that keeps the process, no key
and no number in the exception or in anything printed, no key sent outside of its header or to the host of a
redirect. A \`"no"\` for a call that had arrived whole, without a refusal, fails the run.

✓ is the expected outcome, by every protocol of the row that the runtime speaks. A number leads to a note:
what differs there, and why. No cell depends on the speed of the machine. The timer of a deadline is held, and
fires once the server has done all that it does before it stalls, or once the head of the answer has arrived.
"At once" means that the call ends by itself, before its deadline; what hangs for a minute is a failure.

\`npm run faults\` meets each fault in every runtime. \`npm test\` meets each in one runtime, by both entries and all
protocols that it speaks; a seed chooses which.

The network goes away for real, in a network namespace that each runtime has to itself with a server: for
2 s loopback takes no packet ("down"), or has no address either. What the kernel was given to send arrives
when the network is back, even after the call has ended: "0 or 1" POSTs, \`maybe\`. The server counts
until 1.8 s after that. The deadline passes while the network is away. Where a busy machine misses the outage,
it is repeated, up to 16 times as long.

HTTP/2 in the clear is spoken by no fetch. Chromium and workerd are not asked to end by themselves; their
launchers are.
`;

const words: Readonly<Record<Protocol, string>> = { h1: "1.1", h2: "2", tls: "1.1, TLS" };

const endings: Readonly<Record<Outcome["ends"], string>> = {
  "at once": "at once",
  deadline: "at the deadline",
  back: "when the network is back",
};

const describe = ({ exception, placed, code, posts, ends, open }: Partial<Outcome>): string =>
  [
    exception && (exception === "none" ? "the call is placed" : exception),
    placed && placed !== "yes" && `\`placed\` ${placed}`,
    code !== undefined && `code ${code}`,
    posts !== undefined && (posts ? `at most ${posts} POST${posts === 1 ? "" : "s"}` : "no POST"),
    ends && endings[ends],
    open && `${open} socket left open`,
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

/**
 * The table of a run in which every cell was as expected.
 *
 * @param whyNotApart - why no network could be taken away
 */
export const markdown = (whyNotApart?: string): string => {
  const runtimes = [...all].sort();
  const notes: string[] = [];
  const note = (text: string): string => {
    if (!notes.includes(text)) notes.push(text);
    return `[${notes.indexOf(text) + 1}](#notes)`;
  };

  const cell = (fault: Fault, runtime: Runtime): string => {
    if (fault.cut && whyNotApart) return note(`Not met: ${whyNotApart}.`);
    const marks = (fault.over ?? (["h1", "h2"] as const)).flatMap((protocol) => {
      const difference = differenceOf(fault, runtime, protocol);
      if (difference?.met === false) return note(`Not met: ${difference.why}.`);
      if (!protocolsOf(fault, runtime).includes(protocol)) return [];
      if (!difference) return "✓";
      const what = describe(changed(fault, runtime, protocol)) || "as elsewhere";
      if (difference.orAsElsewhere) return note(`At times ${what}: ${difference.why}.`);
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
        expected.orNone ? `0 or ${posts}` : String(posts),
        endings[ends],
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
