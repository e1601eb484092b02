/** Takes the secrets of one call out of a text. */
export type Redact = (text: unknown) => string;

/**
 * Makes a function that takes the key and the numbers of a call out of a text. Services and platforms
 * repeat in their errors what they were sent, so every text of theirs passes through one before it
 * enters an exception. Numbers go without their `+`, which a URL writes as `%2B`.
 */
export const redactor =
  (...secrets: readonly string[]): Redact =>
  (text) =>
    secrets.reduce(
      (clean, secret) => clean.replaceAll(secret.replace("+", ""), "***"),
      String(text),
    );
