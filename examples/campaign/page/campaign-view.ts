import type { Progress } from "outdial/campaigns";
import { box, button, by, make, say } from "./elements.ts";
import type { Uploaded, View } from "./server.ts";

const number = (value: number): string => value.toLocaleString("en");

const spans: readonly (readonly [seconds: number, word: string])[] = [
  [86_400, "days"],
  [3_600, "hours"],
  [60, "minutes"],
  [1, "seconds"],
];

const spanOf = (seconds: number): string => {
  const [size = 1, word = ""] = spans.find(([least]) => seconds >= 2 * least) ?? [];
  return word ? `about ${Math.ceil(seconds / size)} ${word}` : "a moment";
};

const hoursOf = ({ window }: View["plan"]): string =>
  window === "always"
    ? "at any hour"
    : [window]
        .flat()
        .map(({ days, from, to, timezone }) => `${days}, ${from} to ${to}, ${timezone}`)
        .join("; ");

/** What will happen, in a sentence. */
const planned = ({ plan, recorded }: View, { waiting }: Progress): string => {
  const { rate = 1 } = plan;
  const whom = waiting > 0 ? `${number(waiting)} wait, which takes ${spanOf(waiting / rate)}` : "";
  const how = [`${rate} calls a second`, hoursOf(plan), recorded ? "recorded" : "not recorded"];
  return `${[how.join(", "), whom].filter(Boolean).join(". ")}.`;
};

const shown = [
  "waiting",
  "calling",
  "completed",
  "busy",
  "no_answer",
  "rejected",
  "unreachable",
  "refused",
  "unknown",
  "expired",
  "canceled",
  "skipped",
] as const;

/** What it is called where it stands: nothing begins before somebody starts it. */
const stateOf = ({ state, done, contacts, waiting, reason = "" }: Progress): string => {
  if (contacts === 0) return "no list yet";
  if (done) return "done";
  if (state === "paused" && waiting === contacts) return "ready";
  return state === "paused" && reason !== "paused by the caller" ? `paused: ${reason}` : state;
};

/** Shows how far a campaign has come. */
export const showProgress = (view: View, progress: Progress): void => {
  const { contacts, waiting, calling, state, done, unknown } = progress;
  say("title", view.name);
  say("state", stateOf(progress));
  box("state").className = `state ${done && contacts > 0 ? "done" : state}`;
  say("summary", planned(view, progress));
  const isOver = state === "canceled";
  say("start", waiting > 0 ? `Start calling ${number(waiting)}` : "Start");
  button("start").disabled = state === "running" || isOver || contacts === 0;
  button("pause").disabled = state !== "running" || waiting === 0;
  button("cancel").disabled = isOver || waiting === 0;
  button("download").disabled = contacts === 0;
  box("so-far").hidden = contacts === 0;
  const bar = by("ended", HTMLProgressElement);
  bar.max = Math.max(1, contacts);
  bar.value = contacts - waiting - calling;
  box("counts").replaceChildren(
    ...shown
      .filter((name) => progress[name] > 0 || name === "waiting" || name === "calling")
      .map((name) =>
        make("div", make("dt", name.replace("_", " ")), make("dd", number(progress[name]))),
      ),
  );
  box("unknown").hidden = unknown === 0;
  say("unknown-count", number(unknown));
};

/** Shows what became of a list. */
export const showUploaded = ({ added, duplicate, refused, lines }: Uploaded): void => {
  const told = `${number(added)} added, ${number(duplicate)} known already, ${number(refused)} refused.`;
  const items = lines.map(({ line, reason }) => make("li", `line ${line}: ${reason}`));
  box("added").replaceChildren(make("p", told), ...(items.length ? [make("ul", ...items)] : []));
};
