import { describe, expect, test } from "vitest";
import type { CallRecord } from "../../src/emulator/index.ts";
import { dial, hangup } from "../../src/flows/actions.ts";
import { gather, say } from "../../src/flows/say.ts";
import { converse, key, services } from "./conversations.ts";

const media = "https://app.test/hello.wav";

/** What was played, taken, dialled and pressed in a call, in order. */
const heardIn = ({ history }: CallRecord) =>
  history.flatMap((entry): readonly unknown[] => {
    if (entry.type === "press") return [entry.digit];
    if (entry.type !== "action" && entry.type !== "verb") return [];
    const { plays = [], takes, dials } = entry;
    return [
      ...plays.map((played) => ("text" in played ? played.text : played)),
      ...(takes ? [takes] : []),
      ...(dials ? [dials] : []),
    ];
  });

describe.each(services)("$name: the history of a call", (service) => {
  test("says what was played, taken, dialled and pressed in the same words as each other's", async () => {
    const { call, onError } = await converse(
      service,
      {
        onAnswer: () =>
          gather(["Press 1.", { media_url: media }], { digits: 1, on: { 1: "connect" } }),
        steps: {
          connect: () => dial("+12025550101", { next: "after" }),
          after: () => say("Nobody is free."),
        },
      },
      key("1"),
    );
    expect(onError).not.toHaveBeenCalled();
    const heard = heardIn(call);
    // Where an input has a step of its own, it stands before its prompts, or after them.
    expect(heard.filter((one) => !Array.isArray(one))).toEqual([
      ...["Press 1.", { media_url: media }, "1", "+12025550101", "Nobody is free."],
    ]);
    expect(heard.filter(Array.isArray)).toEqual([["keys"]]);
  });

  test("says nothing more of a call that is hung up at once", async () => {
    const { call } = await converse(service, { onAnswer: () => hangup() }, []);
    expect(heardIn(call)).toEqual([]);
  });
});
