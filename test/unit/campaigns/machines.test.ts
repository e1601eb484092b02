import { describe, expect, it } from "vitest";
import { people, type Stage, stageOf } from "./stage.ts";

const called = async (options: Parameters<typeof stageOf>[0] = {}): Promise<Stage> => {
  const stage = await stageOf(options);
  await stage.campaign.add(people(1));
  await stage.play();
  return stage;
};

const resultOf = ({ campaign }: Stage) => {
  const [{ disposition, answered_by } = {}] = [...campaign.results()];
  return { disposition, answered_by };
};

const left = { answered_by: "machine_end_beep", message: "left" };

type Act = (stage: Stage) => Promise<boolean>;
const acts = {
  end: (stage) => stage.tell(0, "call.completed", "normal"),
  "end, a machine": (stage) =>
    stage.tellMore(0, "call.completed", { answered_by: "machine_start", reason: "normal" }),
  "end, a person": (stage) => stage.tellMore(0, "call.completed", { answered_by: "human" }),
  answered: (stage) => stage.tellMore(0, "call.answered", { answered_by: "machine_start" }),
  "the flow: a machine": (stage) => stage.hear(0, { answered_by: "machine_end_other" }),
  "the flow: a fax": (stage) => stage.hear(0, { answered_by: "fax" }),
  "the flow: a person": (stage) => stage.hear(0, { answered_by: "human" }),
  "the flow: unknown": (stage) => stage.hear(0, { answered_by: "unknown" }),
  "the flow: left": (stage) => stage.hear(0, left),
  "the flow: a key": (stage) => stage.hear(0, { digits: "1" }),
  "the flow: an answer": (stage) => stage.hear(0, { answers: { visit: "1" } }),
  // A machine's greeting is speech too.
  "the flow: words": (stage) =>
    stage.hear(0, { answers: { visit: "You have" }, digits: "", speech: { text: "You have" } }),
  "Vonage's event": (stage) =>
    stage.tellMore(0, "call.machine_detected", { answered_by: "machine_start" }),
  "Vonage's event: a person": (stage) =>
    stage.tellMore(0, "call.machine_detected", { answered_by: "human" }),
} satisfies Record<string, Act>;

/** What is learned in which order, and how the contact ends. */
type Course = [string, ...(keyof typeof acts)[]];
const courses: Course[] = [
  ["completed", "end"],
  ["completed", "end, a person"],
  ["completed", "the flow: unknown", "end"],
  ["machine", "end, a machine"],
  ["machine", "answered", "end"],
  ["machine", "the flow: a machine", "end"],
  ["machine", "the flow: a fax", "end"],
  ["machine", "Vonage's event", "end"],
  ["machine", "Vonage's event", "the flow: unknown", "end"],
  ["message_left", "the flow: left", "end"],
  ["message_left", "Vonage's event", "the flow: left", "end, a machine"],
  ["completed", "the flow: a person", "end, a machine"],
  ["completed", "Vonage's event: a person", "Vonage's event", "end"],
  ["completed", "the flow: a key", "end, a machine"],
  ["completed", "the flow: a machine", "the flow: an answer", "the flow: left", "end"],
  ["completed", "answered", "end, a person"],
  ["machine", "the flow: words", "end, a machine"],
  ["completed", "the flow: words", "end"],
];

const permutations = <T>([first, ...rest]: readonly T[]): readonly (readonly T[])[] =>
  first === undefined
    ? [[]]
    : permutations(rest).flatMap((each) =>
        [...each, first].map((_, at) => [...each.slice(0, at), first, ...each.slice(at)]),
      );

describe("who answered decides how the contact ends, whatever comes first", () => {
  it.each<Course>(courses)("%s: %s, %s, %s, %s", async (disposition, ...names) => {
    for (const order of permutations<keyof typeof acts>(names)) {
      const stage = await called();
      for (const name of order) expect(await acts[name](stage)).toBe(true);
      // Delivered again, all of it changes nothing.
      for (const name of order) await acts[name](stage);
      expect([order, resultOf(stage).disposition]).toEqual([order, disposition]);
      expect(stage.campaign.progress()).toMatchObject({ done: true, [disposition]: 1 });
    }
  });

  it("the result has the word of the service", async () => {
    const stage = await called();
    await acts["the flow: a machine"](stage);
    await acts.end(stage);
    expect(resultOf(stage)).toEqual({ disposition: "machine", answered_by: "machine_end_other" });
  });
});

describe("a machine may be tried again", () => {
  const retryOn = { machine: { after: 60_000, attempts: 2 } };

  it("after its delay", async () => {
    const stage = await called({ retryOn });
    await acts["end, a machine"](stage);
    expect(stage.campaign.progress()).toMatchObject({ waiting: 1, machine: 0 });
    await stage.play(60_000);
    expect(stage.posts).toHaveLength(2);
    await stage.tell(1, "call.completed", "normal");
    expect(resultOf(stage)).toEqual({ disposition: "completed", answered_by: undefined });
  });

  it("not once the message was left", async () => {
    const stage = await called({ retryOn });
    await acts["the flow: left"](stage);
    await acts.end(stage);
    await stage.play(120_000);
    expect(stage.posts).toHaveLength(1);
  });

  it("not when a person is known of while it waits", async () => {
    const stage = await called({ retryOn });
    await acts["end, a machine"](stage);
    await acts["the flow: an answer"](stage);
    await stage.play(120_000);
    expect(stage.posts).toHaveLength(1);
    expect(stage.campaign.progress()).toMatchObject({ done: true, completed: 1 });
  });

  it("an end that is delivered again doesn't put the retry off, nor end it", async () => {
    const stage = await called({ retryOn });
    await acts["end, a machine"](stage);
    await stage.play(30_000);
    await acts["end, a machine"](stage);
    await stage.play(30_000);
    expect(stage.posts).toHaveLength(2);
    await acts["end, a machine"](stage);
    await stage.tell(1, "call.failed", "busy");
    expect(resultOf(stage).disposition).toBe("busy");
  });
});

it("a flow that failed is no success with a machine either", async () => {
  const stage = await called();
  await acts.answered(stage);
  await stage.tell(0, "call.flow_error");
  await acts.end(stage);
  expect(resultOf(stage).disposition).toBe("flow_error");
});
