import { expect, test } from "vitest";
import { requestFlowOf } from "../../../src/calls/params.ts";
import { pause, spell } from "../../../src/flows/prompts.ts";
import { say } from "../../../src/flows/say.ts";
import { redactor } from "../../../src/http/redact.ts";

const secretsOf = (...prompts: string[]): readonly string[] =>
  requestFlowOf({ flow: say([...prompts, pause(1_000)]) })?.secrets ?? [];

const shown = (secrets: readonly string[], text: string): string | undefined =>
  redactor([], secrets).redact(text);

test.each([
  ["as it is", "Your code is 402913.", "402913"],
  ["without its last digit", "Your code is 402913.", "40291"],
  ["without its first digit", "Your code is 402913.", "02913"],
  ["with other separators", "Your code is 402-913.", "40 29 1"],
  ["spelled", `Your code is ${spell("402913")}.`, "4, 0, 2, 9, 1"],
  ["of letters, without its last one", `Your code is ${spell("QX7K2P")}.`, "Q, X, 7, K, 2"],
  ["of letters, without its first one", `Your code is ${spell("QX7K2P")}.`, "X, 7, K, 2, P"],
  ["in Arabic digits", "الرمز ٤٠٢٩١٣", "٤٠٢٩١٣"],
  ["in Arabic digits, without its last one", "الرمز ٤٠٢٩١٣", "٤٠٢ ٩١"],
  ["in Devanagari", "कोड ४०२९१३", "४०२-९१३"],
])("a code is in no answer: %s", (_, text, echo) => {
  const secrets = secretsOf(text);
  // One of its characters may be left.
  expect(shown(secrets, `no good: ${echo}!`)).toMatch(
    /^no good:[^\p{L}\p{N}]*[\p{L}\p{N}]?[^\p{L}\p{N}]*$/u,
  );
  expect(shown(secrets, "no good: 77, after 30 s")).toBe("no good: 77, after 30 s");
});

test("a text is searched for once, however often it is said", () => {
  const secrets = secretsOf(...Array<string>(9).fill("Press 11111 or 22222. ".repeat(60)));
  expect(secrets).toHaveLength(new Set(secrets).size);
  expect(secrets.length).toBeLessThan(50);
});
