import type { CallRow, LinePart } from "../updates.ts";
import { Aloud } from "./aloud.ts";
import { announce, box, findById, formatDuration, make, messageOf, setText } from "./elements.ts";
import { makeKeypad } from "./keypad.ts";
import { connected, server } from "./server.ts";

/** The telephone of one call. */
interface Phone {
  readonly card: HTMLLIElement;
  readonly state: HTMLElement;
  /** What was said, and which keys were pressed. */
  readonly line: HTMLElement;
  readonly keypad: HTMLElement;
  readonly buttons: HTMLElement;
  aloud: HTMLButtonElement | undefined;
  shownState: string;
  /** How many parts of the line are shown, or were. */
  shownParts: number;
  /** What was spoken last. */
  lastText: LinePart | undefined;
}

/** How many telephones are shown. */
const maxShown = 3;

/** @param before - called before the emulator is asked */
const actionButton = (
  id: string,
  action: "answer" | "reject" | "hangup",
  text: string,
  before: () => void = () => {},
): HTMLButtonElement => {
  const kind = action === "answer" ? "answer" : "refuse";
  const element = make("button", { type: "button", class: `${kind} acts` }, text);
  element.disabled = !connected();
  element.addEventListener("click", async () => {
    before();
    try {
      await server.act(id, action);
    } catch (error) {
      announce(messageOf(error));
    }
  });
  return element;
};

const partText = (part: LinePart): Node => {
  if ("text" in part) return make("p", {}, make("bdi", {}, part.text));
  if ("digit" in part) return make("p", { class: "pressed" }, "key ", make("kbd", {}, part.digit));
  return make("p", { class: "soft" }, "plays ", make("bdi", {}, part.media_url));
};

/**
 * The section "Callee's phone": a telephone for each call that waits for an answer, and for those that somebody has opened,
 * placed or answered on this page.
 */
export class Phones {
  readonly #phones = new Map<string, Phone>();
  /** The calls that somebody has placed or answered here. */
  readonly #held = new Set<string>();
  readonly #onFocusLost: (id: string) => void;
  readonly #attendant = findById("attendant", HTMLInputElement);
  readonly #aloud = new Aloud(() => this.#repeat());
  /** How many requests of the switch are not answered yet. */
  #switching = 0;

  /** @param onFocusLost - called when a telephone that has the focus is removed */
  constructor(onFocusLost: (id: string) => void) {
    this.#onFocusLost = onFocusLost;
    const attendant = this.#attendant;
    // One request after the other: two at once may arrive in the other order.
    let last: Promise<unknown> = Promise.resolve();
    attendant?.addEventListener("change", () => {
      const isPresent = attendant.checked;
      this.#switching++;
      last = last
        .then(() => server.setAttendant(isPresent))
        .catch((error) => {
          attendant.checked = !isPresent;
          announce(messageOf(error));
        })
        .finally(() => this.#switching--);
    });
  }

  /** Shows whether the attendant is present, unless the switch is on its way to another state. */
  showAttendant(isPresent: boolean): void {
    if (this.#attendant && this.#switching === 0) this.#attendant.checked = isPresent;
  }

  /** Keeps the telephone of a call to its end. */
  hold(id: string): void {
    this.#held.add(id);
  }

  /**
   * @param isOver - whether the call is over, so that it has no telephone
   * @param isOpened - whether its timeline is shown
   */
  show(call: CallRow, now: number, isOver: boolean, isOpened: boolean): void {
    const isWanted = isOpened || call.state !== "answered" || this.#held.has(call.id);
    if (isOver) this.#held.delete(call.id);
    if (isOver || !isWanted) this.#remove(call.id);
    else this.#update(call, now, isOpened);
    this.#count();
  }

  clear(): void {
    for (const id of [...this.#phones.keys()]) this.#forget(id);
    box("phones").replaceChildren();
    this.#count();
  }

  #forget(id: string): void {
    this.#aloud.forget(this.#phones.get(id)?.aloud);
    this.#phones.delete(id);
    if (this.#phones.size === 0) this.#aloud.stop();
  }

  #remove(id: string): void {
    const phone = this.#phones.get(id);
    if (!phone) return;
    const hadFocus = phone.card.contains(document.activeElement);
    phone.card.remove();
    this.#forget(id);
    if (hadFocus) this.#onFocusLost(id);
  }

  #make({ id, to_number, from_number }: CallRow): Phone {
    const state = make("p", { class: "state" });
    const buttons = make("div", { class: "buttons" });
    const caller = make("bdi", { class: "mono" }, from_number);
    const log = { class: "line", role: "log", "aria-label": "What was said", tabindex: "0" };
    const line = make("div", { ...log, hidden: true });
    const card = make("li", { class: "phone", tabindex: "-1" });
    const keypad = makeKeypad(id, card, () => this.#aloud.stop());
    keypad.hidden = true;
    card.append(
      state,
      make("p", { class: "to" }, make("bdi", {}, to_number)),
      make("p", { class: "soft" }, "is called by ", caller),
      line,
      keypad,
      buttons,
    );
    return {
      ...{ card, state, line, keypad, buttons, aloud: undefined },
      ...{ shownState: "", shownParts: 0, lastText: undefined },
    };
  }

  #update(call: CallRow, now: number, isOpened: boolean): void {
    let phone = this.#phones.get(call.id);
    if (!phone) {
      phone = this.#make(call);
      this.#phones.set(call.id, phone);
      box("phones").prepend(phone.card);
    } else if (isOpened && phone.card.previousElementSibling) {
      // What somebody has opened is among those that are shown.
      if (!phone.card.contains(document.activeElement)) box("phones").prepend(phone.card);
    }
    const { state, answered_at = now } = call;
    const text = state === "answered" ? `on the line ${formatDuration(now - answered_at)}` : state;
    setText(phone.state, text);
    this.#showLine(phone, call);
    if (phone.shownState === state) return;
    phone.shownState = state;
    const hadFocus = phone.card.contains(document.activeElement);
    phone.card.className = `phone ${state}`;
    phone.keypad.hidden = state !== "answered";
    phone.buttons.replaceChildren(...this.#buttonsOf(call, phone));
    if (hadFocus) phone.buttons.querySelector("button")?.focus();
  }

  #buttonsOf({ id, state }: CallRow, phone: Phone): readonly HTMLButtonElement[] {
    if (state === "answered") {
      this.#aloud.forget(phone.aloud);
      phone.aloud = this.#aloud.makeButton();
      return [actionButton(id, "hangup", "Hang up"), phone.aloud].filter(
        (one) => one !== undefined,
      );
    }
    const reject = actionButton(id, "reject", "Reject");
    if (state !== "ringing") return [reject];
    return [actionButton(id, "answer", "Answer", () => this.hold(id)), reject];
  }

  /** Adds what is new on the line, and speaks it. */
  #showLine(phone: Phone, { line = [], lineLength = line.length }: CallRow): void {
    const isFirst = phone.shownParts === 0;
    const added = line.slice(Math.max(0, line.length - (lineLength - phone.shownParts)));
    if (added.length === 0) return;
    phone.shownParts = lineLength;
    phone.line.hidden = false;
    phone.line.append(...added.map(partText));
    phone.line.scrollTop = phone.line.scrollHeight;
    // What was said before the telephone appeared is over.
    const spoken = added.filter((part) => "text" in part);
    if (spoken.length > 0) phone.lastText = spoken.at(-1);
    for (const part of isFirst ? spoken.slice(-1) : spoken) this.#aloud.speak(part);
  }

  /** Speaks what was spoken last. */
  #repeat(): void {
    for (const { lastText } of this.#phones.values()) {
      if (lastText && "text" in lastText) this.#aloud.speak(lastText);
    }
  }

  #count(): void {
    box("more-phones").hidden = this.#phones.size <= maxShown;
    setText(box("more-phones"), `and ${this.#phones.size - maxShown} more`);
  }
}
