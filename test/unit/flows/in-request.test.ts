import { expect, test } from "vitest";
import { type CallFlow, requestFlowOf } from "../../../src/calls/params.ts";
import { dial, play, stream } from "../../../src/flows/actions.ts";
import { audio, pause, spell } from "../../../src/flows/prompts.ts";
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

const signed =
  "https://media.test/calls/welcome%20Ada.wav?Expires=1795452383&Signature=RSLp7Xnf-FV7EG_oQm3V9a%2FkZt";

test.each<[string, CallFlow]>([
  ["play", play(signed)],
  ["an audio of say", say(["Hello.", audio(signed)])],
  ["stream", stream(signed.replace("https", "wss"), { record: false })],
  ["flow_url", say("Hello.", { flow_url: signed })],
  ["flow_url of a dial", dial("+12025550100", { flow_url: signed })],
])("a signed URL is in no answer: that of %s", (_, flow) => {
  const secrets = requestFlowOf({ flow })?.secrets ?? [];
  for (const echo of [
    signed,
    signed.slice("https://".length),
    JSON.stringify({ url: signed }).replaceAll("/", "\\/"),
    encodeURIComponent(signed),
    new URL(signed).search,
    "RSLp7Xnf-FV7EG_oQm3V9a%2FkZt",
    "RSLp7Xnf-FV7EG_oQm3V9a/kZt",
    "/calls/welcome Ada.wav",
    "cut short: Signature=RSLp7Xnf-FV7EG_oQm…",
  ]) {
    expect(shown(secrets, `no good: ${echo}`) ?? "", echo).not.toMatch(
      /RSLp7|FV7EG|Ada|1795452383/,
    );
  }
  expect(shown(secrets, "media.test gave no answer")).toBe("media.test gave no answer");
});

test("a URL without anything behind its host is no secret", () => {
  const secrets = requestFlowOf({ flow: play("https://media.test/") })?.secrets;
  expect(secrets).toEqual([]);
});
