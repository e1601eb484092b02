/** The section "Calls": a row for each, and the timeline of the one that is open. */
export const calls: string = `
const rows = new Map();
/** As many as the emulator keeps: beyond that, the oldest go. */
const mostRows = 1000;
const known = new Set();
let opened;

const rowOf = (call) => {
  const state = make("span", { class: "state" });
  const long = make("span", { class: "long mono" });
  const trouble = make("span", { class: "trouble", hidden: true });
  const panel = make("div", { class: "open", id: "open-" + call.id, hidden: true });
  const button = make("button", { type: "button", "aria-expanded": "false", "aria-controls": panel.id, click: () => toggle(call.id) },
    make("span", { class: "when soft mono" }, clock(call.initiated_at)),
    make("span", { class: "numbers mono" },
      make("bdi", {}, call.from_number), " ", make("i", { "aria-label": "to" , role: "img" }, "→"), " ", make("bdi", {}, call.to_number)),
    state, long, trouble);
  const list = make("li", {}, make("h3", {}, button), panel);
  return { list, button, state, long, trouble, panel, call, entries: 0 };
};

const factsOf = (call) => {
  const facts = { Call: call.id, Flow: call.flow_url, Callback: call.status_callback_url, Recorded: call.record ? "yes" : "no" };
  return make("dl", { class: "facts" },
    ...Object.entries(facts).flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, make("bdi", {}, value))]));
};

const refresh = async (row) => {
  if (row.asking) return void (row.askAgain = true);
  row.asking = true;
  try {
    do {
      row.askAgain = false;
      const call = await ask("calls/" + row.call.id);
      if (!row.timeline) {
        row.timeline = make("ol", { class: "timeline", "aria-label": "Timeline" });
        row.panel.replaceChildren(factsOf(call), row.timeline);
      }
      row.timeline.append(...call.history.slice(row.entries).map((entry) => item(entry, call.initiated_at)));
      row.entries = call.history.length;
      if (!row.voices && call.history.some(({ type }) => type === "stream")) {
        row.voices = voicesFigure();
        row.timeline.before(row.voices.figure);
      }
      if (row.voices) await hearVoices(row);
    } while (row.askAgain);
  } catch (error) {
    if (!row.timeline) row.panel.replaceChildren(make("p", { class: "soft" }, error.message));
  } finally {
    row.asking = false;
  }
};

const toggle = (id) => {
  const before = rows.get(opened);
  if (before) {
    before.panel.hidden = true;
    before.button.setAttribute("aria-expanded", "false");
  }
  opened = opened === id ? undefined : id;
  const row = rows.get(opened);
  if (!row) return;
  row.panel.hidden = false;
  row.button.setAttribute("aria-expanded", "true");
  refresh(row);
};

const sayTrouble = (row, { lost, retrying }) => {
  const words = [];
  if (lost > 0) words.push(lost + (lost === 1 ? " notification" : " notifications") + " given up");
  if (retrying) words.push(retrying.event + " not delivered (" + retrying.error + "), try " + (retrying.tries + 1) + " at " + clock(retrying.next_at));
  say(row.trouble, words.join(" · "));
};

const showCall = (call, now) => {
  let row = rows.get(call.id);
  if (!row) {
    // An older call, whose row has gone for later ones.
    if (known.has(call.id)) return;
    known.add(call.id);
    row = rowOf(call);
    rows.set(call.id, row);
    by("calls").prepend(row.list);
    if (rows.size > mostRows) {
      const [oldest] = rows.keys();
      rows.get(oldest).list.remove();
      rows.delete(oldest);
    }
  }
  row.call = call;
  row.list.hidden = !isWanted(call);
  row.trouble.hidden = call.trouble === undefined;
  if (call.trouble) sayTrouble(row, call.trouble);
  const text = call.reason && call.reason !== "normal" ? call.state + " · " + call.reason.replace("_", " ") : call.state;
  say(row.state, text);
  row.state.className = "state " + (call.reason === "flow_error" ? "bad" : call.state);
  const until = call.ended_at ?? now;
  say(row.long, call.answered_at === undefined ? "" : span(until - call.answered_at));
  if (opened === call.id) refresh(row);
};

const countCalls = () => {
  const shown = [...rows.values()].filter(({ list }) => !list.hidden).length;
  const all = shown === known.size;
  say(by("count"), known.size === 0 ? "" : all ? String(known.size) : shown + " of " + known.size);
  by("overview").hidden = known.size === 0;
  by("none").hidden = shown > 0;
  say(by("none"), known.size > 0
    ? "None of them is like that."
    : placing ? "None yet. Place one here, or with the curl line." : "None yet. Place one with the curl line that the emulator printed.");
};

const forgetCalls = () => {
  rows.clear();
  phones.clear();
  known.clear();
  opened = undefined;
  by("calls").replaceChildren();
  by("phones").replaceChildren();
  countPhones();
};
`;
