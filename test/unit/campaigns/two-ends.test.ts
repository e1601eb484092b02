import { describe, expect, it } from "vitest";
import { people, stageOf } from "./stage.ts";

const resultOf = ({ campaign }: Awaited<ReturnType<typeof stageOf>>) => {
  const [result] = campaign.results();
  return [result?.disposition, result?.reason];
};

describe("a failure without a reason gives way to one with a reason", () => {
  it("that has ended its contact: the retry comes", async () => {
    const stage = await stageOf({ attempts: 2, retryDelay: 60_000 });
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed");
    expect(resultOf(stage)).toEqual(["unreachable", undefined]);
    await stage.tell(0, "call.failed", "busy");
    expect(stage.campaign.progress()).toMatchObject({ waiting: 1, unreachable: 0 });
    await stage.play(60_000);
    expect(stage.posts).toHaveLength(2);
    await stage.tell(1, "call.failed");
    await stage.tell(1, "call.failed", "no_answer");
    expect(resultOf(stage)).toEqual(["no_answer", "no_answer"]);
  });

  it("that was to be retried: not, where the reason is no reason for it", async () => {
    const retryOn = ["unreachable"] as const;
    const stage = await stageOf({ attempts: 3, retryOn, retryDelay: 60_000 });
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed");
    await stage.tell(0, "call.failed", "rejected");
    expect(resultOf(stage)).toEqual(["rejected", "rejected"]);
    await stage.play(600_000);
    expect(stage.posts).toHaveLength(1);
  });

  it("and one with a reason to nothing", async () => {
    const stage = await stageOf({ attempts: 2, retryDelay: 60_000 });
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "rejected");
    await stage.tell(0, "call.failed", "busy");
    await stage.tell(0, "call.failed");
    expect(resultOf(stage)).toEqual(["rejected", "rejected"]);
  });

  it("nobody answered, to a rejected call: a service that is asked for a call may not tell them apart", async () => {
    const stage = await stageOf({ attempts: 2, retryOn: ["no_answer"], retryDelay: 60_000 });
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "no_answer");
    expect(stage.campaign.progress()).toMatchObject({ waiting: 1 });
    await stage.tell(0, "call.failed", "rejected");
    expect(resultOf(stage)).toEqual(["rejected", "rejected"]);
    await stage.play(600_000);
    expect(stage.posts).toHaveLength(1);
    await stage.tell(0, "call.failed", "no_answer");
    expect(resultOf(stage)).toEqual(["rejected", "rejected"]);
  });

  it("but not to that of an earlier attempt", async () => {
    const stage = await stageOf({ attempts: 2, retryDelay: 60_000 });
    await stage.campaign.add(people(1));
    await stage.play();
    await stage.tell(0, "call.failed", "busy");
    await stage.play(60_000);
    await stage.tell(1, "call.failed");
    await stage.tell(0, "call.failed", "no_answer");
    expect(resultOf(stage)).toEqual(["unreachable", undefined]);
  });
});

it("the reason of a contact is none where an earlier attempt was completed after all, and the last one was busy", async () => {
  const stage = await stageOf({ attempts: 2, retryDelay: 60_000 });
  await stage.campaign.add(people(1));
  await stage.play();
  await stage.tell(0, "call.failed", "busy");
  await stage.play(60_000);
  await stage.tell(0, "call.completed", "normal");
  await stage.tell(1, "call.failed", "busy");
  expect(resultOf(stage)).toEqual(["completed", undefined]);
});

it("the reason of a contact is not that of another disposition", async () => {
  const stage = await stageOf();
  await stage.campaign.add(people(1));
  await stage.play();
  await stage.tell(0, "call.completed", "busy");
  expect(resultOf(stage)).toEqual(["completed", undefined]);
});
