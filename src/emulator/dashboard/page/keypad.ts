import { announce, make, messageOf } from "./elements.ts";
import { connected, server } from "./server.ts";

/** The keys of a telephone, by rows, and how they are called. */
const keys = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "0", "#"] as const;
const names: Readonly<Record<string, string>> = { "*": "star", "#": "hash" };

/** Presses a key of a call, one after the other: two requests at once may arrive in the other order. */
const presserOf = (id: string): ((digit: string) => void) => {
  let last: Promise<unknown> = Promise.resolve();
  return (digit) => {
    last = last.then(() => server.press(id, digit)).catch((error) => announce(messageOf(error)));
  };
};

/**
 * The keypad of a telephone. While the telephone has the focus, the keys of the computer press its keys.
 *
 * @param card - the telephone
 * @param onPress - called before each key
 */
export const makeKeypad = (id: string, card: HTMLElement, onPress: () => void): HTMLElement => {
  const send = presserOf(id);
  const press = (digit: string): void => {
    if (!connected()) return;
    onPress();
    send(digit);
  };
  const buttons = keys.map((digit) => {
    const attributes = { type: "button", class: "acts", "aria-label": names[digit] ?? digit };
    const button = make("button", attributes, digit);
    button.disabled = !connected();
    button.addEventListener("click", () => press(digit));
    return button;
  });
  const group = {
    ...{ class: "keypad", role: "group", "aria-label": "Keypad" },
    title: "The keyboard, too, presses these keys while this telephone has the focus",
  };
  const pad = make("div", group, ...buttons);
  card.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, repeat } = event;
    if (!pad.isConnected || ctrlKey || metaKey || altKey || repeat) return;
    if (!keys.some((digit) => digit === key)) return;
    event.preventDefault();
    press(key);
  });
  return pad;
};
