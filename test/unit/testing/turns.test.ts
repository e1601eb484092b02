import { describe, expect, test } from "vitest";
import { summaryOf } from "../../../src/lib/summary.ts";
import type { Segment } from "../../../src/testing/detector.ts";
import { deadAirOf, overlapOf, turnsOf, type Utterance } from "../../../src/testing/turns.ts";

const speech = (from: number, to: number): Segment => ({ from, to });
const utterance = (
  from: number,
  to: number,
  expectation: Utterance["expect"] = "respond",
): Utterance => ({ from, to, expect: expectation });

/** What of a turn isn't its utterance. */
const resultOf = (one: Utterance, agent: readonly Segment[], end = 30_000) => {
  const {
    from: _,
    to: __,
    expect: ___,
    ...result
  } = turnsOf([one], agent, end)[0] ?? utterance(0, 0);
  return result;
};

describe("a turn that expects a response", () => {
  test("response: from the end of the utterance to the agent's next speech", () => {
    expect(resultOf(utterance(1_000, 2_000), [speech(0, 900), speech(2_500, 3_000)])).toEqual({
      response: 500,
    });
  });

  test("it is negative, and a cut-in, where the agent begins before the end", () => {
    expect(resultOf(utterance(1_000, 2_000), [speech(1_800, 2_900)])).toEqual({
      response: -200,
      cutIn: true,
    });
  });

  test("speech that went on before is no response", () => {
    expect(resultOf(utterance(1_000, 2_000), [speech(500, 1_500)])).toEqual({ missed: true });
  });

  test("what comes after 10 s is none", () => {
    expect(resultOf(utterance(1_000, 2_000), [speech(12_001, 13_000)])).toEqual({ missed: true });
  });

  test("what comes after the next utterance has begun belongs to that", () => {
    const [first, second] = turnsOf(
      [utterance(1_000, 2_000), utterance(3_000, 4_000)],
      [speech(4_300, 5_000)],
      9_000,
    );
    expect(first).toMatchObject({ missed: true });
    expect(second).toMatchObject({ response: 300 });
  });
});

describe("a turn that should stop the agent", () => {
  const stopping = utterance(1_000, 2_000, "stop");

  test("stop: from its beginning to the end of the speech that it interrupted", () => {
    expect(resultOf(stopping, [speech(0, 1_120), speech(2_700, 3_000)])).toEqual({
      stop: 120,
      response: 700,
    });
  });

  test("there is none where the agent was silent", () => {
    expect(resultOf(stopping, [speech(2_700, 3_000)])).toEqual({ response: 700 });
  });

  test("an agent that speaks again after less than 500 ms, before the caller is done, has not stopped", () => {
    const bursts = [speech(0, 1_100), speech(1_400, 1_700), speech(1_900, 2_600)];
    expect(resultOf(stopping, bursts)).toEqual({ stop: 1_600, talkedOn: true, missed: true });
    expect(resultOf(stopping, [speech(0, 950), ...bursts.slice(1)])).toMatchObject({ stop: 1_600 });
    expect(resultOf(stopping, [speech(0, 1_700), speech(2_100, 3_000)])).toEqual({
      stop: 700,
      response: 100,
    });
    expect(resultOf(stopping, [speech(0, 1_100), speech(1_700, 3_000)])).toEqual({
      stop: 100,
      response: -300,
      cutIn: true,
    });
  });

  test("speech of more than a second after its beginning is talked on, also where the call has ended it", () => {
    expect(resultOf(stopping, [speech(0, 2_000)])).not.toHaveProperty("talkedOn");
    expect(resultOf(stopping, [speech(0, 2_100)])).toHaveProperty("talkedOn");
    expect(resultOf(stopping, [speech(0, 2_100)], 2_100)).toEqual({ talkedOn: true, missed: true });
    expect(resultOf(stopping, [])).not.toHaveProperty("talkedOn");
  });

  test("there is none where the call ended within 200 ms of the agent's speech", () => {
    expect(resultOf(stopping, [speech(0, 2_000)], 2_000)).toEqual({ missed: true });
    expect(resultOf(stopping, [speech(0, 1_900)], 2_000)).toEqual({ missed: true });
    expect(resultOf(stopping, [speech(0, 1_800)], 2_000)).toEqual({ stop: 800, missed: true });
  });

  test("an agent that talks on has a long one, and misses its response", () => {
    expect(resultOf(stopping, [speech(0, 7_300)])).toEqual({
      stop: 6_300,
      talkedOn: true,
      missed: true,
    });
  });
});

describe("a turn that the agent should ignore", () => {
  const cough = utterance(1_000, 1_150, "ignore");

  test("an agent that talks on, or stays silent, has no fault", () => {
    expect(resultOf(cough, [speech(0, 5_000)])).toEqual({});
    expect(resultOf(cough, [])).toEqual({});
  });

  test("one that stops within a second has stopped falsely", () => {
    expect(resultOf(cough, [speech(0, 1_200)])).toEqual({ falseStop: true });
    expect(resultOf(cough, [speech(0, 2_100)])).toEqual({});
  });

  test("an agent that only pauses for less than 500 ms has no fault", () => {
    expect(resultOf(cough, [speech(0, 1_100), speech(1_400, 3_000)])).toEqual({});
    expect(resultOf(cough, [speech(0, 900), speech(1_200, 3_000)])).toEqual({});
    expect(resultOf(cough, [speech(0, 1_100), speech(1_650, 3_000)])).toEqual({ falseStop: true });
  });

  test("an agent that the end of the call cuts off has not stopped", () => {
    expect(resultOf(cough, [speech(0, 1_500)], 1_500)).toEqual({});
  });

  test("a response to the words before it is theirs, and not spurious", () => {
    const words = utterance(100, 700);
    expect(turnsOf([words, cough], [speech(1_300, 2_000)], 9_000)).toEqual([
      { ...words, response: 600 },
      cough,
    ]);
    expect(turnsOf([words, cough], [speech(800, 900), speech(1_600, 2_000)], 9_000)).toMatchObject([
      { response: 100 },
      { spurious: true },
    ]);
  });

  test("one that was silent and speaks within two seconds has answered a noise", () => {
    expect(resultOf(cough, [speech(1_900, 2_500)])).toEqual({ spurious: true });
    expect(resultOf(cough, [speech(3_200, 4_000)])).toEqual({});
  });
});

test("a summary has no figure that its values can't carry", () => {
  expect(summaryOf([])).toEqual({ n: 0 });
  expect(summaryOf([3, 1])).toEqual({ n: 2, min: 1, p50: 2, max: 3 });
  const values = Array.from({ length: 100 }, (_, at) => at + 1);
  expect(summaryOf(values.slice(0, 19))).not.toHaveProperty("p95");
  expect(summaryOf(values.slice(0, 20)).p95).toBeCloseTo(19.05);
  expect(summaryOf(values.slice(0, 99))).not.toHaveProperty("p99");
  expect(summaryOf(values).p99).toBeCloseTo(99.01);
});

test("overlap is the part of all speech in which both speak", () => {
  expect(overlapOf([speech(0, 1_000)], [speech(800, 1_800)])).toBeCloseTo(200 / 1_800);
  expect(overlapOf([], [])).toBe(0);
});

test("dead air is silence of both, also at the beginning and the end", () => {
  expect(deadAirOf([speech(2_500, 3_000), speech(2_800, 4_000)], 9_000)).toEqual({
    count: 2,
    longest: 5_000,
    total: 7_500,
  });
});

describe("on a line with latency, what the agent should do counts from when it can have heard the caller", () => {
  const cough = utterance(1_000, 1_150, "ignore");
  /** The faults with 300 ms each way, and up to 50 more. */
  const faultsOf = (one: Utterance, ...agent: readonly Segment[]) =>
    Object.keys(turnsOf([one], agent, 30_000, { least: 600, most: 700 })[0] ?? {}).slice(3);

  test("a cut of up to a second from then is false; one before then has nothing to do with the noise", () => {
    expect(faultsOf(cough, speech(0, 1_700))).toEqual(["falseStop"]);
    expect(faultsOf(cough, speech(0, 2_700))).toEqual(["falseStop"]);
    expect(faultsOf(cough, speech(0, 2_701))).toEqual([]);
    expect(faultsOf(cough, speech(0, 1_500))).toEqual([]);
    expect(faultsOf(cough, speech(1_200, 1_900))).toEqual(["falseStop"]);
  });

  test("speech within two seconds from then is spurious; what began before then is no answer to the noise", () => {
    expect(faultsOf(cough, speech(1_700, 9_000))).toEqual(["spurious"]);
    expect(faultsOf(cough, speech(3_850, 9_000))).toEqual(["spurious"]);
    expect(faultsOf(cough, speech(3_851, 9_000))).toEqual([]);
    expect(faultsOf(cough, speech(1_300, 9_000))).toEqual([]);
  });

  test("it talks on only where it speaks for more than a second from then", () => {
    const stopping = utterance(1_000, 2_000, "stop");
    expect(faultsOf(stopping, speech(0, 2_700))).not.toContain("talkedOn");
    expect(faultsOf(stopping, speech(0, 2_701))).toContain("talkedOn");
  });

  test("a response begins once it can have heard the caller; what began before is none, and no cut-in", () => {
    const words = utterance(1_000, 2_000);
    const turns = (...agent: readonly Segment[]) =>
      turnsOf([words], agent, 30_000, { least: 600, most: 700 });
    expect(turns(speech(1_200, 1_900), speech(2_800, 4_000))).toEqual([
      { ...words, response: 800 },
    ]);
    expect(turns(speech(1_599, 4_000))).toEqual([{ ...words, missed: true }]);
    expect(turns(speech(1_601, 4_000))).toEqual([{ ...words, response: -399, cutIn: true }]);
    const word = utterance(1_000, 1_200);
    expect(turnsOf([word], [speech(1_300, 2_000)], 9_000, { least: 600, most: 600 })).toEqual([
      { ...word, missed: true },
    ]);
  });

  test("what began after the caller's next words, and before it can have heard them, responds to the words before", () => {
    const [first, second] = [utterance(1_000, 2_000), utterance(4_000, 5_000)];
    const agent = [speech(4_500, 5_200), speech(6_500, 7_000)];
    expect(turnsOf([first, second], agent, 9_000, { least: 600, most: 600 })).toEqual([
      { ...first, response: 2_500 },
      { ...second, response: 1_500 },
    ]);
    expect(turnsOf([first, second], agent, 9_000)).toMatchObject([
      { missed: true },
      { response: -500, cutIn: true },
    ]);
  });

  test("it stops what it began to say before it can have heard the caller", () => {
    const stopping = utterance(1_000, 2_000, "stop");
    const [turn] = turnsOf([stopping], [speech(1_200, 1_900), speech(2_800, 4_000)], 9_000, {
      least: 600,
      most: 700,
    });
    expect(turn).toEqual({ ...stopping, stop: 900, response: 800 });
    expect(faultsOf(stopping, speech(1_200, 5_000))).toEqual(["stop", "talkedOn", "missed"]);
  });

  test("a response to the words before the noise is theirs, also where the agent spoke before it can have heard them", () => {
    const words = utterance(100, 700);
    const [, noise] = turnsOf([words, cough], [speech(300, 400), speech(2_000, 3_000)], 9_000, {
      least: 600,
      most: 600,
    });
    expect(noise).toEqual(cough);
  });
});
