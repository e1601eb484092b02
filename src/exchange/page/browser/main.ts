import { CallList, isOver } from "../../../emulator/dashboard/page/calls.ts";
import { announce } from "../../../emulator/dashboard/page/elements.ts";
import { CallPlot } from "../../../emulator/dashboard/page/plot.ts";
import {
  connect,
  connected,
  disconnect,
  follow,
  request,
} from "../../../emulator/dashboard/page/server.ts";
import type { CallRow, Update } from "../../../emulator/dashboard/updates.ts";
import type { PageState } from "../state.ts";
import { showState, startControls } from "./aside.ts";

const list = new CallList({ hint: "None yet.", showsLine: true });
const plot = new CallPlot();
const states = new Map<string, CallRow["state"]>();

/** The exchange's time in the latest update, and when that came. */
let updateTime = 0;
let updatedAt = 0;
let isFirst = true;

const now = (): number => updateTime + performance.now() - updatedAt;

const showCall = (call: CallRow): void => {
  const before = states.get(call.id);
  const over = isOver(call);
  if (over) states.delete(call.id);
  else states.set(call.id, call.state);
  list.show(call, now());
  const isNews = before ? before !== call.state : !over;
  if (!isFirst && isNews) announce(`${call.to_number}: ${call.state}`);
};

const showUpdate = (update: Update): void => {
  updateTime = update.now;
  updatedAt = performance.now();
  connect();
  const { opened } = list;
  if (update.whole) {
    states.clear();
    list.clear();
  }
  for (const call of update.calls) showCall(call);
  // A new connection starts with all calls: what was open stays open.
  if (update.whole && opened !== undefined && list.row(opened)) list.toggle(opened);
  list.count();
  isFirst = false;
};

/** The exchange sends an update at least every two seconds. */
const maxSilence = 5_000;

/** Keeps the durations of live calls up to date. */
const tick = (): void => {
  if (!connected()) return;
  if (performance.now() - updatedAt > maxSilence) {
    disconnect("The exchange is silent. This page shows an earlier state.");
    return;
  }
  for (const id of states.keys()) list.row(id)?.showDuration(now());
  if (list.opened !== undefined) list.row(list.opened)?.refresh();
};

/** How often what isn't a call is read, in milliseconds. */
const stateInterval = 2_000;

const readState = async (): Promise<void> => {
  try {
    showState(await request<PageState>("state"));
  } catch {
    // The page shows that the exchange does not respond.
  }
  if (list.calls.length > 0) plot.draw(list.calls, now());
  setTimeout(readState, stateInterval);
};

// Where there is little room, calls come first, and the rest unfolds.
const wide = matchMedia("(min-width: 60rem)");
const unfold = (): void => {
  for (const fold of document.querySelectorAll<HTMLDetailsElement>(".fold")) {
    fold.open = wide.matches;
  }
};
wide.addEventListener("change", unfold);
unfold();
startControls();
setInterval(tick, 250);
follow(showUpdate);
readState();
