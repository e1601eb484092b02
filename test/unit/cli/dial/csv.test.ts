import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Contact, ListColumns, RefusedContact } from "../../../../src/campaigns/index.ts";
import { columnsOf } from "../../../../src/campaigns/list/columns.ts";
import {
  delimiterOf,
  describeColumns,
  optionText,
  readContacts,
} from "../../../../src/cli/dial/csv.ts";
import { numberReader } from "../../../../src/cli/dial/numbers.ts";

const columns = (header: string, choice: object = {}) =>
  columnsOf(header.split(","), { variables: [], optionText, ...choice });

describe("the columns of a list", () => {
  it.each([
    ["to_number,id,timezone", [0, 1, 2]],
    ["ID,Time Zone,Phone Number", [2, 0, 1]],
    ["TIME-ZONE,To-Number", [1, undefined, 0]],
    ["contactNumber,Time_Zone,name", [0, undefined, 1]],
    ["Phone,number", [0, undefined, undefined]],
    ["number,name", [0, undefined, undefined]],
  ])("of %j are found by name, without case, spaces, - and _", (header, found) => {
    const { number, id, timezone } = columns(header);
    expect([number, id, timezone]).toEqual(found);
  });

  it.each([
    ["phone,to_number", {}, /more than one column is a telephone number: "phone", "to_number"/],
    ["phone,Phone", {}, /two columns of the list have one name: "phone", "Phone"/],
    ["phone,ID,id", {}, /one name: "ID", "id"/],
    ["phone,Time Zone,timezone", {}, /one name: "Time Zone", "timezone"/],
    ["phone,tz,timezone", {}, /more than one column is a time zone: "tz", "timezone"/],
    ["phone,First Name,first_name", {}, /one name: "First Name", "first_name"/],
    ["name,fax", {}, /no column to_number, .*--number-column/],
    ["Name,Phone 1 - Type,Phone 1 - Value", {}, /--number-column "Phone 1 - Value"$/],
    ["Mobile Phone,Business Phone", {}, /"Mobile Phone" or --number-column "Business Phone"$/],
    ["Telefon,Ort", {}, /name it with --number-column Telefon$/],
    ["phone", { optOutColumns: ["stop"] }, /--opt-out-column is not a column of the list/],
    ["phone", { ignoreColumns: ["stop"] }, /--ignore-columns is not a column of the list/],
    ["phone", { numberColumn: "mobile" }, /--number-column is not a column of the list/],
    ["phone", { zoneColumn: "zone" }, /--zone-column is not a column of the list/],
    ["phone", { variables: ["name"] }, /--variables names no column of the list: name/],
  ])("of %j are refused with %j", (header, choice, message) => {
    expect(() => columns(header, choice)).toThrow(message);
  });

  it("are chosen by --number-column and --zone-column", () => {
    const choice = { numberColumn: "Mobile", zoneColumn: "clock" };
    const { number, timezone } = columns("phone,to_number,mobile,timezone,Clock", choice);
    expect([number, timezone]).toEqual([2, 4]);
  });

  it("are named without telephone numbers: a list may have no header", () => {
    expect(() => columns("+12025550100,+12025550100")).toThrow('one name: "***", "***"');
    expect(describeColumns(columns("phone,(202) 555-0101"))).toBe(
      'number from "phone", no time zone column; not used: "***" (a flow gets the columns that --variables names)',
    );
    const chosen = columns("2025550101", { numberColumn: "2025550101" });
    expect(describeColumns(chosen)).toBe('number from "***", no time zone column');
  });

  it("are named in the plan", () => {
    const all = columns("Phone,Time Zone,First Name,fax", { variables: ["first_name"] });
    expect(describeColumns(all)).toBe(
      'number from "Phone", time zone from "Time Zone", variable first_name from "First Name"; ' +
        'not used: "fax" (a flow gets the columns that --variables names)',
    );
    expect(describeColumns(columns("to_number,Call At,from_number"))).toBe(
      'number from "to_number", no time zone column, call time from "Call At", caller from "from_number"',
    );
    expect(describeColumns(columns("to_number"))).toBe(
      'number from "to_number", no time zone column',
    );
  });
});

const folder = mkdtempSync(join(tmpdir(), "outdial-csv-"));

const read = async (text: string, choice: object = {}) => {
  const file = join(folder, "list.csv");
  writeFileSync(file, text);
  const contacts: Contact[] = [];
  const refused: RefusedContact[] = [];
  const found: ListColumns[] = [];
  for await (const contact of readContacts(file, {
    variables: [],
    ...choice,
    readNumber: await numberReader(),
    onColumns: (each) => found.push(each),
    onRefused: (each) => refused.push(each),
  })) {
    contacts.push(contact);
  }
  return { contacts, refused, columns: found[0] };
};

describe("a column that may say who must not be called", () => {
  it.each([
    "DoNotCall",
    "Do Not Call",
    "do_not_call",
    "HasOptedOutOfEmail",
    "HasOptedOutOfCalls",
    "opt_out",
    "Opted-Out",
    "unsubscribed",
    "DNC",
    "do not contact",
  ])("such as %j is asked about", (name) => {
    const header = `phone,${name}`;
    const flag = optionText("optOutColumns", name);
    expect(() => columns(header)).toThrow(`"${name}"; pass ${flag} to block its rows, or `);
    expect(columns(header, { optOutColumns: [name] }).optOut).toEqual([1]);
    expect(columns(header, { ignoreColumns: [name] }).optOut).toEqual([]);
  });

  it.each(["opt_in", "options", "optional", "subscribed", "callable"])("%j is none", (name) => {
    expect(columns(`phone,${name}`).optOut).toEqual([]);
  });

  it("is named by the plan; one answer does for one column", () => {
    const header = "phone,DoNotCall,unsubscribed";
    expect(() => columns(header, { optOutColumns: ["DoNotCall"] })).toThrow(
      'who must not be called: "unsubscribed"',
    );
    const choice = { optOutColumns: ["donotcall"], ignoreColumns: ["Unsubscribed"] };
    expect(describeColumns(columns(header, choice))).toContain('do-not-call from "DoNotCall"');
  });
});

it.each([
  [";", ";"],
  ["tab", "\t"],
  ["\\t", "\t"],
  ["|", "|"],
])("--delimiter %j is %j", (text, sign) => {
  expect(delimiterOf(text)).toBe(sign);
});

it.each(["", ";;", "a", "1", '"', "+"])("--delimiter %j is refused", (text) => {
  expect(() => delimiterOf(text)).toThrow("--delimiter must be one sign");
});

describe("a list", () => {
  it("gives each row its time zone, id and variables", async () => {
    const text = "Phone,Time Zone,ID,First Name\n+12025550100,Europe/Berlin,A-1,Ada\n";
    const { contacts } = await read(text, { variables: ["first_name"] });
    expect(contacts).toEqual([
      {
        to_number: "+12025550100",
        id: "A-1",
        timezone: "Europe/Berlin",
        variables: { first_name: "Ada" },
        line: 2,
      },
    ]);
  });

  it("refuses a row with more cells than the header: a comma shifted them", async () => {
    const text =
      "name,fax,phone\nDoe, Jane,+12025550100,+12025550101\nDoe, Jane,+12025550102,\nAda,,+12025550103\n";
    const { contacts, refused } = await read(text);
    expect(refused).toEqual([
      { line: 2, reason: expect.stringMatching(/more cells than the header: quote/) },
      { line: 3, reason: expect.stringMatching(/more cells than the header: quote/) },
    ]);
    expect(contacts.map(({ to_number }) => to_number)).toEqual(["+12025550103"]);
  });

  it("refuses a row with fewer cells than the header: its time zone may be cut off", async () => {
    const text =
      "phone,note,timezone\n+12025550100,asked\nfor Ada,Europe/Berlin\n+12025550101,,\n" +
      '+12025550102,"a\nb",Europe/Berlin\n';
    const { contacts, refused } = await read(text);
    expect(refused).toEqual([
      { line: 2, reason: expect.stringMatching(/fewer cells than the header: quote/) },
      { line: 3, reason: expect.stringMatching(/fewer cells than the header: quote/) },
    ]);
    expect(contacts.map(({ to_number }) => to_number)).toEqual(["+12025550101", "+12025550102"]);
  });

  it("that is empty is refused: everybody in the ledger would count as taken out", async () => {
    await expect(read("")).rejects.toThrow(/the list is empty/);
  });
});
