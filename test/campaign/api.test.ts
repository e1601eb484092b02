import { readList } from "outdial/campaigns";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Service, startService, until } from "../bridge/service.ts";
import { listOf, numbersOf, rowsOf } from "./csv.ts";
import { startWorker, stranger, token, type Worker } from "./worker.ts";

let service: Service;
let worker: Worker;

beforeAll(async () => {
  service = await startService({ speed: 100 });
  const { emulator, baseUrl } = service;
  const { apiKey, webhookSecret } = emulator;
  worker = await startWorker({ baseUrl, apiKey, webhookSecret });
});

afterAll(async () => {
  await worker.close();
  await service.close();
});

const plan = { rate: 200, concurrency: 200, window: "always" } as const;

const begin = async (more = {}): Promise<string> => {
  const response = await worker.ask("POST", "/campaigns", { ...plan, ...more });
  expect(response.status).toBe(201);
  return (await response.json()).id;
};

const upload = async (id: string, list: string) =>
  (await worker.ask("PUT", `/campaigns/${id}/contacts`, list)).json();

const progress = async (id: string) =>
  (await worker.ask("GET", `/campaigns/${id}/progress`)).json();

const results = async (id: string, query = "") =>
  (await worker.ask("GET", `/campaigns/${id}/results${query}`)).text();

const post = async (id: string, what: string, body?: unknown) =>
  (await worker.ask("POST", `/campaigns/${id}/${what}`, body)).json();

test.each([
  { rate: "1000" },
  { rate: ["1000"] },
  { perDay: "1000000" },
  { perDay: [1_000_000] },
  { rate: null },
])(
  "a limit of a token isn't got round by a value that only looks like a number: %j",
  async (more) => {
    const response = await worker.ask("POST", "/campaigns", { ...plan, ...more });
    expect(response.status).toBe(400);
    expect((await response.json()).error).toBe("bad_plan");
  },
);

test.each([1, "1", "2026-12-24T12:00", "2026-12-24", "2026-02-31T12:00Z", "soon", null])(
  "until: %j is refused, as by the command: no zone is guessed",
  async (until) => {
    const response = await worker.ask("POST", "/campaigns", { ...plan, until });
    expect(response.status).toBe(400);
    expect((await response.json()).issues).toEqual([
      { param: "until", message: expect.stringContaining("must be a date, time and zone") },
    ]);
  },
);

test.each(["nonsense", "", "toString", "%0D%0Aa", "日本", '"; filename="a.exe', "../x"])(
  "?only=%s, which is no disposition, is refused",
  async (only) => {
    const id = await begin();
    const response = await worker.ask("GET", `/campaigns/${id}/results?only=${only}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: "unknown_disposition" });
  },
);

test.each(["DELETE", "PUT", "PATCH"])("%s is no method of the campaigns", async (method) => {
  expect((await worker.ask(method, "/campaigns")).status).toBe(405);
});

test("a quote that is never closed is refused by its size, not kept in memory", async () => {
  const list = `to_number,name\n+12025550101,"Ada\n${"+12025550102,Bob\n".repeat(10_000)}`;
  const rows = readList(new Blob([list]).stream());
  await expect(rows.next()).rejects.toThrow(/not CSV at line .* a row is too long/);
});

test("a list is called from one shard and from four, each contact once", async () => {
  for (const shards of [1, 4]) {
    const numbers = [
      ...numbersOf(100).map((number) => number.replace("303", `30${shards}`)),
      "+12025550101",
      "+12025550102",
    ];
    service.emulator.reset();
    const id = await begin({ shards });
    expect(await upload(id, listOf([...numbers, ...numbers.slice(0, 7)]))).toEqual({
      added: 102,
      duplicate: 7,
      refused: 0,
      lines: [],
    });
    expect(await progress(id)).toMatchObject({ state: "paused", waiting: 102 });
    await post(id, "start");
    await until("everybody has been called", async () => (await progress(id)).done);
    expect(await progress(id)).toMatchObject({ completed: 100, busy: 1, no_answer: 1 });
    expect([...service.emulator.posts.values()]).toEqual(numbers.map(() => 1));
    const rows = rowsOf(await results(id));
    expect(rows.map(({ to_number }) => to_number).sort()).toEqual([...numbers].sort());
    expect(rowsOf(await results(id, "?only=busy"))).toEqual([
      expect.objectContaining({ to_number: "+12025550101", disposition: "busy", attempts: "1" }),
    ]);
    const history = await (await worker.ask("GET", `/campaigns/${id}/history`)).json();
    expect(history.at(-1)).toMatchObject({ completed: 100, done: true });
  }
});

test("rows that can't be taken are reported by line and rule, and cells can't become formulas", async () => {
  const id = await begin();
  const list = '\uFEFFPhone Number,ID\r\n+13035550001,=1+1\r\n12,x\r\n"+13035550002","a ""b"""\r\n';
  expect(await upload(id, list)).toEqual({
    added: 2,
    duplicate: 0,
    refused: 1,
    lines: [{ line: 3, reason: expect.stringContaining("to_number must be an E.164 number") }],
  });
  const csv = await results(id);
  expect(csv).toContain("+13035550001,'=1+1,");
  expect(csv).toContain('+13035550002,"a ""b""",');
});

test("the results have the columns of outdial results, in their order", async () => {
  const id = await begin();
  await upload(id, listOf(["+13035551999"]));
  await post(id, "start");
  await until("it is called", async () => (await progress(id)).done);
  const [row] = rowsOf(await results(id));
  expect(Object.keys(row ?? {}).join()).toBe(
    "to_number,id,disposition,reason,attempts,call_id,started_at,ended_at,duration,answered_by,cost,currency,recordings",
  );
  expect(row).toMatchObject({
    started_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    duration: expect.stringMatching(/^\d+$/),
  });
});

test("a call-back of who isn't in the list, and one at no time, are refused", async () => {
  const id = await begin();
  await upload(id, listOf(["+13035551998"]));
  const at = "2040-01-01T12:00:00Z";
  expect(await post(id, "call_back", { to_number: "+13035551997", at })).toEqual({ agreed: false });
  expect(await post(id, "call_back", { to_number: "+13035551998", at })).toEqual({ agreed: true });
  expect(await post(id, "call_back", { to_number: "+13035551998", at: "soon" })).toMatchObject({
    issues: [{ param: "at" }],
  });
  const figures = await (await worker.ask("GET", `/campaigns/${id}/figures?from=x`)).json();
  expect(figures.callBacks).toEqual({ waiting: 1, next: Date.parse(at) });
  expect(await post(id, "stop")).toEqual({ ended: 0, failed: [], unclear: [] });
});

test("what is no list is refused, and nobody is added", async () => {
  const id = await begin();
  const refused = {
    "name\nAnn\n": /no column to_number/,
    'to_number\n"+1303555': /not CSV at line 2/,
    "to_number,phone\n+13035550001,+13035550002\n": /more than one column is a telephone number/,
    "phone,opt_out\n+13035550001,yes\n": /pass \?opt_out_column=opt_out to block its rows/,
    "PK\u0003\u0004workbook": /is a workbook, such as of Excel: save it as CSV in UTF-8/,
    "p\u0000h\u0000o\u0000n\u0000e\u0000": /is UTF-16, or no text/,
  };
  for (const [list, message] of Object.entries(refused)) {
    const response = await worker.ask("PUT", `/campaigns/${id}/contacts`, list);
    expect(response.status).toBe(400);
    expect((await response.json()).message).toMatch(message);
  }
  expect(await progress(id)).toMatchObject({ contacts: 0 });
});

test("a list is read as the command reads it: no cell is taken for another", async () => {
  const id = await begin();
  const list =
    "name;phone;opt_out\nSmith; Jr;+13035551001;\n+13035551002\nAda;+13035551003;\nBob;+13035551004;x\n";
  const path = `/campaigns/${id}/contacts?opt_out_column=opt_out`;
  expect(await (await worker.ask("PUT", path, list)).json()).toEqual({
    added: 2,
    duplicate: 0,
    refused: 2,
    lines: [
      { line: 2, reason: expect.stringContaining("more cells than the header") },
      { line: 3, reason: expect.stringContaining("fewer cells than the header") },
    ],
  });
  expect(await progress(id)).toMatchObject({ contacts: 2, waiting: 1, blocked: 1 });
});

test("a list that breaks in its middle is refused with the count of those who were added", async () => {
  const id = await begin();
  // The first thousand rows are read before any contact is given.
  const numbers = Array.from({ length: 1_001 }, (_, at) => `+1303556${1_000 + at},Ada\n`).join("");
  const list = `to_number,name\n${numbers}+1,Bob\n+13035552002,"Bob\n`;
  const response = await worker.ask("PUT", `/campaigns/${id}/contacts`, list);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: "bad_list",
    message: "the list is not CSV at line 1005: a quote is not closed",
    ...{ added: 1_001, duplicate: 0, refused: 1, lines: [{ line: 1_003 }] },
  });
  expect(await progress(id)).toMatchObject({ contacts: 1_001 });
});

test("a campaign is paused, resumed and canceled, and a number is blocked in the middle of it", async () => {
  const id = await begin({ rate: 5, concurrency: 5 });
  const numbers = numbersOf(60).map((number) => number.replace("303", "307"));
  await upload(id, listOf(numbers));
  await post(id, "start");
  await until("some are called", async () => (await progress(id)).completed > 0);
  expect(await post(id, "pause")).toMatchObject({ state: "paused" });
  await until("nobody is called any more", async () => (await progress(id)).calling === 0);
  const { waiting } = await progress(id);
  expect(waiting).toBeGreaterThan(0);
  expect(await post(id, "block", { to_number: numbers.at(-1) })).toEqual({ blocked: 1 });
  expect(await progress(id)).toMatchObject({ waiting: waiting - 1, blocked: 1 });
  const again = { to_number: numbers.at(-1), reason: "asked for a call" };
  expect(await post(id, "unblock", again)).toEqual({ unblocked: 1 });
  expect(await progress(id)).toMatchObject({ waiting, blocked: 0 });
  expect(await post(id, "block", { to_number: numbers.at(-1) })).toEqual({ blocked: 1 });
  expect(await post(id, "resume")).toMatchObject({ state: "running" });
  await until("it goes on", async () => (await progress(id)).waiting < waiting - 1);
  await post(id, "cancel");
  await until("it has ended", async () => (await progress(id)).done);
  const { completed, canceled, blocked } = await progress(id);
  expect(completed + canceled + blocked).toBe(60);
  expect(canceled).toBeGreaterThan(0);
});

describe("who may", () => {
  test("without a token: 401, whatever is asked", async () => {
    const id = await begin();
    for (const [method, where] of [
      ["GET", "/campaigns"],
      ["POST", "/campaigns"],
      ["GET", `/campaigns/${id}`],
      ["PUT", `/campaigns/${id}/contacts`],
      ["POST", `/campaigns/${id}/start`],
      ["GET", `/campaigns/${id}/results`],
    ] as const) {
      for (const whose of ["", "x", token.toUpperCase()]) {
        const response = await worker.ask(method, where, undefined, whose);
        expect([where, response.status]).toEqual([where, 401]);
      }
    }
  });

  test("to another caller there is no such campaign", async () => {
    const id = await begin();
    const response = await worker.ask("POST", `/campaigns/${id}/start`, undefined, stranger);
    expect(response.status).toBe(404);
    expect(await (await worker.ask("GET", "/campaigns", undefined, stranger)).json()).toEqual([]);
    expect(await progress(id)).toMatchObject({ state: "paused" });
  });

  test("a token bounds the pace, the destinations and the campaigns a day", async () => {
    const ask = (body: unknown) => worker.ask("POST", "/campaigns", body, stranger);
    expect(await (await ask({ ...plan, rate: 6 })).json()).toMatchObject({
      error: "bad_plan",
      message: "rate must be at most 5 for this token",
    });
    // A slip costs none of them.
    for (const slip of [{}, { window: "allways" }, { window: "always", attempts: 0 }]) {
      expect(await (await ask(slip)).json()).toMatchObject({ error: "bad_parameters" });
    }
    const made = await ask({ window: "always" });
    const { id } = await made.json();
    const list = "to_number\n+13035550001\n+12025550100\n";
    const added = await worker.ask("PUT", `/campaigns/${id}/contacts`, list, stranger);
    expect(await added.json()).toMatchObject({ added: 1, refused: 1 });
    expect((await ask({ window: "always" })).status).toBe(429);
  });

  test("a notification that nobody signed is refused, and so is a flow", async () => {
    const id = await begin();
    for (const where of [`/status/${id}/0`, "/flow"]) {
      const response = await fetch(worker.url + where, { method: "POST", body: "{}" });
      expect(response.status).toBe(401);
    }
  });
});

test("a plan without calling hours, or with what nobody may choose, is refused", async () => {
  const ask = async (body: unknown) => (await worker.ask("POST", "/campaigns", body)).json();
  expect(await ask({ rate: 1 })).toMatchObject({
    error: "bad_parameters",
    issues: [{ param: "window" }],
  });
  expect(await ask({ ...plan, from_number: "+12025550198" })).toMatchObject({ error: "bad_plan" });
  expect(await ask({ ...plan, rate: 2, shards: 4 })).toMatchObject({
    issues: [{ param: "rate", message: "must be at least the number of shards, 4" }],
  });
  expect(await ask("{")).toMatchObject({ error: "bad_plan", message: "The body is no JSON" });
});
