import type { Doing, HistoryEntry, NotificationEntry, Played } from "../../../server/history.ts";
import { type Child, formatSeconds, make } from "./elements.ts";

type Entry<Type extends HistoryEntry["type"]> = Extract<HistoryEntry, { readonly type: Type }>;

const formatted = (json: string): string => {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
};

const block = (title: string, text: string): readonly Node[] => [
  make("h4", {}, title),
  make("pre", {}, make("bdi", {}, text)),
];

const details = (title: string, ...blocks: readonly (readonly Node[])[]): Node =>
  make("details", {}, make("summary", {}, title), ...blocks.flat());

const bold = (text: string, kind?: string): Node => make("b", { class: kind }, text);

const line = (text: string): Node => make("div", { class: "mono" }, make("bdi", {}, text));

const responseOf = ({ status, ms }: { readonly status?: number; readonly ms: number }): string =>
  `${status === undefined ? "no answer" : `HTTP ${status}`}, ${ms} ms`;

const outcomeClasses = { delivered: "good", retrying: "retrying", given_up: "bad" } as const;

const notification = (entry: NotificationEntry): readonly Child[] => {
  const { event, outcome, request, response, error } = entry;
  const answered = answeredByIn(request.body);
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return [
    bold(event),
    ` · try ${entry.try} · `,
    bold(outcome.replace("_", " "), outcomeClasses[outcome]),
    ` · ${responseOf(entry)}`,
    answered && ` · answered by ${answered}`,
    error && make("div", { class: "soft" }, make("bdi", {}, error)),
    details(
      "Request and answer",
      block(`${request.method ?? "POST"} ${request.url}`, headers.join("\n")),
      block("Body", formatted(request.body)),
      block(`Answer · ${responseOf(entry)}`, response?.body ? formatted(response.body) : "(empty)"),
    ),
  ];
};

/** What answered, in the notification of a carrier that has found it out. */
const answeredByIn = (body: string): string | undefined => {
  try {
    const { status, sub_state } = JSON.parse(body);
    if (status !== "human" && status !== "machine") return;
    return sub_state ? `${status}, ${String(sub_state).replace("_", " ")}` : status;
  } catch {
    return new URLSearchParams(body).get("AnsweredBy") ?? undefined;
  }
};

const playedText = (played: Played): string => {
  if ("text" in played) return played.text;
  if ("media_url" in played) return played.media_url;
  return "keys" in played ? `keys ${played.keys}` : `(${played.pause_ms / 1000} s)`;
};

/** What a step does, whatever the carrier calls it. */
const step = (name: string, { plays = [], dials, streams, duration }: Doing): readonly Child[] => [
  bold(name),
  duration === undefined ? "" : ` for ${formatSeconds(duration)}`,
  line([...plays.map(playedText), dials, streams].filter(Boolean).join(" ")),
];

const describe: {
  readonly [Type in HistoryEntry["type"]]: (entry: Entry<Type>) => readonly Child[];
} = {
  state: ({ state, reason }) => [bold(state), reason && ` · ${reason}`],
  flow: (entry) => [
    bold("flow"),
    ` step ${entry.step} · ${responseOf(entry)}`,
    entry.request?.fields.AnsweredBy && ` · answered by ${entry.request.fields.AnsweredBy}`,
    line(entry.url),
    entry.action && details("Answer", block("Action", JSON.stringify(entry.action, null, 2))),
    (entry.document || entry.request) &&
      details(
        "Request and answer",
        entry.request
          ? block(entry.request.method, `${new URLSearchParams(entry.request.fields)}`)
          : [],
        block("Answer", entry.document || "(empty)"),
      ),
  ],
  flow_error: ({ message }) => [bold("flow error", "bad"), " · ", make("bdi", {}, message)],
  action: ({ action, ...doing }) => step(action.action, doing),
  verb: ({ verb, ...doing }) => step(verb, doing),
  press: ({ digit }) => [bold("key"), " ", make("kbd", {}, digit)],
  say: ({ text, duration }) => [bold("callee"), ` for ${formatSeconds(duration)}`, line(text)],
  leg: ({ state, reason, to }) => [
    bold("second leg"),
    ` ${state}${reason ? ` · ${reason}` : ""}`,
    line(to),
  ],
  stream: ({ state, sent, received, malformed }) => [
    bold("stream"),
    ` ${state} · ${sent} sent, ${received} received`,
    malformed.length > 0 ? details("Malformed", block("Messages", malformed.join("\n"))) : "",
  ],
  cut: ({ by, at_ms, samples }) => [
    bold(by),
    ` at ${formatSeconds(at_ms)} · ${samples} samples were not played`,
  ],
  notification,
  recording: ({ seconds, url }) => {
    const { pathname, search } = new URL(url);
    return [
      bold("recording"),
      ` · ${seconds.toFixed(1)} s`,
      make("audio", {
        controls: true,
        preload: "none",
        "aria-label": "Recording of the call",
        src: pathname + search,
      }),
    ];
  },
  note: ({ text }) => [bold("note"), " · ", make("bdi", {}, text)],
  error: ({ source, message }) => [
    bold(`error in ${source}`, "bad"),
    " · ",
    make("bdi", {}, message),
  ],
};

const contentOf = <Type extends HistoryEntry["type"]>(
  entry: Entry<Type> & { readonly type: Type },
): readonly Child[] => describe[entry.type](entry);

/**
 * An entry of a call's history, as an item of its timeline.
 *
 * @param start - when the call began, in milliseconds since 1970
 */
export const timelineItem = (entry: HistoryEntry, start: number): HTMLLIElement =>
  make(
    "li",
    { class: entry.type === "state" ? `step ${entry.state}` : entry.type },
    make(
      "time",
      { datetime: entry.at, title: entry.at },
      `+${formatSeconds(Date.parse(entry.at) - start)}`,
    ),
    make("div", { class: "what" }, ...contentOf(entry)),
  );
