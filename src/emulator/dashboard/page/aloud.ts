import { make } from "./elements.ts";

/** What can be spoken. */
interface Spoken {
  readonly text: string;
  readonly language?: string | undefined;
}

const synthesis = (): SpeechSynthesis | undefined => globalThis.speechSynthesis;

/** Speaks in the browser what is spoken in calls. It is off until somebody switches it on, and only on this page. */
export class Aloud {
  #isOn = false;
  readonly #buttons = new Set<HTMLButtonElement>();
  readonly #onSwitch: () => void;

  /** @param onSwitch - called when it was switched on */
  constructor(onSwitch: () => void) {
    this.#onSwitch = onSwitch;
  }

  /** A button that switches it; nothing where the browser can't speak. */
  makeButton(): HTMLButtonElement | undefined {
    if (!synthesis()) return;
    const button = make("button", { type: "button" }, "Speak aloud");
    button.setAttribute("aria-pressed", String(this.#isOn));
    button.addEventListener("click", () => {
      this.#isOn = !this.#isOn;
      for (const each of this.#buttons) each.setAttribute("aria-pressed", String(this.#isOn));
      if (this.#isOn) this.#onSwitch();
      else this.stop();
    });
    this.#buttons.add(button);
    return button;
  }

  /** Forgets a button that was removed. */
  forget(button: HTMLButtonElement | undefined): void {
    if (button) this.#buttons.delete(button);
  }

  speak({ text, language }: Spoken): void {
    if (!this.#isOn) return;
    const utterance = new SpeechSynthesisUtterance(text);
    if (language) utterance.lang = language;
    synthesis()?.speak(utterance);
  }

  /** Ends what is being spoken: a key has interrupted it, or the call is over. */
  stop(): void {
    synthesis()?.cancel();
  }
}
