import type { EmulatorEvent } from "../../emulator/line/history.ts";

/** How calls end, and the reasons that are worth a word. */
const endings = {
  completed: ["flow_error", "max_duration"],
  failed: ["busy", "no_answer", "rejected", "unreachable", "canceled"],
} as const;

/** Counts what happened, for the last line. */
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
    const some = (name: string, words = name) => (of(name) > 0 ? [`${of(name)} ${words}`] : []);
    const many = (name: string, noun: string) => `${of(name)} ${noun}${of(name) === 1 ? "" : "s"}`;
    const any = (name: string, noun: string, words: string) =>
      of(name) > 0 ? [`${many(name, noun)} ${words}`] : [];
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
