import { expect, it } from "vitest";
import { numberReader } from "../../../../src/cli/dial/numbers.ts";

const none = undefined;

it.each([
  ["+12025550101", none, "+12025550101"],
  ["+1 (202) 555-0101", none, "+12025550101"],
  [" +1.202.555.0101 ", none, "+12025550101"],
  ["+49 30 123456-0", none, "+49301234560"],
  ["+33 1 23 45 67 89", none, "+33123456789"],
  ["+4930\u00a0123456", none, "+4930123456"],
  ["(202) 555-0101", "us", "+12025550101"],
  ["1 202 555 0101", "US", "+12025550101"],
  ["030/123456", "DE", "+4930123456"],
  ["030 / 12 34 56", "DE", "+4930123456"],
  ["07031 / 123456", "DE", "+497031123456"],
  ["+49 (0)7031/123456", none, "+497031123456"],
  ["0049 30 123456", "DE", "+4930123456"],
  ["340 1234567", "IT", "+393401234567"],
  ["(11) 91234-5678", "BR", "+5511912345678"],
])("reads %j, country %s, as %s", async (text, country, number) => {
  expect((await numberReader(country))(text)).toEqual({ number });
});

it.each([
  ["+49 030 123456", "+49 (0)30 123456", "+49 30 123456", "+49030123456"],
  ["+44 020 7946 0958", "+44 (0)20 7946 0958", "+442079460958"],
])("one telephone has one spelling: %s", async (...spellings) => {
  for (const country of [none, "DE"]) {
    const read = await numberReader(country);
    expect(new Set(spellings.map((each) => read(each).number)).size).toBe(1);
  }
});

it("keeps a 0 that is part of the number: Italy's", async () => {
  expect((await numberReader())("+39 06 1234567")).toEqual({ number: "+39061234567" });
});

it.each(["+15550000101", "+999123456789", "+120255501010"])(
  "takes E.164 as it is, though no plan knows it: %s",
  async (number) => {
    for (const country of [none, "DE"])
      expect((await numberReader(country))(number)).toEqual({ number });
  },
);

it.each([
  // Two numbers, or a number and something else.
  ["+12025550101\t7", none],
  ["+12025550101 12", none],
  ["+12025550101 12", "US"],
  ["+4930123456 12", none],
  ["+4930123456,12", none],
  ["+12025550101;5", none],
  ["2025550101;2025550102", "US"],
  ["2025550101, 2025550102", "US"],
  ["2025550101 / 2025550102", "US"],
  ["030 1234 / 030 5678", "DE"],
  ["030 1234 - 030 5678", "DE"],
  ["030 1234 / 5678", "DE"],
  ["030 1234 - 5678", "DE"],
  ["030 1234 \u2013 5678", "DE"],
  ["040 55512 / 13", "DE"],
  ["+49 30 1234 / 5678", none],
  ["+49 30 1234 (5678)", none],
  ["+43 1 12345 / 67890", none],
  ["n/a (was 2025550101)", "US"],
  ["asked on 2025550101 not to be called", "US"],
  ["+1 202 555 0101 x12", none],
  ["+1 202 555 0101 +1 202 555 0102", none],
  // What spreadsheets make of numbers, and dates.
  ["+4930123456.0", none],
  ["+49 30 123456.0", none],
  ["4930123456.0", "DE"],
  ["2025550101.0", "US"],
  ["20255501.01", "US"],
  ["1.2025550101E+10", "US"],
  ["2024-01-05", "DE"],
  ["05.01.2024", "DE"],
  ["5/1/2024", "DE"],
  // Something else than a telephone, or one that has lost its beginning.
  ["116117", "DE"],
  ["4711", "DE"],
  ["4930123456", "DE"],
  ["30123456", "DE"],
  ["0012025550101", none],
  ["0012025550101", "US"],
  ["00012025550101", "US"],
  ["12025550101", none],
  ["+1 20 25 55 01 010", none],
  ["+999 123456789", none],
  ["", none],
  ["+", none],
])("refuses %j, country %s: it isn't exactly one number", async (text, country) => {
  const { number, reason } = (await numberReader(country))(text);
  expect(number).toBeUndefined();
  expect(reason).toMatch(/./);
  expect(reason).not.toMatch(/\d{4}/);
});

it.each(["", "Atlantis", "D"])("refuses the country %j", async (country) => {
  await expect(numberReader(country)).rejects.toThrow(/--country must be/);
});
