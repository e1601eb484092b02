/** 32 random bytes as 43 base64url characters. */
export const randomText = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replace("=", "");
};

/** A key: random, after a prefix that says what it is. */
const randomKey = (): string => `ak_${randomText()}`;

/** Takes as long wherever the first difference is. */
export const isSame = (given: string, expected: string): boolean => {
  let difference = given.length ^ expected.length;
  for (let at = 0; at < expected.length; at++) {
    difference |= given.charCodeAt(at) ^ expected.charCodeAt(at);
  }
  return difference === 0;
};

/** The one account of an emulator: its key and its numbers. */
export class Account {
  #key: string;
  readonly #numbers: ReadonlySet<string> | undefined;

  constructor(key: string = randomKey(), numbers?: readonly string[]) {
    this.#key = key;
    this.#numbers = numbers && new Set(numbers);
  }

  get key(): string {
    return this.#key;
  }

  /** Issues a new key; the old one is invalid from this moment on. */
  regenerateKey(): string {
    this.#key = randomKey();
    return this.#key;
  }

  accepts(key: string): boolean {
    return isSame(key, this.#key);
  }

  owns(number: string): boolean {
    return this.#numbers?.has(number) ?? true;
  }
}
