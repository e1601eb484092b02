import type { CalleeAct } from "../emulator/callee-script.ts";
import type { LineParts } from "../emulator/simulated-line.ts";
import type { Part } from "../performer/line.ts";
import type { CallRecord, HistoryEntry } from "../server/history.ts";
import type { SimulatedFault, SimulatedText } from "./figures.ts";
import { responseWindow, type Turn } from "./turns.ts";

/** What a part of a flow is in the transcript; a pause is nothing. */
const lineOf = (part: Part): Pick<SimulatedText, "type" | "text"> | undefined => {
  switch (part.type) {
    case "text":
      return { type: "said", text: part.text };
    case "media":
      return { type: "played", text: part.source.url };
    case "keys":
      return { type: "pressed", text: part.keys };
    case "tone":
      return { type: "beeped", text: "" };
    case "pause":
      return;
  }
};

/** What the line of a flow reports, as it happens. */
export const performedBy = (
  performed: SimulatedText[],
): Required<Pick<LineParts, "onPlayed" | "onRecorded">> => ({
  onPlayed: (part, ms, to) => {
    const line = to > ms ? lineOf(part) : undefined;
    if (line) performed.push({ who: "flow", ...line, final: true, ms, to });
  },
  onRecorded: (ms, to) =>
    void performed.push({ who: "callee", type: "recorded", text: "", final: true, ms, to }),
});

/**
 * The keys that the callee has pressed, those of one act together.
 *
 * @param counts - how many keys each act has, in order
 */
const pressedIn = (
  history: readonly HistoryEntry[],
  msOf: (entry: HistoryEntry) => number,
  counts: readonly number[],
): readonly SimulatedText[] => {
  const keys = history.flatMap((entry) =>
    entry.type === "press" ? [{ digit: entry.digit, ms: msOf(entry) }] : [],
  );
  let next = 0;
  return counts.flatMap((count) => {
    const own = keys.slice(next, next + count);
    next += count;
    const [first] = own;
    if (!first) return [];
    const text = own.map(({ digit }) => digit).join("");
    const { ms: to } = own.at(-1) ?? first;
    return [{ who: "callee", type: "pressed", text, final: true, ms: first.ms, to } as const];
  });
};

/** Whom the flow has dialed. */
const dialedIn = (
  history: readonly HistoryEntry[],
  msOf: (entry: HistoryEntry) => number,
): readonly SimulatedText[] => {
  const found: SimulatedText[] = [];
  for (const entry of history) {
    if (entry.type !== "leg") continue;
    const { to: text, state, reason } = entry;
    const ms = msOf(entry);
    const last = found.at(-1);
    if (state === "initiated" || !last)
      found.push({ who: "flow", type: "dialed", text, final: true, ms });
    else found[found.length - 1] = { ...last, to: ms, ...(reason && { reason }) };
  }
  return found;
};

/** What the callee says as a text. */
const saidIn = (
  history: readonly HistoryEntry[],
  msOf: (entry: HistoryEntry) => number,
): readonly SimulatedText[] =>
  history.flatMap((entry) => {
    if (entry.type !== "say") return [];
    const [ms, { text, duration }] = [msOf(entry), entry];
    return { who: "callee", type: "said", text, final: true, ms, to: ms + duration } as const;
  });

/**
 * What a flow and its callee said and did, in order.
 *
 * @param performed - what the line has reported
 * @param acts - what the callee did
 */
export const transcriptOf = (
  { history, answered_at = 0 }: CallRecord,
  performed: readonly SimulatedText[],
  acts: readonly CalleeAct[],
): readonly SimulatedText[] => {
  const msOf = ({ at }: HistoryEntry) => Date.parse(at) - answered_at;
  const counts = acts.flatMap((act) => (act.type === "press" ? [act.digits.length] : []));
  const callee = [...pressedIn(history, msOf, counts), ...saidIn(history, msOf)];
  // Of what happens at one time, the callee's is first: the flow reacts to it. What is said lasts, so it follows what was dialed then.
  return [...callee, ...dialedIn(history, msOf), ...performed].sort(
    (one, other) => one.ms - other.ms,
  );
};

/** What went wrong in the flow of a call that went on to its end. Services count its steps differently, so none is named. */
export const faultsOf = ({ history, answered_at = 0 }: CallRecord): readonly SimulatedFault[] =>
  history.flatMap((entry) =>
    entry.type === "flow_error"
      ? [{ text: entry.message.replace(/^step \d+: /, ""), ms: Date.parse(entry.at) - answered_at }]
      : [],
  );

/** When media sockets were open, in milliseconds since the answer. */
const socketsOf = ({ history, answered_at = 0 }: CallRecord) =>
  history.flatMap((entry) =>
    entry.type === "stream" && entry.state === "closed"
      ? [{ from: entry.from_ms, to: Date.parse(entry.at) - answered_at }]
      : [],
  );

/**
 * A turn for each time that the callee has pressed keys. What the flow says, plays or does next responds to it, a media socket that it
 * opens, or that it hangs up.
 *
 * @param end - how the call ended
 */
export const keyTurns = (
  record: CallRecord,
  transcript: readonly SimulatedText[],
  end: { readonly ms: number; readonly by?: "flow" | "callee" | undefined },
): readonly Turn[] => {
  const sockets = socketsOf(record);
  const reactions = [
    ...transcript.flatMap(({ who, ms }) => (who === "flow" ? [ms] : [])),
    ...sockets.map(({ from }) => from),
    ...(end.by === "flow" ? [end.ms] : []),
  ];
  const pressed = transcript.filter(({ who, type }) => who === "callee" && type === "pressed");
  return pressed.flatMap(({ ms: from, to = from, text }, at) => {
    // What answers keys there is the application of the socket.
    if (sockets.some((socket) => from > socket.from && from < socket.to)) return [];
    const next = pressed[at + 1]?.ms ?? Number.POSITIVE_INFINITY;
    const response = Math.min(...reactions.filter((ms) => ms >= from && ms < next)) - to;
    return {
      from,
      to,
      expect: "respond",
      keys: text.length,
      ...(response <= responseWindow ? { response } : { missed: true as const }),
      ...(response < 0 && { cutIn: true as const }),
    } as const;
  });
};
