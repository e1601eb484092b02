import type { CallRow } from "../updates.ts";
import { announce, box, findById, formatDuration, make, messageOf, setText } from "./elements.ts";
import { connected, server } from "./server.ts";

/** The telephone of one call. */
interface Phone {
  readonly card: HTMLLIElement;
  readonly state: HTMLElement;
  readonly buttons: HTMLElement;
  shownState: string;
}

/** How many telephones are shown. */
const maxShown = 3;

const actionButton = (
  id: string,
  action: "answer" | "reject" | "hangup",
  text: string,
): HTMLButtonElement => {
  const kind = action === "answer" ? "answer" : "refuse";
  const element = make("button", { type: "button", class: `${kind} acts` }, text);
  element.disabled = !connected();
  element.addEventListener("click", async () => {
    try {
      await server.act(id, action);
    } catch (error) {
      announce(messageOf(error));
    }
  });
  return element;
};

const buttonsOf = ({ id, state }: CallRow): readonly HTMLButtonElement[] => {
  if (state === "answered") return [actionButton(id, "hangup", "Hang up")];
  const reject = actionButton(id, "reject", "Reject");
  return state === "ringing" ? [actionButton(id, "answer", "Answer"), reject] : [reject];
};

const phoneOf = ({ to_number, from_number }: CallRow): Phone => {
  const state = make("p", { class: "state" });
  const buttons = make("div", { class: "buttons" });
  const caller = make("bdi", { class: "mono" }, from_number);
  const card = make(
    "li",
    { class: "phone", tabindex: "-1" },
    state,
    make("p", { class: "to" }, make("bdi", {}, to_number)),
    make("p", { class: "soft" }, "is called by ", caller),
    buttons,
  );
  return { card, state, buttons, shownState: "" };
};

/** The section "Callee's phone": the telephones that ring or are answered. */
export class Phones {
  readonly #phones = new Map<string, Phone>();
  readonly #onFocusLost: (id: string) => void;
  readonly #attendant = findById("attendant", HTMLInputElement);
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

  /** @param isOver - whether the call is over, so that it has no telephone */
  show(call: CallRow, now: number, isOver: boolean): void {
    if (isOver) this.#remove(call.id);
    else this.#update(call, now);
    this.#count();
  }

  clear(): void {
    this.#phones.clear();
    box("phones").replaceChildren();
    this.#count();
  }

  #remove(id: string): void {
    const phone = this.#phones.get(id);
    if (!phone) return;
    const hadFocus = phone.card.contains(document.activeElement);
    phone.card.remove();
    this.#phones.delete(id);
    if (hadFocus) this.#onFocusLost(id);
  }

  #update(call: CallRow, now: number): void {
    let phone = this.#phones.get(call.id);
    if (!phone) {
      phone = phoneOf(call);
      this.#phones.set(call.id, phone);
      box("phones").prepend(phone.card);
    }
    const { state, answered_at = now } = call;
    const text = state === "answered" ? `on the line ${formatDuration(now - answered_at)}` : state;
    setText(phone.state, text);
    if (phone.shownState === state) return;
    phone.shownState = state;
    const hadFocus = phone.card.contains(document.activeElement);
    phone.card.className = `phone ${state}`;
    phone.buttons.replaceChildren(...buttonsOf(call));
    if (hadFocus) phone.buttons.querySelector("button")?.focus();
  }

  #count(): void {
    box("more-phones").hidden = this.#phones.size <= maxShown;
    setText(box("more-phones"), `and ${this.#phones.size - maxShown} more`);
  }
}
