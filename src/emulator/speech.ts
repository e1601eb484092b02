/** Milliseconds of speech for each character, and at least. */
const characterDuration = 65;
const minDuration = 500;

/**
 * How long a text is spoken, in milliseconds: the same at each carrier. White space counts as one character between words.
 *
 * @param text - without markup such as SSML
 */
export const speechDuration = (text: string): number =>
  Math.max(minDuration, text.trim().replace(/\s+/g, " ").length * characterDuration);

/** How often a prompt is repeated whose `loop` is 0, which means until the call is over. */
export const endlessLoops = 1_000;
