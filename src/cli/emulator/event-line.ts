import type { EmulatorEvent } from "../../emulator/line/history.ts";
import type { CallRecord } from "../../emulator/line/record.ts";
import type { Paint } from "../terminal/paint.ts";
import { plain } from "../terminal/plain.ts";

type Style = Parameters<Paint>[0];

/** What a line says: a word, its colour, and the rest. */
type Line = readonly [word: string, style: Style, rest: string];

type Told<Type> = Extract<EmulatorEvent, { readonly type: Type }>;

type FindCall = (id: string) => CallRecord | undefined;

const stateStyles = {
  initiated: "bold",
  ringing: "yellow",
  answered: "cyan",
  completed: "green",
  failed: "red",
} as const;

const outcomeStyles = { delivered: "dim", retrying: "yellow", given_up: "red" } as const;

const answerOf = ({ status, ms }: { readonly status?: number; readonly ms: number }): string =>
  `${status ?? "no answer"} in ${ms} ms`;

const numbersOf = (call: CallRecord | undefined): string =>
  call ? `${call.from_number} → ${call.to_number}` : "";

const state = ({ state: word, reason, call_id }: Told<"state">, findCall: FindCall): Line => {
  const call = findCall(call_id);
  const duration = call?.duration === undefined ? "" : `, ${call.duration} s`;
  const rest = word === "initiated" ? numbersOf(call) : `${reason ?? ""}${duration}`;
  return [word, stateStyles[word], rest];
};

/** How each kind of event is told. */
const lines: {
  readonly [Type in EmulatorEvent["type"]]: (event: Told<Type>, findCall: FindCall) => Line;
} = {
  state,
  flow: ({ step, url, ...answer }) => ["flow", "bold", `step ${step}, ${answerOf(answer)}, ${url}`],
  flow_error: ({ message }) => ["flow error", "red", message],
  action: ({ action, duration }) => [
    action.action,
    "bold",
    duration === undefined ? "" : `for ${duration / 1000} s`,
  ],
  leg: ({ to, state: now, reason }) => ["leg", "bold", `${to} ${now} ${reason ?? ""}`],
  stream: ({ state: now, sent, received, malformed: [first], malformed_count }) => [
    "stream",
    first ? "yellow" : "bold",
    `${now}, ${sent} sent, ${received} received` +
      (first ? `, ${malformed_count} not understood, the first: ${first}` : ""),
  ],
  cut: ({ by, samples }) => ["stream", "bold", `${by}, ${samples} samples were not heard`],
  notification: ({ event, outcome, try: count, error, ...answer }) => [
    "told",
    outcomeStyles[outcome],
    `${event}, ${outcome.replace("_", " ")}, try ${count}, ${error ?? answerOf(answer)}`,
  ],
  recording: ({ seconds, url }) => ["recording", "bold", `${seconds.toFixed(1)} s, ${url}`],
  error: ({ source, message }) => ["error", "red", `in ${source}: ${message}`],
  refused: ({ method, path, status }) => ["refused", "red", `${method} ${path}, HTTP ${status}`],
  key: () => ["key", "yellow", "there is a new one; the old one is refused from now on"],
  reset: () => ["reset", "yellow", "all calls are forgotten"],
};

const lineOf = <Type extends EmulatorEvent["type"]>(
  event: Told<Type> & { readonly type: Type },
  findCall: FindCall,
): Line => lines[event.type](event, findCall);

/**
 * One line that tells an event at a glance: when, in which call, what.
 *
 * @param now - the time on the wall, which the emulator's own clock may be far ahead of
 */
export const eventLine = (
  event: EmulatorEvent,
  now: Date,
  findCall: FindCall,
  paint: Paint,
): string => {
  const time = `${now.toTimeString().slice(0, 8)}.${String(now.getMilliseconds()).padStart(3, "0")}`;
  const call = "call_id" in event ? event.call_id.slice(-6) : "";
  const [word, style, rest] = lineOf(event, findCall);
  const start = `${paint("dim", time)}  ${call.padEnd(6)}  ${paint(style, word.padEnd(10))}`;
  return `${start}  ${plain(rest)}`.trimEnd();
};
