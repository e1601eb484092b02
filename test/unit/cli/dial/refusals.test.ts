import { expect, test } from "vitest";
import { RefusedException } from "../../../../src/callbacks/index.ts";
import { LedgerException } from "../../../../src/campaigns/index.ts";
import { RefusalLog, requestErrors } from "../../../../src/cli/dial/refusals.ts";

const refused = new RefusedException("no_token");

test("of refused requests one line a minute is printed, with their count", () => {
  let now = 0;
  const log = new RefusalLog(() => now);
  const line =
    "a request was refused: no_token: The URL has no token at its end: sign it with signUrl.";
  expect(log.lineOf(refused)).toBe(line);
  const later = Array.from({ length: 59 }, (_, second) => {
    now = (second + 1) * 1_000;
    return log.lineOf(refused);
  });
  expect(later.filter(Boolean)).toEqual([]);
  now = 60_000;
  expect(log.lineOf(refused)).toBe(`${line} (60 since the last line)`);
  // The machine's clock is set back by a day.
  now = -86_400_000;
  expect(log.lineOf(refused)).toBe(line);
});

test("of requests that end in the middle one line a minute is printed, too: anybody can send them", () => {
  const lines: string[] = [];
  const onError = requestErrors((text) => lines.push(text));
  for (const _ of "abc") onError(new Error("aborted"));
  expect(lines).toEqual(["outdial: a request failed: aborted"]);
});

test("a refused request is printed with the call that its sender names, which is plain", () => {
  const lines: string[] = [];
  const onError = requestErrors((text) => lines.push(text));
  onError(new RefusedException("wrong_signature"), undefined, "CA0a\u001b");
  expect(lines).toEqual([
    expect.stringMatching(
      /^outdial: a request about the call CA0a\P{C}* was refused: wrong_signature: /u,
    ),
  ]);
});

test("what a script throws names its call; that the ledger is busy is in the status line already", () => {
  const lines: string[] = [];
  const onError = requestErrors((text) => lines.push(text));
  onError(refused);
  onError(refused);
  onError(new Error("no\u001b[2J database"), "cs_1\n");
  onError(new LedgerException("busy"), "cs_1");
  onError(new LedgerException("damaged"), "cs_1");
  expect(lines).toEqual([
    "outdial: a request was refused: no_token: The URL has no token at its end: sign it with signUrl.",
    expect.stringMatching(/^outdial: call cs_1\P{C}*: no\P{C}* database$/u),
    expect.stringMatching(/^outdial: a notification was not recorded: the ledger/),
  ]);
});
