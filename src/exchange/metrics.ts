import { type LoggedEvent, word } from "./log.ts";
import type { ExchangeService } from "./parts.ts";

/** What is read when the metrics are asked for. */
export interface MeasuredParts {
  readonly service: Pick<ExchangeService, "isReady" | "live" | "failedNotifications">;
  /** How many bytes all recordings have. */
  readonly recordings: { readonly bytes: number } | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The labels of a value. */
type Labels = Readonly<Record<string, string | undefined>>;

/** Labels as Prometheus writes them: of words alone, so that nobody from outside makes new ones without end. */
const labelsOf = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(
    ([name, value]) => `${name}="${word(value) ?? "other"}"`,
  );
  return pairs.length > 0 ? `{${pairs.join(",")}}` : "";
};

/** The text of one metric. */
const metric = (
  name: string,
  type: "counter" | "gauge",
  help: string,
  values: Iterable<readonly [labels: string, value: number]>,
): string => {
  const lines = [...values].map(([labels, value]) => `${name}${labels} ${value}`);
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ""].join("\n");
};

/** A counter that only grows, by its labels. */
class Counter {
  readonly #name: string;
  readonly #help: string;
  readonly #counts = new Map<string, number>();

  constructor(name: string, help: string) {
    this.#name = name;
    this.#help = help;
  }

  add(labels: Labels, count = 1): void {
    const text = labelsOf(labels);
    this.#counts.set(text, (this.#counts.get(text) ?? 0) + count);
  }

  toString(): string {
    return metric(this.#name, "counter", this.#help, this.#counts);
  }
}

/** How many there are of each, by a label. */
const countedBy = <T>(
  all: readonly T[],
  names: readonly string[],
  label: string,
  nameOf: (each: T) => string,
): readonly (readonly [string, number])[] =>
  names.map((name) => [
    labelsOf({ [label]: name }),
    all.filter((each) => nameOf(each) === name).length,
  ]);

/** Counts what an exchange does, and shows it as Prometheus reads it. */
export class Metrics {
  readonly #calls = new Counter("outdial_calls_total", "Calls that are over.");
  readonly #stored = new Counter("outdial_calls_stored_total", "Calls that were accepted.");
  readonly #talked = new Counter("outdial_talk_seconds_total", "Seconds of answered calls.");
  readonly #refused = new Counter("outdial_refusals_total", "Requests that were refused, by rule.");
  readonly #notified = new Counter(
    "outdial_notification_attempts_total",
    "Attempts to deliver a notification.",
  );
  readonly #lost = new Counter(
    "outdial_asterisk_lost_total",
    "How often Asterisk's events were lost.",
  );
  readonly #swept = new Counter(
    "outdial_swept_channels_total",
    "Channels that no live call owned, and that were hung up.",
  );
  readonly #failed = new Counter(
    "outdial_recording_failures_total",
    "Recordings that could not be written to their end.",
  );
  readonly #signIns = new Counter("outdial_sign_ins_total", "Who came to the page.");

  /** Counts an event. */
  add(event: LoggedEvent): void {
    switch (event.type) {
      case "stored":
        this.#stored.add({ side: event.side });
        break;
      case "ended":
        this.#talked.add({}, Math.round(event.talkTime / 1_000));
        this.#calls.add({ state: event.state, reason: event.reason });
        break;
      case "refused":
        this.#refused.add({ side: event.side, rule: event.rule });
        break;
      case "notification":
        this.#notified.add({ outcome: event.outcome });
        break;
      case "asterisk":
        if (event.state === "lost") this.#lost.add({});
        break;
      case "swept":
        this.#swept.add({}, event.channels);
        break;
      case "recording_failed":
        this.#failed.add({ code: event.code });
        break;
      case "sign_in":
        this.#signIns.add({ outcome: event.outcome });
        break;
    }
  }

  /** All metrics in the text format of Prometheus. No label has a number or an address. */
  text({ service, recordings, now }: MeasuredParts): string {
    const { live, failedNotifications: failed } = service;
    const pending = failed.filter(({ state }) => state === "pending");
    const oldest = pending.reduce((age, { at }) => Math.max(age, now - at), 0);
    return [
      metric("outdial_asterisk_up", "gauge", "Whether Asterisk is reached.", [
        ["", service.isReady ? 1 : 0],
      ]),
      metric(
        "outdial_calls",
        "gauge",
        "Calls that are not over.",
        countedBy(live, ["initiated", "ringing", "answered"], "state", ({ state }) => state),
      ),
      metric(
        "outdial_notifications",
        "gauge",
        "Notifications that are not delivered.",
        countedBy(failed, ["pending", "given_up"], "state", ({ state }) => state),
      ),
      metric(
        "outdial_notifications_oldest_seconds",
        "gauge",
        "How long the oldest pending notification has waited.",
        [["", Math.round(oldest / 1_000)]],
      ),
      metric("outdial_recordings_bytes", "gauge", "Bytes of all recordings.", [
        ["", recordings?.bytes ?? 0],
      ]),
      this.#stored,
      this.#calls,
      this.#talked,
      this.#refused,
      this.#notified,
      this.#lost,
      this.#swept,
      this.#failed,
      this.#signIns,
    ].join("");
  }
}
