import { dispositions, type EndedCalls, type Progress } from "outdial/campaigns";
import { box, button, by, make, setText } from "./elements.ts";
import type { Uploaded, View } from "./server.ts";

const number = (value: number): string => value.toLocaleString("en");

const units: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, "days"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
];

const durationText = (seconds: number): string => {
  const [size, unit] = units.find(([least]) => seconds >= 2 * least) ?? [1, "s"];
  return `${Math.ceil(seconds / size)} ${unit}`;
};

const hoursOf = ({ window }: View["plan"]): string =>
  window === "always"
    ? "at any hour"
    : [window]
        .flat()
        .map(({ days, from, to, timezone }) => `${days}, ${from} to ${to}, ${timezone}`)
        .join("; ");

/** The plan in a sentence. */
const planned = ({ plan, recorded }: View): string => {
  const how = [
    `${plan.rate ?? 1} calls a second`,
    hoursOf(plan),
    recorded ? "recorded" : "not recorded",
  ];
  return `${how.join(", ")}.`;
};

/** When what is unclear is given up, by the clock of the browser. */
const untilText = (at: number | undefined): string =>
  at === undefined ? "" : `, until ${new Date(at).toTimeString().slice(0, 5)}`;

/** How far the campaign is, in a sentence. */
const progressText = ({ plan }: View, progress: Progress): string => {
  const { contacts, waiting, calling, callingSince = Date.now(), unclear, unclearUntil } = progress;
  const age = (Date.now() - callingSince) / 1000;
  const oldest = age >= 60 ? `, the oldest for ${durationText(age)}` : "";
  if (waiting + calling + unclear === 0) return `All ${number(contacts)} have ended.`;
  const parts = [
    `${number(waiting)} waiting`,
    calling > 0 ? `${number(calling)} calling${oldest}` : "",
    unclear > 0 ? `${number(unclear)} unclear${untilText(unclearUntil)}` : "",
    waiting > 0 ? `about ${durationText(waiting / (plan.rate ?? 1))} left` : "",
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
};

/** The button of the next step; while calls are made there is none. */
const nextStep = ({ contacts, state, done }: Progress): string | undefined => {
  if (contacts === 0) return "add";
  if (done || state === "canceled") return "download";
  return state === "paused" ? "start" : undefined;
};

/** States that are counted also when no contact is in them. */
const always = ["waiting", "calling"];

/** The counts of a progress, by their states, in the order of reports. */
const countsOf = (progress: Progress): readonly (readonly [state: string, count: number])[] => {
  const shown = [...always, "unclear", ...Object.keys(dispositions)];
  return Object.entries(progress).flatMap(([name, count]) =>
    shown.includes(name) && typeof count === "number" ? [[name, count]] : [],
  );
};

/** The label of the state. */
const stateOf = ({ state, done, contacts, waiting, reason = "" }: Progress): string => {
  if (contacts === 0) return "no list yet";
  if (done) return "done";
  if (state === "paused" && waiting === contacts) return "ready";
  return state === "paused" && reason !== "paused by the caller" ? `paused: ${reason}` : state;
};

/** Shows the progress of a campaign. */
export const showProgress = (view: View, progress: Progress): void => {
  const { contacts, waiting, calling, unclear, state, done, unknown } = progress;
  setText("title", view.name);
  setText("state", stateOf(progress));
  box("state").className = `state ${done && contacts > 0 ? "done" : state}`;
  setText("summary", planned(view));
  setText("left", progressText(view, progress));
  const next = nextStep(progress);
  for (const id of ["add", "start", "download"]) {
    button(id).classList.toggle("primary", id === next);
  }
  const isOver = state === "canceled";
  setText("start", waiting > 0 ? `Start calling ${number(waiting)}` : "Start");
  button("start").disabled = state === "running" || isOver || contacts === 0;
  button("pause").disabled = state !== "running" || waiting === 0;
  button("stop").disabled = calling + unclear === 0;
  button("cancel").disabled = isOver || waiting === 0;
  button("download").disabled = contacts === 0;
  box("so-far").hidden = contacts === 0;
  box("calling-back").hidden = contacts === 0 || isOver;
  const bar = by("ended", HTMLProgressElement);
  bar.max = Math.max(1, contacts);
  bar.value = contacts - waiting - calling - unclear;
  box("counts").replaceChildren(
    ...countsOf(progress)
      .filter(([name, count]) => count > 0 || always.includes(name))
      .map(([name, count]) =>
        make("div", make("dt", name.replace("_", " ")), make("dd", number(count))),
      ),
  );
  box("unknown").hidden = unknown === 0;
  setText("unknown-count", number(unknown));
};

/** Shows what became of the live calls. */
export const showStopped = ({ ended, failed, unclear }: EndedCalls): void => {
  const texts = [
    `${number(ended)} ended.`,
    failed.length > 0 ? `${number(failed.length)} could not be ended: try again.` : "",
    unclear.length > 0
      ? `${number(unclear.length)} may be live, and have no id yet: each is ended once its id is known.`
      : "",
  ];
  setText("stopped", texts.filter(Boolean).join(" "));
};

/** How many refused lines are listed for each reason. */
const mostLines = 20;

/** The refused lines, by reason. */
const refusals = (lines: Uploaded["lines"]): readonly string[] => {
  const byReason = new Map<string, number[]>();
  for (const { line, reason } of lines) {
    byReason.set(reason, [...(byReason.get(reason) ?? []), line]);
  }
  return [...byReason].map(([reason, all]) => {
    const more = all.length > mostLines ? ` and ${number(all.length - mostLines)} more` : "";
    return `${reason}: line ${all.slice(0, mostLines).join(", ")}${more}`;
  });
};

/** Shows the result of an upload. */
export const showUploaded = ({ added, duplicate, refused, lines }: Uploaded): void => {
  const summary = `${number(added)} added, ${number(duplicate)} already known, ${number(refused)} refused.`;
  const rest = refused - lines.length;
  const texts = [...refusals(lines), ...(rest > 0 ? [`${number(rest)} more are not listed`] : [])];
  const items = texts.map((text) => make("li", text));
  box("added").replaceChildren(make("p", summary), ...(items.length ? [make("ul", ...items)] : []));
};
