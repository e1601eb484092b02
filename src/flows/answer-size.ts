import { utf8 } from "../lib/encoding.ts";

type Answers = Readonly<Record<string, string>>;

/** Bytes of a value as a sealed state has it: as JSON, in UTF-8. */
const sizeOf = (value: unknown): number => utf8(JSON.stringify(value)).length;

/**
 * The most bytes of what was said that `answers` keep, without the quotes. Ten such answers, and a list's context of five
 * variables, fit into a URL of each service.
 */
const maxSpoken = 64;

/** The fewest: one character of any script. */
const minSpoken = 4;

/** The beginning of what was said, as `answers` keep it: in whole characters. */
export const keptOf = (text: string, most: number = maxSpoken): string => {
  let end = 0;
  let size = 0;
  for (const character of text) {
    size += sizeOf(character) - 2;
    if (size > most) break;
    end += character.length;
  }
  return text.slice(0, end);
};

/** Whether an answer is keys: those are short, and mean nothing in part. */
const isKeys = (answer: string): boolean => /^[\d*#]{1,20}$/.test(answer);

/** Answers of so many bytes at most, or as near as it goes: what was said is cut to one size, the longest first. */
const cutTo = (answers: Answers, goal: number): Answers => {
  let cut = answers;
  for (let most = maxSpoken - 1; most >= minSpoken && sizeOf(cut) > goal; most--) {
    cut = Object.fromEntries(
      Object.entries(answers).map(([name, answer]) => [
        name,
        isKeys(answer) ? answer : keptOf(answer, most),
      ]),
    );
  }
  return cut;
};

/** A state that fits into some bytes where it can: what the callee has said never makes a URL too long. */
export const fitted = <State extends { readonly answers: Answers }>(
  state: State,
  room: number,
): State => {
  const { answers } = state;
  const others = sizeOf(state) - sizeOf(answers);
  return { ...state, answers: cutTo(answers, room - others) };
};
