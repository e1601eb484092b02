// What a URL carries, and what a carrier speaks, in four scripts: carriers count bytes of URLs, not characters.
import { describe, expect, test } from "vitest";
import type { CalleeAct } from "../../src/emulator/index.ts";
import { gather, say } from "../../src/flows/say.ts";
import { follow } from "../vonage/stage.ts";
import { markupCarriers } from "./carriers.ts";
import { converse, key, type Program, services, spokenIn } from "./conversations.ts";
import { built, followDocument } from "./markup.ts";
import { startEmulator } from "./stage.ts";

/** A script: what somebody says, at length, and the variables of a contact. */
interface Script {
  readonly script: string;
  readonly said: string;
  readonly variables: Readonly<Record<string, string>>;
  /** How many characters of an answer are kept. */
  readonly kept: number;
}

const scripts: readonly Script[] = [
  {
    script: "Latin",
    said: "The visit was very good and everybody was friendly. ".repeat(3),
    variables: {
      ...{ name: "Ann Example", when: "tomorrow at nine", place: "Main Street 17" },
      ...{ doctor: "Dr. Example", language: "en-GB" },
    },
    kept: 64,
  },
  {
    script: "Cyrillic",
    said: "Визитбылоченьхорошимивсебылиприветливы".repeat(3),
    variables: {
      ...{ name: "Анна Примерова", when: "завтра в девять", place: "Главная улица, 17" },
      ...{ doctor: "доктор Примеров", language: "ru-RU" },
    },
    kept: 32,
  },
  {
    script: "Japanese",
    said: "とても良い訪問でした。皆さん親切でした。".repeat(4),
    variables: {
      ...{ name: "見本花子", when: "明日の九時", place: "中央通り十七番地" },
      ...{ doctor: "見本先生", language: "ja-JP" },
    },
    kept: 21,
  },
  {
    script: "emoji",
    said: "😀👍🎉🏥".repeat(20),
    variables: {
      ...{ name: "👩👩👩", when: "🌅🕘", place: "🏠🏠🏠🏠" },
      ...{ doctor: "🩺🩺", language: "🏳" },
    },
    kept: 16,
  },
];

const says = (text: string): readonly CalleeAct[] => [
  { type: "until-prompt" },
  { type: "say", ms: 900, text },
];

/** A survey of so many questions in a row, and what its last step got. */
const survey = (count: number, speech: boolean) => {
  const got: Record<string, string>[] = [];
  const ask = (at: number) =>
    gather(`Question ${at}?`, {
      ...(speech ? { speech: {} } : { digits: 1 }),
      ...{ as: `answer_${at}`, next: at < count ? `question_${at + 1}` : "thanks" },
    });
  const program: Program = {
    onAnswer: () => ask(1),
    steps: {
      ...Object.fromEntries(
        Array.from({ length: count }, (_, at) => [`question_${at + 1}`, () => ask(at + 1)]),
      ),
      thanks: ({ answers, variables }) => {
        got.push({ ...answers, ...variables });
        return say("Thank you.");
      },
    },
  };
  return { program, got };
};

/** The context that a list signs. */
const contextWith = (variables: Script["variables"]) => ({
  ...{ campaign: "2026-11 reminders", contact: 12_345, attempt: 2, id: "customer-12345" },
  variables,
});

/** The most characters of a URL: of Twilio by its error 21609, of Telnyx by 10003. */
const most = (name: string): number => ({ twilio: 4_000, telnyx: 2_000 })[name] ?? 2_083;

/** One character of each script, and how many of them one prompt of Twilio's has: 4,500 bytes, URL-encoded. */
const spoken: Readonly<Record<string, readonly [character: string, most: number]>> = {
  Latin: ["a", 1_500],
  Cyrillic: ["я", 750],
  Japanese: ["語", 500],
  emoji: ["😀", 375],
};

const table = services.flatMap((talking) =>
  scripts.map((row) => ({ ...row, name: talking.name, talking })),
);

describe.each(table)("$name, $script", ({ name, talking, script, said, variables, kept }) => {
  const speech = name !== "own";
  const answer = speech ? says(said) : key("4");

  test("ten answers and five variables fit", async () => {
    const { program, got } = survey(10, speech);
    const callee = Array.from({ length: 10 }, () => answer).flat();
    const context = contextWith(variables);
    const { call, urls, onError } = await converse(talking, program, callee, { context });
    expect(onError).not.toHaveBeenCalled();
    expect(spokenIn(call).at(-1)).toBe("Thank you.");
    const each = speech ? [...said.trim()].slice(0, kept).join("") : "4";
    const answers = Array.from({ length: 10 }, (_, at) => [`answer_${at + 1}`, each]);
    expect(got).toEqual([{ ...Object.fromEntries(answers), ...variables }]);
    expect(Math.max(...urls.map(({ length }) => length))).toBeLessThanOrEqual(most(name));
  });

  test("of more answers the longest are shortened: the callee never loses the call by what was said", async () => {
    const { program, got } = survey(16, speech);
    const callee = Array.from({ length: 16 }, () => answer).flat();
    const context = contextWith(variables);
    const { call, onError } = await converse(talking, program, callee, { context });
    expect(onError).not.toHaveBeenCalled();
    expect(spokenIn(call).at(-1)).toBe("Thank you.");
    for (let at = 1; at <= 16; at++) {
      const given = got[0]?.[`answer_${at}`] ?? "";
      expect(given).not.toBe("");
      expect(speech ? said : "4").toContain(given);
    }
  });

  test("a prompt is as long as the carrier speaks it, and a longer one is refused by name", async () => {
    const [character = "", ofTwilio = 0] = spoken[script] ?? [];
    const longest = name === "twilio" ? ofTwilio : Math.floor(1_500 / character.length);
    const text = character.repeat(longest);
    const { call, onError } = await converse(talking, { onAnswer: () => say(text) }, []);
    expect(onError).not.toHaveBeenCalled();
    expect([spokenIn(call), call.flow_error]).toEqual([[text], undefined]);
    const longer = await converse(talking, { onAnswer: () => say(text + character) }, []);
    expect(longer.onError.mock.calls[0]?.[0]).toMatchObject({ name: "BadParametersException" });
    expect(longer.onError.mock.calls[0]?.[0].message).toMatch(/^prompts number 1 must be/);
    expect(spokenIn(longer.call)).toEqual([]);
  });
});

describe("an emulator, as its carrier", () => {
  test("Twilio's refuses a Say of more than 4,500 characters, URL-encoded", async () => {
    const carrier = markupCarriers.find(({ name }) => name === "twilio") ?? expect.fail();
    const answer = (text: string) => built((response) => response.say(text));
    const { call } = await followDocument(carrier, answer("語".repeat(500)));
    expect(call.flow_error).toBeUndefined();
    const { call: longer } = await followDocument(carrier, answer("語".repeat(501)));
    expect(longer.flow_error).toContain("Say must be at most 4500 characters, URL-encoded");
    expect(longer.history).toContainEqual(
      expect.objectContaining({ type: "flow_error", code: 13_521 }),
    );
  });

  test("Vonage's refuses a talk of more than 1,500 characters without tags", async () => {
    const talk = (text: string) => [{ action: "talk", text: `<speak>${text}</speak>` }];
    const { call } = await follow(talk("a".repeat(1_500)));
    expect(call.flow_error).toBeUndefined();
    const { call: longer } = await follow(talk("a".repeat(1_501)));
    expect(longer.flow_error).toContain("talk.text must be at most 1500 characters, without tags");
  });

  test.each(markupCarriers)(
    "$name's refuses a URL that is longer than it takes",
    async (carrier) => {
      const longest = most(carrier.name);
      const to = (length: number) => "https://app.test/".padEnd(length, "x");
      const redirect = (length: number) => built((response) => response.redirect(to(length)));
      const { call } = await followDocument(carrier, redirect(longest + 1));
      expect(call.flow_error).toContain(`Redirect must be at most ${longest} characters long`);
      const { call: shorter } = await followDocument(carrier, redirect(longest));
      expect(shorter.flow_error).not.toContain("characters long");
      const { baseUrl } = await startEmulator(carrier.emulated);
      await expect(carrier.place(baseUrl, { Url: to(longest + 1) })).rejects.toThrow(/valid URL/i);
      await carrier.place(baseUrl, { Url: to(longest) });
    },
  );
});
