import type { CallRecord, RefusedEvent } from "../../../server/history.ts";
import type { CallRow, LinePart, Undelivered } from "../updates.ts";
import {
  box,
  formatDuration,
  formatTime,
  input,
  make,
  messageOf,
  select,
  setText,
} from "./elements.ts";
import { connected, server } from "./server.ts";
import { timelineItem } from "./timeline.ts";
import { VoicesPlot } from "./voices.ts";

export const isOver = ({ state }: CallRow): boolean => state === "completed" || state === "failed";

/** The filters of the list, by the value of the field "State". */
const stateFilters: Readonly<Record<string, (call: CallRow) => boolean>> = {
  "": () => true,
  active: (call) => !isOver(call),
  completed: ({ state }) => state === "completed",
  failed: ({ state }) => state === "failed",
  undelivered: ({ undelivered }) => undelivered !== undefined,
  refused: () => false,
};

const filterText = (): string => input("filter-number").value.trim();

/** Whether a text is in a call's id, or its digits are in one of its numbers. */
const names = ({ id, to_number, from_number }: CallRow, text: string): boolean => {
  if (text === "" || id.toLowerCase().includes(text.toLowerCase())) return true;
  const digits = text.replace(/[\s().-]/g, "");
  return /^\+?\d+$/.test(digits) && [to_number, from_number].some((one) => one.includes(digits));
};

const matchesFilters = (call: CallRow): boolean =>
  (stateFilters[select("filter-state").value]?.(call) ?? true) && names(call, filterText());

/** Whether refused requests are shown: they have no call, and so no number. */
const showsRefused = (): boolean =>
  ["", "refused"].includes(select("filter-state").value) && filterText() === "";

const undeliveredText = ({ givenUp, retrying }: Undelivered): string => {
  const texts: string[] = [];
  if (givenUp > 0) texts.push(`${givenUp} notification${givenUp === 1 ? "" : "s"} given up`);
  if (retrying) {
    const { event, error, tries, nextAt } = retrying;
    texts.push(`${event} not delivered (${error}), try ${tries + 1} at ${formatTime(nextAt)}`);
  }
  return texts.join(" · ");
};

const lineText = (part: LinePart): string =>
  "text" in part ? part.text : "digit" in part ? `key ${part.digit}` : part.media_url;

const stateText = ({ state, reason }: CallRow): string =>
  reason && reason !== "normal" ? `${state} · ${reason.replace("_", " ")}` : state;

/** Why a call has failed, or its flow has. */
const causeOf = ({ state, reason, flow_error }: CallRecord): string | undefined =>
  flow_error ?? (state === "failed" ? reason?.replaceAll("_", " ") : undefined);

const factsOf = (call: CallRecord): HTMLElement => {
  const cause = causeOf(call);
  const facts = {
    ...(cause && { Cause: cause }),
    Call: call.id,
    Flow: call.flow_url,
    Callback: call.status_callback_url,
    Recorded: call.record ? "yes" : "no",
  };
  const items = Object.entries(facts).flatMap(([name, value]) => [
    make("dt", {}, name),
    make("dd", name === "Cause" ? { class: "bad" } : {}, make("bdi", {}, value)),
  ]);
  return make("dl", { class: "facts" }, ...items);
};

/** The row of one call: its head, and its timeline while it is open. */
class Row {
  readonly item: HTMLLIElement;
  readonly head: HTMLButtonElement;
  call: CallRow;
  readonly #state = make("span", { class: "state" });
  readonly #duration = make("span", { class: "long mono" });
  readonly #undelivered = make("span", { class: "undelivered", hidden: true });
  readonly #line = make("span", { class: "reason soft", hidden: true });
  readonly #showsLine: boolean;
  readonly #panel: HTMLElement;
  #facts: HTMLElement | undefined;
  #timeline: HTMLOListElement | undefined;
  #voices: VoicesPlot | undefined;
  #entries = 0;
  #isLoading = false;
  #loadAgain = false;
  #hasFailed = false;

  constructor(call: CallRow, showsLine = false) {
    this.call = call;
    this.#showsLine = showsLine;
    this.#panel = make("div", { class: "open", id: `open-${call.id}`, hidden: true });
    const arrow = make("i", { "aria-label": "to", role: "img" }, "→");
    this.head = make(
      "button",
      { type: "button", class: "head", "aria-expanded": "false", "aria-controls": this.#panel.id },
      make("span", { class: "when soft mono" }, formatTime(call.initiated_at)),
      make(
        "span",
        { class: "numbers mono" },
        make("bdi", {}, call.from_number),
        " ",
        arrow,
        " ",
        make("bdi", {}, call.to_number),
      ),
      this.#state,
      this.#duration,
      make("span", { class: "note" }, this.#line, this.#undelivered),
    );
    const at = String(call.initiated_at);
    this.item = make("li", { "data-at": at }, make("h3", {}, this.head), this.#panel);
  }

  get isOpen(): boolean {
    return !this.#panel.hidden;
  }

  set isOpen(isOpen: boolean) {
    this.#panel.hidden = !isOpen;
    this.head.setAttribute("aria-expanded", String(isOpen));
    if (isOpen) this.load();
  }

  update(call: CallRow, now: number): void {
    this.call = call;
    const { state, reason, undelivered } = call;
    this.#undelivered.hidden = undelivered === undefined;
    if (undelivered) setText(this.#undelivered, undeliveredText(undelivered));
    const last = this.#showsLine ? call.line?.at(-1) : undefined;
    this.#line.hidden = last === undefined;
    if (last) setText(this.#line, lineText(last));
    setText(this.#state, stateText(call));
    this.#state.className = `state ${reason === "flow_error" ? "bad" : state}`;
    this.showDuration(now);
    if (this.isOpen) this.load();
  }

  showDuration(now: number): void {
    const { answered_at, ended_at = now } = this.call;
    const text = answered_at === undefined ? "" : formatDuration(ended_at - answered_at);
    setText(this.#duration, text);
  }

  /** Draws the voices of a current call again, once a second at most, and asks again for what got no response. */
  refresh(): void {
    if (!this.isOpen) return;
    if (this.#hasFailed) this.load();
    const isWanted = this.call.state === "answered" || this.#voices?.hasFailed;
    if (this.#voices && isWanted && this.#voices.age > 1_000) this.#voices.refresh(this.call.id);
  }

  /** Adds new entries to the timeline. A request while one is running follows it. */
  async load(): Promise<void> {
    this.#loadAgain = true;
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      while (this.#loadAgain) {
        this.#loadAgain = false;
        await this.#loadOnce();
      }
      this.#hasFailed = false;
    } catch (error) {
      this.#hasFailed = !connected();
      if (!this.#timeline) {
        this.#panel.replaceChildren(make("p", { class: "soft" }, messageOf(error)));
      }
    } finally {
      this.#isLoading = false;
    }
  }

  async #loadOnce(): Promise<void> {
    const { id } = this.call;
    const call = await server.call(id);
    const facts = factsOf(call);
    if (!this.#timeline) {
      this.#timeline = make("ol", { class: "timeline", "aria-label": "Timeline" });
      this.#panel.replaceChildren(facts, this.#timeline);
    } else if (this.#facts?.textContent !== facts.textContent) this.#facts?.replaceWith(facts);
    if (facts.isConnected) this.#facts = facts;
    const added = call.history.slice(this.#entries);
    this.#timeline.append(...added.map((entry) => timelineItem(entry, call.initiated_at)));
    this.#entries = call.history.length;
    if (!this.#voices && call.history.some(({ type }) => type === "stream")) {
      this.#voices = new VoicesPlot();
      this.#timeline.before(this.#voices.figure);
    }
    await this.#voices?.refresh(id);
  }
}

const refusedRow = ({ at, method, path, status, detail }: RefusedEvent): HTMLLIElement => {
  const time = Date.parse(at);
  return make(
    "li",
    { "data-at": String(time) },
    make(
      "div",
      { class: "head" },
      make("span", { class: "when soft mono" }, formatTime(time)),
      make("span", { class: "numbers mono" }, `${method} ${path}`),
      make("span", { class: "state failed" }, `refused · HTTP ${status}`),
      make("span", { class: "reason" }, make("bdi", {}, detail)),
    ),
  );
};

/** How many refused requests are listed. */
const maxRefused = 100;

/** How many rows are kept: as many ended calls as the emulator keeps. */
const maxRows = 1_000;

/** What differs between pages with calls. */
interface CallListOptions {
  /** Shown where there is no call. */
  readonly hint: string;
  /** Called when the timeline of a call was opened or closed. */
  readonly onToggle?: () => void;
  /** Whether a row has what its live call plays, or the callee pressed, last. */
  readonly showsLine?: boolean;
}

/** The section "Calls": a row for each call, and the timeline of the one that is open. */
export class CallList {
  readonly #rows = new Map<string, Row>();
  /** The ids of all calls, those whose row was removed too. */
  readonly #known = new Set<string>();
  /** The rows of refused requests, the oldest first. */
  #refused: readonly HTMLLIElement[] = [];
  #opened: string | undefined;
  readonly #options: CallListOptions;

  constructor(options: CallListOptions) {
    this.#options = options;
    const filter = () => {
      for (const { item, call } of this.#rows.values()) item.hidden = !matchesFilters(call);
      for (const item of this.#refused) item.hidden = !showsRefused();
      this.count();
    };
    select("filter-state").addEventListener("change", filter);
    input("filter-number").addEventListener("input", filter);
  }

  /** The calls that have a row. */
  get calls(): readonly CallRow[] {
    return [...this.#rows.values()].map(({ call }) => call);
  }

  /** The id of the call whose timeline is shown. */
  get opened(): string | undefined {
    return this.#opened;
  }

  row(id: string): Row | undefined {
    return this.#rows.get(id);
  }

  /** Opens the timeline of a call, or closes it. */
  toggle(id: string): void {
    const before = this.#opened === undefined ? undefined : this.#rows.get(this.#opened);
    if (before) before.isOpen = false;
    this.#opened = this.#opened === id ? undefined : id;
    const row = this.#opened === undefined ? undefined : this.#rows.get(id);
    if (row) row.isOpen = true;
    this.#options.onToggle?.();
  }

  show(call: CallRow, now: number): void {
    const row = this.#rows.get(call.id) ?? this.#add(call);
    if (!row) return;
    row.update(call, now);
    row.item.hidden = !matchesFilters(call);
  }

  showRefused(refused: RefusedEvent): void {
    const item = refusedRow(refused);
    item.hidden = !showsRefused();
    this.#insert(item);
    this.#refused = [...this.#refused, item];
    for (const old of this.#refused.slice(0, -maxRefused)) old.remove();
    this.#refused = this.#refused.slice(-maxRefused);
  }

  /** Shows how many calls and refused requests there are, and how many calls match the filters. */
  count(): void {
    const refused = this.#refused.length;
    const calls = this.#known.size;
    const all = calls + refused;
    const shown = [...this.#rows.values()].filter(({ item }) => !item.hidden).length;
    const counts = [
      calls === 0 ? "" : shown === calls ? String(calls) : `${shown} of ${calls}`,
      refused === 0 ? "" : `${refused} refused`,
    ];
    setText(box("count"), counts.filter(Boolean).join(" · "));
    box("overview").hidden = all === 0;
    box("none").hidden = shown > 0 || (refused > 0 && showsRefused());
    setText(box("none"), all > 0 ? "No call matches the filters." : this.#options.hint);
  }

  clear(): void {
    this.#rows.clear();
    this.#known.clear();
    this.#refused = [];
    this.#opened = undefined;
    box("calls").replaceChildren();
  }

  /** The latest is the first. */
  #insert(item: HTMLLIElement): void {
    const timeOf = (row: Element): number => Number(row.getAttribute("data-at"));
    let next = box("calls").firstElementChild;
    while (next && timeOf(next) > timeOf(item)) next = next.nextElementSibling;
    box("calls").insertBefore(item, next);
  }

  #add(call: CallRow): Row | undefined {
    // An older call, whose row was removed for later ones.
    if (this.#known.has(call.id)) return;
    this.#known.add(call.id);
    const row = new Row(call, this.#options.showsLine);
    row.head.addEventListener("click", () => this.toggle(call.id));
    this.#rows.set(call.id, row);
    this.#insert(row.item);
    const [oldest] = this.#rows;
    if (oldest && this.#rows.size > maxRows) {
      oldest[1].item.remove();
      this.#rows.delete(oldest[0]);
    }
    return row;
  }
}
