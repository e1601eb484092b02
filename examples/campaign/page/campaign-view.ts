import type { Progress } from "outdial/campaigns";
import { box, button, by, make, setText } from "./elements.ts";
import type { Uploaded, View } from "./server.ts";

const number = (value: number): string => value.toLocaleString("en");

const units: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, "days"],
  [3_600, "hours"],
  [60, "minutes"],
  [1, "seconds"],
];

const spanOf = (seconds: number): string => {
  const [size = 1, unit = ""] = units.find(([least]) => seconds >= 2 * least) ?? [];
  return unit ? `about ${Math.ceil(seconds / size)} ${unit}` : "a moment";
};

const hoursOf = ({ window }: View["plan"]): string =>
  window === "always"
    ? "at any hour"
    : [window]
        .flat()
        .map(({ days, from, to, timezone }) => `${days}, ${from} to ${to}, ${timezone}`)
        .join("; ");

/** The plan in a sentence. */
const planned = ({ plan, recorded }: View, { waiting }: Progress): string => {
  const { rate = 1 } = plan;
  const whom = waiting > 0 ? `${number(waiting)} waiting, ${spanOf(waiting / rate)} left` : "";
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
  "blocked",
] as const;

/** The label of the state. */
const stateOf = ({ state, done, contacts, waiting, reason = "" }: Progress): string => {
  if (contacts === 0) return "no list yet";
  if (done) return "done";
  if (state === "paused" && waiting === contacts) return "ready";
  return state === "paused" && reason !== "paused by the caller" ? `paused: ${reason}` : state;
};

/** Shows the progress of a campaign. */
export const showProgress = (view: View, progress: Progress): void => {
  const { contacts, waiting, calling, state, done, unknown } = progress;
  setText("title", view.name);
  setText("state", stateOf(progress));
  box("state").className = `state ${done && contacts > 0 ? "done" : state}`;
  setText("summary", planned(view, progress));
  const isOver = state === "canceled";
  setText("start", waiting > 0 ? `Start calling ${number(waiting)}` : "Start");
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
  setText("unknown-count", number(unknown));
};

/** Shows the result of an upload. */
export const showUploaded = ({ added, duplicate, refused, lines }: Uploaded): void => {
  const summary = `${number(added)} added, ${number(duplicate)} already known, ${number(refused)} refused.`;
  const items = lines.map(({ line, reason }) => make("li", `line ${line}: ${reason}`));
  box("added").replaceChildren(make("p", summary), ...(items.length ? [make("ul", ...items)] : []));
};
