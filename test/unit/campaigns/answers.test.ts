import { DatabaseSync } from "node:sqlite";
import { parse } from "valibot";
import { describe, expect, it } from "vitest";
import { CallEvent } from "../../../src/callbacks/event.ts";
import {
  BadParametersException,
  ForbiddenException,
  NetworkException,
  ServiceException,
} from "../../../src/errors.ts";
import { noon, people, type Stage, stageOf } from "./stage.ts";

const throwing = (error: unknown) => () => {
  throw error;
};

const no = (code?: number, retryAfter?: number) =>
  throwing(new ServiceException(`HTTP ${code}`, { placed: "no", code, retryAfter }));

describe("what asks to wait", () => {
  it("is tried again after Retry-After", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    stage.answer = no(429, 7);
    await stage.play(0);
    stage.answer = () => ({ id: "cs_1" });
    await stage.play(6_900);
    expect(stage.posts).toHaveLength(1);
    await stage.play(200);
    expect(stage.posts).toHaveLength(2);
    expect(stage.campaign.progress()).toMatchObject({ calling: 1 });
  });

  it("is tried again after a wait that grows to a minute, where no connection was made", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    const times: number[] = [];
    stage.answer = () => {
      times.push(stage.now);
      throw new NetworkException("refused", { placed: "no" });
    };
    await stage.play(400_000);
    const waits = times.slice(1).map((at, index) => Math.round((at - (times[index] ?? 0)) / 1000));
    expect(waits.slice(0, 8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it("ends a contact as expired, the 20th time, where nobody else is put off", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    stage.answer = no(429, 1);
    await stage.play(120_000);
    expect(stage.posts).toHaveLength(20);
    expect(stage.campaign.progress()).toMatchObject({ expired: 1, done: true });
  });

  it("is waited for a second at least, whatever the service asks for", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    const times: number[] = [];
    stage.answer = () => {
      times.push(stage.now);
      return no(429, 0)();
    };
    await stage.play(5_000);
    const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(waits).toEqual([1_000, 1_000, 1_000, 1_000, 1_000]);
  });

  it("slows the pace, which recovers within 10 s", async () => {
    const stage = await stageOf({ rate: 100 });
    await stage.campaign.add(people(1));
    stage.answer = no(429, 60);
    await stage.play(0);
    expect(stage.campaign.rate).toBe(50);
    await stage.play(10_000);
    expect(stage.campaign.rate).toBe(100);
  });

  it("counts as no attempt", async () => {
    const stage = await stageOf({ attempts: 1 });
    await stage.campaign.add(people(1));
    stage.answer = no(429, 1);
    await stage.play(3_000);
    const [result] = stage.campaign.results();
    expect(result?.attempts).toBe(0);
  });
});

describe("what is the campaign's fault", () => {
  it.each([401, 402, 403, 404, 405, 410, 307, 308])(
    "%d pauses it, and costs no contact",
    async (code) => {
      const stage = await stageOf();
      await stage.campaign.add(people(5));
      stage.answer = no(code);
      await stage.play(60_000);
      expect(stage.posts).toHaveLength(1);
      const reason = expect.stringContaining(String(code));
      expect(stage.campaign.progress()).toMatchObject({ state: "paused", reason, waiting: 5 });
      stage.answer = () => ({ id: "cs_1" });
      stage.campaign.resume();
      await stage.play(60_000);
      expect(stage.campaign.progress()).toMatchObject({ state: "running", calling: 5 });
    },
  );

  it("so does an option of the client that breaks its rule", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(5));
    stage.answer = throwing(new BadParametersException([{ param: "apiKey", message: "is bad" }]));
    await stage.play(60_000);
    expect(stage.campaign.progress()).toMatchObject({ state: "paused", waiting: 5 });
  });

  it("a pause outlives the process", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    stage.answer = throwing(new ForbiddenException("HTTP 403", { placed: "no", code: 403 }));
    await stage.play();
    const again = await stage.reopen();
    await again.play(60_000);
    expect(again.posts).toEqual([]);
  });
});

it.each([400, 413, 415, 422, 451])(
  "a %d ends the contact as refused, and is never tried again",
  async (code) => {
    const stage = await stageOf({ attempts: 3 });
    await stage.campaign.add(people(1));
    stage.answer = no(code);
    await stage.play(3_600_000);
    expect(stage.posts).toHaveLength(1);
    expect(stage.campaign.progress()).toMatchObject({ refused: 1, done: true });
  },
);

it("20 refused contacts in a row pause the campaign, and a placed call between them starts the count again", async () => {
  const stage = await stageOf({ rate: 1 });
  await stage.campaign.add(people(100));
  stage.answer = no(400);
  await stage.play(18_900);
  stage.answer = () => ({ id: "cs_1" });
  await stage.play(1_000);
  expect(stage.campaign.progress()).toMatchObject({ state: "running", refused: 19, calling: 1 });
  stage.answer = no(400);
  await stage.play(60_000);
  const reason = expect.stringMatching(/^20 contacts in a row were refused: HTTP 400/);
  expect(stage.campaign.progress()).toMatchObject({ state: "paused", reason, refused: 39 });
  stage.campaign.resume();
  await stage.play(60_000);
  expect(stage.campaign.progress()).toMatchObject({ state: "paused", refused: 59 });
});

describe("a flow that fails", () => {
  /** So many contacts are called, and their flows fail. */
  const failing = async (count: number, stage: Stage) => {
    const from = stage.posts.length;
    await stage.campaign.add(people(from + count));
    await stage.play();
    for (let post = from; post < from + count; post++) {
      await stage.tell(post, "call.completed", "flow_error");
    }
  };

  it("20 in a row pause the campaign, and a call whose flow succeeds starts the count again", async () => {
    const stage = await stageOf();
    await failing(19, stage);
    await stage.campaign.add(people(21));
    await stage.play();
    await stage.tell(19, "call.completed", "normal");
    await stage.tell(20, "call.completed", "flow_error");
    expect(stage.campaign.progress()).toMatchObject({ state: "running", flow_error: 20 });
    await failing(18, stage);
    expect(stage.campaign.progress()).toMatchObject({ state: "running", flow_error: 38 });
    await failing(1, stage);
    const reason = "the flow of 20 calls in a row failed: flow_error";
    expect(stage.campaign.progress()).toMatchObject({ state: "paused", reason, flow_error: 39 });
  });

  it("who did not answer between them doesn't start the count again", async () => {
    const stage = await stageOf();
    await failing(19, stage);
    await stage.campaign.add(people(20));
    await stage.play();
    await stage.tell(19, "call.failed", "no_answer");
    await failing(1, stage);
    expect(stage.campaign.progress()).toMatchObject({ state: "paused", flow_error: 20 });
  });

  it("has the sentence of the notification as the reason, and is not called again", async () => {
    const stage = await stageOf({ attempts: 3, retryOn: ["busy", "unreachable"] });
    await stage.campaign.add(people(1));
    await stage.play();
    const { event, context } = await stage.received(0, "call.completed", "flow_error");
    const flow_error = "step 1: flow_url answered HTTP 401";
    await stage.campaign.note({
      context,
      event: parse(CallEvent, { ...event, data: { ...event.data, flow_error } }),
    });
    await stage.play(3_600_000);
    expect(stage.posts).toHaveLength(1);
    const [result] = stage.campaign.results();
    expect(result).toMatchObject({ disposition: "flow_error", reason: flow_error });
  });
});

it("who is unknown has the answer to the request as the reason", async () => {
  const stage = await stageOf({ settleTimeout: 60_000 });
  await stage.campaign.add(people(1));
  stage.answer = throwing(new ServiceException("HTTP 503", { placed: "maybe", code: 503 }));
  await stage.play(120_000);
  const [result] = stage.campaign.results();
  expect(result).toMatchObject({
    disposition: "unknown",
    reason: "HTTP 503 (a call may have been placed)",
  });
});

describe("answers that come in one turn", () => {
  /** Milliseconds by which a step is late, so that it begins several calls. */
  const late = 100;

  it("count in the order in which they came: a placed call between 19 refusals and 19 more pauses nothing", async () => {
    const stage = await stageOf();
    await stage.campaign.add(people(39));
    stage.now += late;
    const placed = 19;
    stage.answer = () => (stage.posts.length === placed + 1 ? { id: "cs_1" } : no(400)());
    await stage.play();
    expect(stage.campaign.progress()).toMatchObject({ state: "running", refused: 38, calling: 1 });
  });

  it("lead to no look at the live calls, of which there may be many", async () => {
    const database = new DatabaseSync(":memory:");
    let looks = 0;
    const prepare = database.prepare.bind(database);
    database.prepare = (text) => {
      const statement = prepare(text);
      const all = statement.all.bind(statement);
      const counted = (...values: Parameters<typeof all>) => {
        looks++;
        return all(...values);
      };
      return text.includes(" as since") ? Object.assign(statement, { all: counted }) : statement;
    };
    const stage = await stageOf({}, database);
    await stage.campaign.add(people(40));
    stage.now += late;
    const enough = new AbortController();
    stage.answer = () => {
      if (stage.posts.length === 40) enough.abort();
      return { id: `cs_${stage.posts.length}` };
    };
    const { calling } = await stage.campaign.run({ signal: enough.signal });
    expect({ calling, looks }).toEqual({ calling: 40, looks: 1 });
  });

  it("are recorded but for the one that can't be", async () => {
    const database = new DatabaseSync(":memory:");
    const stage = await stageOf({}, database);
    await stage.campaign.add(people(3));
    stage.now += late;
    stage.answer = () => {
      if (stage.posts.length !== 2) return { id: `cs_${stage.posts.length}` };
      database.exec("update outdial_contact set outcome = 'of a newer version' where contact = 2");
      return no(400)();
    };
    await stage.campaign.step();
    await stage.campaign.idle();
    const placed = Array.from(stage.campaign.audit()).filter(({ event }) => event === "placed");
    expect(placed).toMatchObject([{ contact: 1 }, { contact: 3 }]);
    await expect(stage.campaign.step()).rejects.toMatchObject({ reason: "unknown_state" });
  });
});

describe("a final notification", () => {
  it.each([
    ["call.completed", "normal", "completed"],
    ["call.completed", "flow_error", "flow_error"],
    ["call.failed", "busy", "busy"],
    ["call.failed", "no_answer", "no_answer"],
    ["call.failed", "rejected", "rejected"],
    ["call.failed", "unreachable", "unreachable"],
    ["call.failed", "canceled", "canceled"],
    ["call.failed", "a_new_one", "unreachable"],
    ["call.failed", undefined, "unreachable"],
  ])("%s with %s ends the contact as %s", async (type, reason, disposition) => {
    const stage = await stageOf();
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, type, reason);
    const [result] = stage.campaign.results();
    expect(result).toMatchObject({ disposition, reason });
  });
});

describe("where somebody else receives the notifications", () => {
  it("contacts end as placed, and what may have been placed as unknown", async () => {
    const options = { notified: false, concurrency: undefined };
    const stage = await stageOf(options);
    await stage.campaign.add(people(2));
    stage.answer = ({ to_number }) => {
      if (to_number === people(1)[0]?.to_number) return { id: "cs_0" };
      throw new ServiceException("HTTP 503", { placed: "maybe", code: 503 });
    };
    await stage.play();
    expect(stage.campaign.progress()).toMatchObject({ placed: 1, unknown: 1, done: true });
  });

  it("neither attempts nor concurrency can be asked for", async () => {
    const { message } = await stageOf({ notified: false, attempts: 2 }).catch((error) => error);
    expect(message).toMatch(/attempts needs notifications.*concurrency needs notifications/);
  });
});

it("a duration that no call has is left out, and the results can be read", async () => {
  const stage = await stageOf();
  await stage.campaign.add(people(1));
  await stage.play();
  const { context, event } = await stage.received(0, "call.completed");
  Object.assign(Object(event.data), { duration: 9.1e12 });
  await stage.campaign.note({ context, event });
  expect([...stage.campaign.results()]).toMatchObject([
    { disposition: "completed", duration: undefined },
  ]);
});

it("a campaign whose outcome can't be written says so at the next step, and POSTs nothing more", async () => {
  const stage = await stageOf({ rate: 1 });
  await stage.campaign.add(people(3));
  stage.answer = () => {
    Object(stage.database).exec("drop table outdial_audit");
    return { id: "cs_0" };
  };
  await stage.campaign.step();
  await stage.campaign.idle();
  stage.now = noon + 60_000;
  await expect(stage.campaign.step()).rejects.toThrow(/outdial_audit/);
  expect(stage.posts).toHaveLength(1);
});

it("the id of a call is that of the last attempt: of one whose id is unknown there is none, and it is back when nothing was placed", async () => {
  const stage = await stageOf({ attempts: 3, retryDelay: 60_000, settleTimeout: 600_000 });
  const { campaign, play, tell } = stage;
  await campaign.add(people(1));
  await play();
  await tell(0, "call.failed", "busy");
  const idOf = (): string | undefined => [...campaign.results()][0]?.call_id;
  stage.answer = () => {
    throw new ServiceException("HTTP 429", { placed: "no", code: 429, retryAfter: 60 });
  };
  await play(61_000);
  expect([stage.posts.length, idOf()]).toEqual([2, "cs_0"]);
  stage.answer = () => {
    throw new Error("cut");
  };
  await play(120_000);
  expect([stage.posts.length, idOf()]).toEqual([3, undefined]);
});
