/**
 * A text of others on one line, without what a terminal would obey: control characters, and those
 * that turn the direction of writing.
 */
export const plain = (text: string): string => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
