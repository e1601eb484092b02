import type { CallRecord, EmulatorEvent } from "../../emulator/index.ts";
import { counted, type Paint, plain } from "../terminal.ts";

type Style = Parameters<Paint>[0];

/** A label, its colour, and the rest of the line. */
type EventText = readonly [label: string, style: Style, rest: string];

type EventOf<Type> = Extract<EmulatorEvent, { readonly type: Type }>;

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

/** The most characters of a URL or a path on a line. */
const maxUrl = 200;

const clipped = (url: string): string => (url.length > maxUrl ? `${url.slice(0, maxUrl)}…` : url);

const numbersOf = (call: CallRecord | undefined): string =>
  call ? `${call.from_number} → ${call.to_number}` : "";

const state = (
  { state: label, reason, call_id }: EventOf<"state">,
  findCall: FindCall,
): EventText => {
  const call = findCall(call_id);
  const duration = call?.duration === undefined ? "" : `, ${call.duration} s`;
  const rest = label === "initiated" ? numbersOf(call) : `${reason ?? ""}${duration}`;
  return [label, stateStyles[label], rest];
};

/** The line of each type of event. */
const lines: {
  readonly [Type in EmulatorEvent["type"]]: (event: EventOf<Type>, findCall: FindCall) => EventText;
} = {
  state,
  flow: ({ step, url, ...answer }) => [
    "flow",
    "bold",
    `step ${step}, ${answerOf(answer)}, ${clipped(url)}`,
  ],
  flow_error: ({ message }) => ["flow error", "red", message],
  action: ({ action, duration }) => [
    action.action,
    "bold",
    duration === undefined ? "" : `for ${duration / 1000} s`,
  ],
  verb: ({ verb, text = "", duration }) => [
    verb,
    "bold",
    [duration === undefined ? "" : `for ${duration / 1000} s`, text].filter(Boolean).join(", "),
  ],
  press: ({ digit }) => ["key", "bold", `${digit} pressed`],
  say: ({ text, duration }) => ["callee", "bold", `for ${duration / 1000} s, ${text}`],
  leg: ({ to, state: now, reason }) => ["leg", "bold", `${to} ${now} ${reason ?? ""}`],
  stream: ({ state: now, sent, received, malformed: [first], malformed_count }) => [
    "stream",
    first ? "yellow" : "bold",
    `${now}, ${sent} sent, ${received} received` +
      (first ? `, ${malformed_count} not understood, the first: ${first}` : ""),
  ],
  cut: ({ by, samples }) => ["stream", "bold", `${by}, ${samples} samples not played`],
  notification: ({ event, outcome, try: count, error, ...answer }) => [
    "notified",
    outcomeStyles[outcome],
    `${event}, ${outcome.replace("_", " ")}, try ${count}, ${error ?? answerOf(answer)}`,
  ],
  recording: ({ seconds, url }) => ["recording", "bold", `${seconds.toFixed(1)} s, ${url}`],
  note: ({ text }) => ["note", "bold", text],
  error: ({ source, message }) => ["error", "red", `in ${source}: ${message}`],
  refused: ({ method, path, status, detail }) => [
    "refused",
    "red",
    `${method} ${clipped(path)}, HTTP ${status}: ${detail}`,
  ],
  key: () => ["key", "yellow", "there is a new one; the old one is refused from now on"],
  reset: () => ["reset", "yellow", "all calls are forgotten"],
};

const lineOf = <Type extends EmulatorEvent["type"]>(
  event: EventOf<Type> & { readonly type: Type },
  findCall: FindCall,
): EventText => lines[event.type](event, findCall);

/**
 * An event on one line: when, in which call, what.
 *
 * @param now - the real time; the emulator's clock may be far ahead of it
 */
export const eventLine = (
  event: EmulatorEvent,
  now: Date,
  findCall: FindCall,
  paint: Paint,
): string => {
  const time = `${now.toTimeString().slice(0, 8)}.${String(now.getMilliseconds()).padStart(3, "0")}`;
  const call = "call_id" in event ? event.call_id.slice(-6) : "";
  const [label, style, rest] = lineOf(event, findCall);
  const start = `${paint("dim", time)}  ${call.padEnd(6)}  ${paint(style, label.padEnd(10))}`;
  return `${start}  ${plain(rest)}`.trimEnd();
};

/** How many refusals of one kind are printed, each on its line, in how many milliseconds. */
const maxAlike = 3;
const alikeInterval = 10_000;

/** How many kinds are remembered. */
const maxKinds = 100;

/** The refusals of one kind: of one status for one reason. */
interface Alike {
  readonly since: number;
  printed: number;
  unprinted: number;
}

/** Prints many refusals of one kind on one line, so that a client in a loop does not fill the log. */
export class RefusalFilter {
  readonly #kinds = new Map<string, Alike>();

  /**
   * Returns how many of the kind were not printed before this one; `undefined` if this one is not printed either.
   *
   * @param now - milliseconds
   */
  count({ method, path, status, detail }: EventOf<"refused">, now: number): number | undefined {
    const kind = `${method} ${status} ${detail.replaceAll(path, "")}`;
    const alike = this.#kinds.get(kind);
    if (alike && now - alike.since < alikeInterval) {
      const isPrinted = alike.printed < maxAlike;
      if (isPrinted) alike.printed++;
      else alike.unprinted++;
      return isPrinted ? 0 : undefined;
    }
    if (!alike && this.#kinds.size >= maxKinds) this.#kinds.clear();
    this.#kinds.set(kind, { since: now, printed: 1, unprinted: 0 });
    return alike?.unprinted ?? 0;
  }
}

/** How calls end, and the reasons that the summary names. */
const endings = {
  completed: ["flow_error", "max_duration"],
  failed: ["busy", "no_answer", "rejected", "unreachable", "canceled"],
} as const;

/** Counts events, for the last line. */
export class Summary {
  readonly #counts = new Map<string, number>();

  count(event: EmulatorEvent): void {
    const { type } = event;
    if (type === "state") {
      this.#add(event.state);
      if (event.reason && event.reason !== "normal") this.#add(event.reason);
    } else if (type === "notification") this.#add(event.outcome);
    else if (type === "refused") this.#add(type);
  }

  /** Such as `2 calls: 1 completed, 1 failed (1 busy); 5 notifications delivered`. */
  toString(): string {
    const of = (name: string) => this.#counts.get(name) ?? 0;
    const some = (name: string, text = name) => (of(name) > 0 ? [`${of(name)} ${text}`] : []);
    const many = (name: string, noun: string) => counted(of(name), noun);
    const any = (name: string, noun: string, what: string) =>
      of(name) > 0 ? [`${many(name, noun)} ${what}`] : [];
    const ends = Object.entries(endings)
      .flatMap(([state, reasons]) => {
        const why = reasons.flatMap((reason) => some(reason, reason.replace("_", " ")));
        return some(state).map((text) => (why[0] ? `${text} (${why.join(", ")})` : text));
      })
      .join(", ");
    const calls = many("initiated", "call");
    return [
      ends ? `${calls}: ${ends}` : calls,
      ...any("delivered", "notification", "delivered"),
      ...any("given_up", "notification", "given up"),
      ...any("refused", "request", "refused"),
    ].join("; ");
  }

  #add(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
  }
}
