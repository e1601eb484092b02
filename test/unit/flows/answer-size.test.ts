import fc from "fast-check";
import { expect, test } from "vitest";
import { fitted, keptOf } from "../../../src/flows/answer-size.ts";

const sizeOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

test.each([
  ["a".repeat(100), 64],
  ["я".repeat(100), 32],
  ["語".repeat(100), 21],
  ["😀".repeat(100), 16],
  ['"'.repeat(100), 32],
  [`${"a".repeat(63)}я`, 63],
])("of %s the first %i characters are kept: 64 bytes, as JSON has them", (text, count) => {
  expect(keptOf(text)).toBe([...text].slice(0, count).join(""));
});

test("what is kept is a beginning in whole characters, as long as it may be", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 90 }), (text) => {
      const kept = keptOf(text);
      expect(text.startsWith(kept)).toBe(true);
      expect(kept.isWellFormed()).toBe(true);
      expect(sizeOf(kept) - 2).toBeLessThanOrEqual(64);
      const [next = ""] = text.slice(kept.length);
      if (next)
        expect(
          sizeOf(kept + String.fromCodePoint(text.codePointAt(kept.length) ?? 0)) - 2,
        ).toBeGreaterThan(64);
    }),
  );
});

const state = {
  at: "thanks",
  answers: { long: "語".repeat(21), short: "да", code: "12345678901234567890" },
};

test("a state that fits is not changed", () => {
  expect(fitted(state, sizeOf(state))).toEqual(state);
});

test("of one that doesn't fit the longest answer is cut, and keys never are", () => {
  const cut = fitted(state, sizeOf(state) - 30);
  expect(sizeOf(cut)).toBeLessThanOrEqual(sizeOf(state) - 30);
  expect(cut).toEqual({ ...state, answers: { ...state.answers, long: "語".repeat(11) } });
});

test("where nothing helps, each answer keeps a character, whatever its script", () => {
  const emoji = { ...state, answers: { ...state.answers, emoji: "😀".repeat(16) } };
  const { answers } = fitted(emoji, 0);
  expect(answers).toEqual({ long: "語", short: "да", code: state.answers.code, emoji: "😀" });
});
