import { expect, it } from "vitest";
import { plain } from "../../../src/cli/terminal.ts";

it.each([
  ["one line", "one\r\ntwo\u2028three\u0085four", "one two three four"],
  ["no escape sequence", "\u001b[31mred\u001b]0;title\u0007", "[31mred ]0;title"],
  ["no turning of the direction", "a\u202etxt.exe\u2066", "a txt.exe"],
  ["what can be read, as it is", "Füße 電話 → 1", "Füße 電話 → 1"],
])("leaves %s", (_, text, expected) => {
  expect(plain(text)).toBe(expected);
});
