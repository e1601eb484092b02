import type { Timers } from "../lib/timers.ts";
import type { PressedKeys } from "./options.ts";

/** The key that ends the others. */
const endKey = "#";

/** The most keys that are kept, the last ones. */
const maxKeys = 64;

/** How long the tone of a key may last in the callee's audio, in ms, with the time until it comes. */
const toneDuration = 200;

/** The keys that the callee presses, on their way to the application. They may be a PIN: they are kept nowhere else. */
export interface Keys {
  readonly press: (key: string) => void;
  /** Whether the tone of a key may be in the callee's audio. */
  readonly isAudible: () => boolean;
}

/**
 * @param timeout - milliseconds without another key after which they are complete
 * @param onKeys - called with each key, and when they are complete
 */
export const createKeys = (
  timeout: number,
  timers: Timers,
  onKeys: (pressed: PressedKeys) => void,
): Keys => {
  let keys = "";
  let audibleUntil = Number.NEGATIVE_INFINITY;
  const finish = (more: { readonly key?: string } = {}): void => {
    const pressed = { ...more, keys, done: true };
    keys = "";
    timers.clear("keys");
    onKeys(pressed);
  };
  return {
    press: (key) => {
      audibleUntil = Math.max(audibleUntil, timers.now()) + toneDuration;
      if (key === endKey) {
        finish({ key });
        return;
      }
      keys = (keys + key).slice(-maxKeys);
      timers.set("keys", timeout, finish);
      onKeys({ key, keys, done: false });
    },
    isAudible: () => timers.now() < audibleUntil,
  };
};
