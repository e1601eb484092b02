import { expect, it } from "vitest";
import { retriesText, retryOnOf, retryRulesOf } from "../../../../src/cli/dial/retries.ts";

it("--retry has a delay and the number of attempts of each reason", () => {
  expect(retryRulesOf(["busy:5m:3,no_answer:2h", "machine:4h:1"])).toEqual({
    busy: { after: 300_000, attempts: 3 },
    no_answer: { after: 7_200_000 },
    machine: { after: 14_400_000, attempts: 1 },
  });
});

it.each([
  ["busy", /--retry must be reasons, each with a delay/],
  ["busy:5m:0", /--retry must be/],
  ["busy:5m:101", /--retry must be/],
  ["busy:5m:3:4", /--retry must be/],
  ["completed:5m", /the reasons are machine, .*busy/],
  ["busy:soon", /--retry must be a time such as 90s/],
  ["busy:5:3", /--retry: the delay of busy needs a unit, such as 5m/],
  ["busy:5m:3,no_answer:90", /--retry: the delay of no_answer needs a unit, such as 90m/],
  ["busy:5m,busy:6m", /--retry names busy twice/],
  ["busy:99999999999999d", /--retry must be at most 3650d/],
  ["", /--retry must be/],
])("--retry %s is refused", (text, message) => {
  expect(() => retryRulesOf([text])).toThrow(message);
});

it("--retry-on takes reasons that another attempt may follow, and no others", () => {
  expect(retryOnOf("busy, machine")).toEqual(["busy", "machine"]);
  expect(() => retryOnOf("busy,completed")).toThrow("--retry-on takes machine");
});

it("the plan says who is called again, and nothing where nobody is", () => {
  const text = retriesText({
    busy: { after: 300_000, attempts: 3 },
    machine: { after: 5_400_000, attempts: 2 },
  });
  expect(text).toBe(
    "called again: busy after 5 min, up to 3 attempts; machine after 1 h 30 min, up to 2 attempts",
  );
  expect(retriesText({})).toBe("");
});
