import fc from "fast-check";
import { parse } from "valibot";
import { describe, expect, it } from "vitest";
import { CallEvent } from "../../../src/callbacks/event.ts";
import type { Call } from "../../../src/calls/call.ts";
import { ServiceException } from "../../../src/errors.ts";
import { people, type Stage, stageOf } from "./stage.ts";

/** What becomes known of the first attempt of a contact. */
type News = (course: Course) => Promise<unknown>;

/** A contact, and what is known of its first attempt, in one order. */
interface Course {
  readonly stage: Stage;
  readonly contact: number;
  /** The service answers the POST. */
  readonly answer: (call: Call | ServiceException) => Promise<void>;
}

const contextOf = ({ stage, contact }: Course, attempt = 1) => ({
  ...{ campaign: stage.campaign.id, contact, attempt },
});

const event =
  (type: string, data: object = {}): News =>
  (course) =>
    course.stage.campaign.note({
      context: contextOf(course),
      event: parse(CallEvent, { type, call_id: `cs_${course.contact}`, data }),
    });

const flow =
  (input: object): News =>
  (course) =>
    course.stage.campaign.note({
      ...{ call: { call_id: `cs_${course.contact}` }, context: contextOf(course), answers: {} },
      ...input,
    });

const refused = (placed: "no" | "maybe", code: number, retryAfter?: number) =>
  new ServiceException(`HTTP ${code}`, { placed, code, retryAfter });

/** Answers to the POST: it has one. Without any of these, it was answered before the news. */
const answers: Readonly<Record<string, News>> = {
  "the POST: its id": (course) => course.answer({ id: `cs_${course.contact}` }),
  "the POST: maybe": (course) => course.answer(refused("maybe", 503)),
  "the POST: wait": (course) => course.answer(refused("no", 429, 1)),
  "the POST: refused": (course) => course.answer(refused("no", 400)),
};

const kinds: Readonly<Record<string, News>> = {
  answered: event("call.answered"),
  "a machine is detected": event("call.machine_detected", { answered_by: "machine_start" }),
  "a person is detected": event("call.machine_detected", { answered_by: "human" }),
  "the flow failed": event("call.flow_error", { flow_error: "step 1: flow_url answered HTTP 401" }),
  completed: event("call.completed", { reason: "normal" }),
  "completed, a machine": event("call.completed", { answered_by: "machine_end_beep" }),
  "completed, its flow failed": event("call.completed", { reason: "flow_error" }),
  failed: event("call.failed"),
  busy: event("call.failed", { reason: "busy" }),
  "no answer": event("call.failed", { reason: "no_answer" }),
  rejected: event("call.failed", { reason: "rejected" }),
  canceled: event("call.failed", { reason: "canceled" }),
  lost: event("call.failed", { reason: "lost" }),
  "a key": flow({ answers: { visit: "1" }, digits: "1" }),
  "the message was left": flow({ answered_by: "machine_end_other", message: "left" }),
  ...answers,
};
const names = Object.keys(kinds);

const subsets = (size: number, from: readonly string[] = names): readonly (readonly string[])[] =>
  size === 0
    ? [[]]
    : from.flatMap((first, at) =>
        subsets(size - 1, from.slice(at + 1)).map((rest) => [first, ...rest]),
      );

const permutations = <T>([first, ...rest]: readonly T[]): readonly (readonly T[])[] =>
  first === undefined
    ? [[]]
    : permutations(rest).flatMap((each) =>
        [...each, first].map((_, at) => [...each.slice(0, at), first, ...each.slice(at)]),
      );

const isPossible = (set: readonly string[]): boolean =>
  set.filter((name) => Object.hasOwn(answers, name)).length <= 1;

const minute = 60_000;

/** Where each order leads: how the contact stands after the news, and how many POSTs there are in the end. */
const endsOf = async (
  orders: readonly (readonly string[])[],
  options: Parameters<typeof stageOf>[0],
): Promise<readonly unknown[]> => {
  const concurrency = orders.length + 1;
  const stage = await stageOf({ settleTimeout: 60 * minute, concurrency, ...options });
  const { campaign, posts } = stage;
  const numbers = people(orders.length);
  const indexOf = new Map(numbers.map(({ to_number }, index) => [to_number, index]));
  const resolvers = new Map<number, (call: Call | Promise<never>) => void>();
  stage.answer = ({ to_number }) => {
    const index = indexOf.get(to_number) ?? 0;
    const isAsked = orders[index]?.some((name) => Object.hasOwn(answers, name));
    if (!isAsked || resolvers.has(index)) return { id: `cs_${index + 1}` };
    return new Promise((resolve) => resolvers.set(index, resolve));
  };
  await campaign.add(numbers);
  while (posts.length < orders.length) {
    stage.now += 20;
    await campaign.step();
  }
  // What was answered at once is recorded.
  const settled = () => new Promise((resolve) => setTimeout(resolve));
  await settled();
  const courses = orders.map((_, index): Course => {
    const answer: Course["answer"] = async (call) => {
      resolvers.get(index)?.(call instanceof ServiceException ? Promise.reject(call) : call);
      await settled();
    };
    return { stage, contact: index + 1, answer };
  });
  for (let at = 0; at < Math.max(...orders.map(({ length }) => length)); at++) {
    await Promise.all(
      orders.map((order, index) => {
        const course = courses[index];
        return course && kinds[order[at] ?? ""]?.(course);
      }),
    );
  }
  await Promise.all(courses.map(({ answer }) => answer({ id: "" })));
  await campaign.idle();
  const results = [...campaign.results()];
  // Faults of one campaign are no matter here.
  for (let time = 0; time < 10; time++) {
    await campaign.resume();
    stage.now += minute;
    await campaign.step();
    while ((await campaign.step()) === stage.now) await campaign.idle();
  }
  await campaign.resume();
  await stage.play(2 * minute);
  const counts = new Map<string, number>();
  for (const { to_number } of posts) counts.set(to_number, (counts.get(to_number) ?? 0) + 1);
  return results.map(({ to_number, disposition, reason, answered_by, attempts }) => ({
    ...{ disposition, reason, answered_by, attempts },
    posts: counts.get(to_number),
  }));
};

/** The sets whose orders lead to different ends, with two such orders. */
const differing = async (
  sets: readonly (readonly string[])[],
  options: Parameters<typeof stageOf>[0],
): Promise<readonly unknown[]> => {
  const orders = sets.flatMap((set) => permutations(set));
  const ends = await endsOf(orders, options);
  const first = new Map<string, number>();
  const different = new Map<string, unknown>();
  for (const [index, order] of orders.entries()) {
    const key = [...order].sort().join(", ");
    const other = first.get(key) ?? index;
    first.set(key, other);
    if (JSON.stringify(ends[other]) !== JSON.stringify(ends[index]) && !different.has(key)) {
      different.set(key, [orders[other], ends[other], order, ends[index]]);
    }
  }
  return [...different.values()];
};

const again = { after: minute, attempts: 2 };
const campaigns = {
  "no retries": { attempts: 1 },
  "retries after any reason": {
    retryOn: { machine: again, busy: again, no_answer: again, rejected: again, unreachable: again },
  },
  "retries after a machine": { retryOn: { machine: again } },
} as const;

describe.each(Object.entries(campaigns))("with %s, in every order", (_, options) => {
  it.each([2, 3])("%d kinds of news have one end", async (size) => {
    expect(await differing(subsets(size).filter(isPossible), options)).toEqual([]);
  });

  it("four kinds, some of them by a seed, too", async () => {
    const four = fc.subarray(names, { minLength: 4, maxLength: 4 }).filter(isPossible);
    const sets = new Map(fc.sample(four, { seed: 4, numRuns: 40 }).map((set) => [`${set}`, set]));
    expect(await differing([...sets.values()], options)).toEqual([]);
  });
});
