import { describe, expect, it } from "vitest";
import {
  type Contact,
  type ListOptions,
  type RefusedContact,
  readList,
} from "../../../src/campaigns/index.ts";
import { numberOf, people, stageOf } from "./stage.ts";

/** The bytes of a list in pieces of so many bytes. */
async function* pieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.slice(at, at + size);
}

const read = async (list: string | Uint8Array, options: ListOptions = {}, size = 7) => {
  const bytes = typeof list === "string" ? new TextEncoder().encode(list) : list;
  const contacts: Contact[] = [];
  const refused: RefusedContact[] = [];
  const onRefused = (row: RefusedContact) => refused.push(row);
  for await (const contact of readList(pieces(bytes, size), { ...options, onRefused })) {
    contacts.push(contact);
  }
  return { contacts, refused };
};

const numbers = async (list: string, options?: ListOptions) =>
  (await read(list, options)).contacts.map(({ to_number }) => to_number);

const one = numberOf(1);
const two = numberOf(2);

describe("the delimiter of a list", () => {
  it.each([
    [`name,phone\nAda,${one}\n`],
    [`name;phone\nAda;${one}\n`],
    [`name\tphone\nAda\t${one}\n`],
    [`"name; first";phone\n"Ada; B.";${one}\n`],
    [`"a,b,c";phone;note\n;${one};\n`],
    [`sep=;\nname;phone\nAda, B.;${one}\n`],
    [`"sep=|"\r\nname|phone\r\nAda|${one}\r\n`],
    [`\ufeffSEP=\t\nname\tphone\nAda\t${one}\n`],
    [`phone\n${one}\n`],
  ])("of %j is recognized", async (list) => {
    expect(await numbers(list)).toEqual([one]);
  });

  it("is what the option says, before the sep= line", async () => {
    expect(await numbers(`name|phone\nAda|${one}\n`, { delimiter: "|" })).toEqual([one]);
    expect(await numbers(`sep=,\nname|phone\nA, B|${one}\n`, { delimiter: "|" })).toEqual([one]);
  });

  it("is asked for where two signs are used as often", async () => {
    await expect(read(`name;phone,note\nAda;${one},x\n`)).rejects.toThrow("pass delimiter");
  });

  it("shifts no cell: a row with another count is refused", async () => {
    const { contacts, refused } = await read(`name;phone\nDoe; Jane;${one}\n${two}\n`);
    expect(contacts).toEqual([]);
    expect(refused).toEqual([
      { line: 2, reason: expect.stringMatching(/more cells than the header: .* a semicolon$/) },
      { line: 3, reason: expect.stringMatching(/fewer cells than the header/) },
    ]);
  });
});

describe("a CSV file", () => {
  const mixed = `phone,note\r\n${one},"a ""b"", c"\n${two},"two\r\nlines"\r\n\r\n${numberOf(3)}, x \r${numberOf(4)},`;

  it.each([1, 2, 3, 5, 1_000])("has mixed line ends, in pieces of %i bytes", async (size) => {
    const { contacts } = await read(mixed, {}, size);
    expect(contacts).toEqual([
      { to_number: one, variables: { note: 'a "b", c' }, line: 2 },
      { to_number: two, variables: { note: "two\r\nlines" }, line: 4 },
      { to_number: numberOf(3), variables: { note: "x" }, line: 6 },
      { to_number: numberOf(4), variables: { note: "" }, line: 7 },
    ]);
  });

  it.each([
    [`phone,name\n${one},"Ada`, /not CSV at line 2: a quote is not closed/],
    [`phone,name\n${one},"Ada" B`, /not CSV at line 2: text follows a closing quote/],
    [`phone,name\n${one},Ada "B"`, /not CSV at line 2: a quote stands inside a text/],
    [`phone,name\n${one},"Ada\n${`${two},Bob\n`.repeat(10_000)}`, /line \d+: a row is too long/],
    ["", /the list is empty/],
    ["\n \n", /the list is empty/],
    ["sep=;\n", /the list is empty/],
  ])("%j is none", async (list, message) => {
    await expect(read(list, {}, 4_096)).rejects.toThrow(message);
  });

  it.each([
    ["UTF-16", [0xff, 0xfe, 0x70, 0x00]],
    ["UTF-16", [0xfe, 0xff, 0x00, 0x70]],
    ["UTF-16", [0x70, 0x00, 0x68, 0x00]],
    ["a workbook", [0x50, 0x4b, 0x03, 0x04, 0x14]],
    ["a workbook", [0xd0, 0xcf, 0x11, 0xe0, 0xa1]],
  ])("that is %s is refused by that name", async (what, bytes) => {
    const list = new Uint8Array([...bytes, ...new Uint8Array(20).fill(65)]);
    await expect(read(list, {}, 3)).rejects.toMatchObject({
      name: "ListException",
      message: expect.stringMatching(new RegExp(`^the list is ${what}.*: save it as CSV in UTF-8`)),
    });
  });

  it("may be a stream, and gives every other column as a variable", async () => {
    const list = new Blob([`First Name,Phone,id,tz\nAda,${one},A-1,Europe/Berlin\n`]).stream();
    const contacts: Contact[] = [];
    for await (const contact of readList(list)) contacts.push(contact);
    expect(contacts).toEqual([
      {
        ...{ to_number: one, id: "A-1", timezone: "Europe/Berlin", line: 2 },
        variables: { first_name: "Ada" },
      },
    ]);
  });
});

describe("a list in another encoding than UTF-8", () => {
  /** "Müller" has one byte for its ü. */
  const windows = Uint8Array.from(`phone,name\n${one},M\u00fcller\n${two},Bob\n`, (character) =>
    character.charCodeAt(0),
  );
  const names = ({ contacts }: { contacts: readonly Contact[] }) =>
    contacts.map(({ variables }) => variables?.name);
  const some = { variables: ["name"] };

  it("is refused by row, with the option that reads it", async () => {
    const { contacts, refused } = await read(windows, some);
    expect(contacts.map(({ to_number }) => to_number)).toEqual([two]);
    expect(refused).toEqual([
      {
        line: 2,
        reason:
          'has bytes that are no text: save the list as UTF-8, or pass encoding: "windows-1252"',
      },
    ]);
  });

  it.each([1, 7, 1_000])("is read by encoding, in pieces of %i bytes", async (size) => {
    const found = await read(windows, { ...some, encoding: "windows-1252" }, size);
    expect(names(found)).toEqual(["Müller", "Bob"]);
    expect(found.refused).toEqual([]);
  });

  it("may be UTF-16, with its mark", async () => {
    const utf16 = new Uint8Array(
      Uint16Array.from(`\ufeffphone,name\n${one},Müller\n`, (character) => character.charCodeAt(0))
        .buffer,
    );
    await expect(read(utf16, some)).rejects.toThrow('or pass encoding: "utf-16le"');
    expect(names(await read(utf16, { ...some, encoding: "utf-16le" }))).toEqual(["Müller"]);
  });

  it("is refused whole where its first line is none, or the encoding is unknown", async () => {
    const header = Uint8Array.from(`phone,Stra\u00dfe\n${one},x\n`, (character) =>
      character.charCodeAt(0),
    );
    await expect(read(header)).rejects.toThrow("the first line has bytes that are no text");
    await expect(read(windows, { encoding: "klingon" })).rejects.toThrow(
      "encoding must be an encoding",
    );
    await expect(
      read(new Uint8Array([0x50, 0x4b, 0x03, 0x04]), { encoding: "windows-1252" }),
    ).rejects.toThrow("a workbook");
  });
});

describe("a column that nothing uses, and that may say who must not be called", () => {
  const list = (values: readonly string[], name = "C7"): string =>
    `phone,${name}\n${values.map((value, at) => `${numberOf(at)},${value}\n`).join("")}`;
  const repeated = (values: readonly string[], count = 40): readonly string[] =>
    Array.from({ length: count }, (_, at) => values[at % values.length] ?? "");

  it.each([
    ["yes and no", ["yes", "no"]],
    ["Ja and Nein", ["Ja", "Nein", ""]],
    ["0 and 1", ["0", "1"]],
    ["an x", ["", "x"]],
    ["one text in words", ["", "", "DO NOT CALL"]],
    [
      "dates of any form",
      ["2024-01-05", "", "5.1.2024", "1/5/24", "Jan 5, 2024", "5 January 2024", "20240105"],
    ],
    ["times", ["2024-01-05T10:00:00Z"]],
    ["a few texts that are repeated", repeated(["lead", "customer", "gone"])],
    ["one text in some rows", ["", "gesperrt!!", ""]],
  ])("is asked about by its name, whatever that is: %s", async (_, values) => {
    await expect(read(list(values))).rejects.toThrow(
      'the list may say who must not be called: "C7"; pass optOutColumns: "C7" to block its rows, or optOutColumns: "C7=VALUE"',
    );
    await read(list(values), { ignoreColumns: ["c7"] });
    await read(list(values), { variables: ["C7"] }); // The flow uses it.
  });

  it.each([
    "No Calls",
    "dont call",
    "Blocked",
    "suppressed",
    "unsub",
    "TPS",
    "consent",
    "opt_in",
    "may_call",
    "nicht anrufen",
    "Widerspruch",
    "Robinsonliste",
  ])("is asked about with any name, such as %j", async (name) => {
    await expect(read(list(["yes", "no", ""], name))).rejects.toThrow(`called: "${name}"; pass`);
  });

  it.each([
    ["names", ["Ada", "Bob", "Cid"]],
    ["many different texts", Array.from({ length: 40 }, (_, at) => `city ${at}`)],
    ["telephones", ["", "+1 202 555 0177", ""]],
    ["addresses", ["ada@app.test", "", ""]],
    ["long texts", repeated(["a text that is longer than what anybody writes into a flag", ""])],
    ["nothing", ["", ""]],
  ])("is not asked about with %s", async (_, values) => {
    expect((await read(list(values))).contacts).toHaveLength(values.length);
  });

  it("is asked about where its cells have spaces in quotes", async () => {
    const cells = `phone,note\n${one},"Yes "\n${two}," another text"\n`;
    await expect(read(cells)).rejects.toThrow('called: "note"; pass');
  });

  it("is asked about with all others like it, also one without a name", async () => {
    await expect(read(`phone,a,b,c\n${one},x,,\n${two},,1,\n`)).rejects.toThrow('"a", "b"; pass');
    await expect(read(`phone,\n${one},x\n${two},\n`)).rejects.toThrow(
      "a column without a name may say who must not be called: name it in the first line",
    );
  });

  it("gives no contact before its first 1,000 rows were read, where it says so in words", async () => {
    const given: Contact[] = [];
    const text = list(Array.from({ length: 3_000 }, (_, at) => (at === 900 ? "yes" : "")));
    const source = pieces(new TextEncoder().encode(text), 1_000);
    const all = async () => {
      for await (const contact of readList(source)) given.push(contact);
    };
    await expect(all()).rejects.toThrow("who must not be called");
    expect(given).toEqual([]);
  });

  it("changes nothing by sync, wherever it says so", async () => {
    const stage = await stageOf();
    const text = list(Array.from({ length: 3_000 }, (_, at) => (at === 2_999 ? "yes" : "")));
    const source = pieces(new TextEncoder().encode(text), 1_000);
    await expect(stage.campaign.sync(readList(source))).rejects.toThrow("who must not be called");
    expect(stage.campaign.progress()).toMatchObject({ contacts: 0 });
  });

  it("blocks the rows with one value by NAME=VALUE: a consent blocks by its no", async () => {
    const rows = list(["yes", "No", "", "pending"], "May Call");
    const blocked = async (...optOutColumns: string[]) =>
      (await read(rows, { optOutColumns })).contacts.flatMap(({ doNotCall }, at) =>
        doNotCall ? [at] : [],
      );
    expect(await blocked("may_call=no")).toEqual([1]);
    expect(await blocked("May Call=no", "May Call=")).toEqual([1, 2]);
    expect(await blocked("May Call")).toEqual([0, 3]);
    await expect(read(rows, { optOutColumns: ["consent=no"] })).rejects.toThrow("is not a column");
    expect(
      (await read(`phone,a=b\n${one},yes\n`, { optOutColumns: ["a=b"] })).contacts,
    ).toMatchObject([{ doNotCall: true }]);
  });
});

describe("the columns call_at and from_number of a list", () => {
  const list = `phone,Call At,From Number,tz\n${one},2026-06-03 15:00,${two},Europe/Berlin\n${two},,,\n`;

  it("say when and by whom a contact is called; an empty cell says nothing", async () => {
    const { contacts } = await read(list);
    expect(contacts).toMatchObject([
      { to_number: one, call_at: "2026-06-03 15:00", from_number: two, variables: {} },
      { to_number: two, variables: {} },
    ]);
    expect(contacts[1]).not.toHaveProperty("call_at");
    expect(contacts[1]).not.toHaveProperty("from_number");
  });

  it("are kept by a campaign, and are variables as well where an option names them", async () => {
    const stage = await stageOf();
    const source = new Blob([list]).stream();
    await stage.campaign.sync(readList(source, { variables: ["call_at"] }));
    await stage.play();
    expect(stage.posts.map(({ to_number }) => to_number)).toEqual([two]);
    await stage.play(3 * 3_600_000);
    expect(stage.posts[1]).toMatchObject({ to_number: one, from_number: two });
    const { contacts } = await read(list, { variables: ["call_at"] });
    expect(contacts[0]?.variables).toEqual({ call_at: "2026-06-03 15:00" });
  });

  it("refuse a row whose sender is no number, by its line", async () => {
    const readNumber = (cell: string) =>
      /^\+\d+$/.test(cell) ? { number: cell } : { reason: "is no number" };
    const { contacts, refused } = await read(`phone,from_number\n${one},Ada\n`, { readNumber });
    expect(contacts).toEqual([]);
    expect(refused).toEqual([{ line: 2, reason: "from_number is no number" }]);
  });
});

describe("who has opted out, by a column of the list", () => {
  const list = `phone,opt_out\n${numberOf(0)},\n${numberOf(1)},yes\n${numberOf(2)},FALSE\n${numberOf(3)},No\n${numberOf(4)},n\n${numberOf(5)},0\n${numberOf(6)},1\n${numberOf(7)},2024-01-05\n${numberOf(8)},maybe\n${numberOf(2)},true\n`;
  const options = { optOutColumns: ["opt_out"] };
  const calledOf = [0, 3, 4, 5].map(numberOf);
  const bytes = () => pieces(new TextEncoder().encode(list), 50);

  it("is not called after sync, and is counted in its plan", async () => {
    const stage = await stageOf();
    const plan = await stage.campaign.sync(readList(bytes(), options));
    expect(plan).toMatchObject({ listed: 9, added: 4, blocked: 5, duplicate: 1 });
    await stage.play();
    expect(stage.posts.map(({ to_number }) => to_number)).toEqual(calledOf);
  });

  it("is not called after add, nor when a later list says nothing", async () => {
    const stage = await stageOf();
    await stage.campaign.add(readList(bytes(), options));
    await stage.campaign.add(people(9));
    await stage.play();
    expect(stage.posts.map(({ to_number }) => to_number)).toEqual(calledOf);
    expect(stage.campaign.progress()).toMatchObject({ blocked: 5 });
  });

  it("is blocked while they wait", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(3));
    await stage.campaign.add([{ to_number: numberOf(1), doNotCall: true }]);
    await stage.play();
    expect(stage.posts.map(({ to_number }) => to_number)).toEqual([numberOf(0), numberOf(2)]);
  });

  const wrongRows = [
    ["a sender that is no number", "Ada,Europe/Berlin,"],
    ["a time zone that is none", ",Mars,"],
    ["a time that is none", ",,tomorrow"],
    ["bytes that are no text", ",,\xff"],
  ] as const;
  const readNumber = (cell: string) =>
    cell.startsWith("+") ? { number: cell } : { reason: "is no number" };

  it.each(wrongRows)("is not called by another row where theirs has %s", async (_, wrong) => {
    const rows = [
      ...[`${numberOf(0)},A,,,,`, `${numberOf(1)},B,yes,${wrong}`],
      ...[`${numberOf(1)},B2,,,,`, `${numberOf(2)},B,,,,`],
    ];
    const text = ["phone,id,opt_out,from_number,timezone,call_at", ...rows].join("\n");
    const latin1 = Uint8Array.from(text, (character) => character.charCodeAt(0));
    const all = () => readList(pieces(latin1, 50), { ...options, readNumber });
    const [synced, added] = [await stageOf(), await stageOf()];
    await synced.campaign.sync(all());
    await synced.play();
    expect(synced.posts.map(({ to_number }) => to_number)).toEqual([numberOf(0)]);
    await added.campaign.add(all());
    await added.play();
    expect(added.posts.map(({ to_number }) => to_number)).not.toContain(numberOf(1));
  });

  it("is not called by another number of their id where their row has none that can be read", async () => {
    const rows = [
      "n/a,A,yes",
      `${numberOf(1)},A,`,
      `${numberOf(2)},B,`,
      "n/a,C,",
      `${numberOf(3)},C,`,
    ];
    const text = new Blob([["phone,id,opt_out", ...rows].join("\n")]);
    const stage = await stageOf();
    const plan = await stage.campaign.sync(readList(text.stream(), { ...options, readNumber }));
    expect(plan).toMatchObject({ added: 2, blocked: 1, refused: [{ line: 2 }] });
    await stage.play();
    expect(stage.posts.map(({ to_number }) => to_number)).toEqual([numberOf(2), numberOf(3)]);
  });

  it.each([
    ["name,phone,opt_out", `Doe, Jane,${one},yes`, "opt_out", true],
    ["name,phone,opt_out", `Doe, Jane,${one},no`, "opt_out", false],
    ["phone,name,opt_out", `${one},Doe, Jane,yes`, "opt_out", true],
    ["phone,name,opt_out", `${one},Doe, Jane,`, "opt_out", false],
    ["phone,opt_out,note", `${one},yes,well, then, never`, "opt_out", true],
    ["phone,opt_out,note", `${one},,well, then, never`, "opt_out", false],
    ["opt_out,note,phone", `yes,well, then,${one}`, "opt_out", true],
    ["phone,consent,note", `${one},no,well, then`, "consent=no", true],
    ["phone,consent,note", `${one},yes,well, then`, "consent=no", false],
    ["phone,opt_out,note,city", `${one},yes,well`, "opt_out", true],
    ["phone,note,opt_out,city", `${one},well`, "opt_out", false],
  ])(
    "is blocked by a row with another number of cells: %s / %s",
    async (header, row, column, is) => {
      const ignoreColumns = header.split(",").filter((name) => /name|note|city/.test(name));
      const given = { optOutColumns: [column], ignoreColumns };
      const { contacts, refused } = await read(`${header}\n${row}\n`, given);
      expect(contacts).toEqual(is ? [{ to_number: one, doNotCall: true, line: 2 }] : []);
      expect(refused).toHaveLength(is ? 0 : 1);
    },
  );

  it.each([
    [
      "consent=nein",
      ['no cell of "consent" has the value of optOutColumns: no row is blocked by it'],
    ],
    ["consent=no", []],
    ["consent", []],
  ])("is warned of where no cell has the value of %s", async (column, warnings) => {
    const found: string[] = [];
    const onWarning = (text: string) => void found.push(text);
    await read(`phone,consent\n${one},yes\n${two},No\n`, { optOutColumns: [column], onWarning });
    expect(found).toEqual(warnings);
  });

  it("is read without the spaces that a cell in quotes has", async () => {
    const cells = `phone,ok\n${one},"No "\n${two}," no\u00a0"\n${numberOf(3)},"yes "\n`;
    const { contacts } = await read(cells, { optOutColumns: ["ok=no"] });
    expect(contacts.map(({ doNotCall = false }) => doNotCall)).toEqual([true, true, false]);
    const plain = await read(cells, { optOutColumns: ["ok"] });
    expect(plain.contacts.map(({ doNotCall = false }) => doNotCall)).toEqual([false, false, true]);
  });

  it("is read whichever way its accents are written", async () => {
    const cells = `phone,wish\n${one},nicht m\u00f6glich\n${two},nicht mo\u0308glich\n`;
    for (const value of ["m\u00f6glich", "mo\u0308glich"]) {
      const { contacts } = await read(cells, { optOutColumns: [`wish=nicht ${value}`] });
      expect(contacts.map(({ doNotCall }) => doNotCall)).toEqual([true, true]);
    }
  });

  it("changes nothing of a plan that is refused", async () => {
    const stage = await stageOf();
    await stage.campaign.sync(readList(bytes(), options), { confirm: () => false });
    expect(await stage.campaign.block([numberOf(1), numberOf(6)])).toBe(2);
  });
});

it.each(["name\nAda\n", 'a,"b\n', `phone\n${one}\n`])(
  "closes its source when its reader leaves, or the header is refused: %j",
  async (list) => {
    let isClosed = false;
    const source = async function* () {
      try {
        yield new TextEncoder().encode(list);
        yield new Uint8Array();
      } finally {
        isClosed = true;
      }
    };
    const contacts = readList(source());
    await contacts.next().catch(() => {});
    await contacts.return();
    expect(isClosed).toBe(true);
  },
);
