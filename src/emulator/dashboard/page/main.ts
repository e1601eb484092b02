import type { CallRow, Update } from "../updates.ts";
import { CallList, isOver } from "./calls.ts";
import { announce, box, button } from "./elements.ts";
import { hideKey, startKey } from "./key.ts";
import { Phones } from "./phones.ts";
import { canPlace, startPlacing } from "./place-call.ts";
import { CallPlot } from "./plot.ts";
import { connect, connected, disconnect, follow } from "./server.ts";

const speed = Number(box("dashboard").dataset.speed);
const list = new CallList({
  hint: canPlace()
    ? "None yet. Place one here, or with the curl line."
    : "None yet. Place one with the curl line that the emulator printed.",
  onToggle: () => showPhones(),
});
const phones = new Phones((id) => (list.row(id)?.head ?? button("reveal")).focus());
const plot = new CallPlot();
const active = new Map<string, CallRow>();

/** The emulator's time in the latest update, and when that came. */
let updateTime = 0;
let updatedAt = 0;
let isFirst = true;

/** The emulator's time. */
const now = (): number => updateTime + (performance.now() - updatedAt) * speed;

/** The least time between two plots, in milliseconds. */
const plotInterval = 500;

let plottedAt = 0;
let willPlot = false;

const schedulePlot = (): void => {
  if (willPlot || list.calls.length === 0) return;
  willPlot = true;
  const draw = () => {
    willPlot = false;
    plottedAt = performance.now();
    plot.draw(list.calls, now());
  };
  setTimeout(draw, Math.max(0, plotInterval - (performance.now() - plottedAt)));
};

const showCall = (call: CallRow): void => {
  const over = isOver(call);
  const before = active.get(call.id);
  if (over) active.delete(call.id);
  else active.set(call.id, call);
  list.show(call, now());
  phones.show(call, now(), over, list.opened === call.id);
  const isNews = before ? before.state !== call.state : !over;
  if (!isFirst && isNews) announce(`${call.to_number}: ${call.state}`);
};

/** A call that was opened has a telephone; one that was closed has none any more. */
const showPhones = (): void => {
  for (const call of active.values()) phones.show(call, now(), false, list.opened === call.id);
};

const showUpdate = (update: Update): void => {
  updateTime = update.now;
  updatedAt = performance.now();
  connect();
  phones.showAttendant(update.attendant);
  const { opened } = list;
  if (update.whole) {
    active.clear();
    list.clear();
    phones.clear();
  }
  for (const call of update.calls) showCall(call);
  for (const refused of update.refused) {
    list.showRefused(refused);
    if (!isFirst) announce(`refused: HTTP ${refused.status}: ${refused.detail}`);
  }
  // A new connection starts with all calls: what was open stays open.
  if (update.whole && opened !== undefined && list.row(opened)) list.toggle(opened);
  if (update.key) hideKey();
  list.count();
  schedulePlot();
  isFirst = false;
};

/** The emulator sends an update at least every two seconds. */
const maxSilence = 5_000;

/** Keeps the durations of current calls up to date. */
const tick = (): void => {
  if (!connected()) return;
  if (performance.now() - updatedAt > maxSilence) {
    disconnect("The emulator is silent. This page shows an earlier state.");
    return;
  }
  for (const call of active.values()) {
    if (call.state !== "answered") continue;
    const row = list.row(call.id);
    row?.showDuration(now());
    phones.show(call, now(), false, list.opened === call.id);
  }
  if (list.opened !== undefined) list.row(list.opened)?.refresh();
};

// Where there is little room, placing a call comes first, and the rest unfolds.
const wide = matchMedia("(min-width: 60rem)");
const unfold = (): void => {
  for (const fold of document.querySelectorAll<HTMLDetailsElement>(".fold")) {
    fold.open = wide.matches;
  }
};
wide.addEventListener("change", unfold);
unfold();
startKey();
startPlacing((id) => {
  phones.hold(id);
  showPhones();
});
setInterval(tick, 250);
follow(showUpdate);
