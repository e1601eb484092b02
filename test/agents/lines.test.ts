import {
  type AgentSession,
  deepgram,
  openaiRealtime,
  type PressedKeys,
  type Spoken,
} from "outdial/agents";
import type { CalleeScript } from "outdial/emulator";
import { expect, onTestFinished, test } from "vitest";
import { levelOf } from "../conformance/models/model.ts";
import { level } from "../conformance/models/sound.ts";
import { type Hearing, heardIn, msOf, type Voices } from "./callee.ts";
import { callOn, type LineName, limits } from "./lines.ts";
import { protocols, unhurried } from "./protocols.ts";

/** Levels of the application's own audio, which no answer has. */
const [openingLevel, recordingLevel] = [2_000, 3_000];
const recorded = (value: number, ms: number) => ({
  audio: level(value, ms, 8_000),
  sampleRate: 8_000,
});

const voices: Voices = {
  opening: openingLevel,
  recording: recordingLevel,
  "answer 0": levelOf(0),
  "answer 1": levelOf(1),
};

/** Asks something and presses a key while the opening is heard, and more keys once the answer was. */
const asking =
  (line: LineName) =>
  (hearing: Hearing): CalleeScript =>
    async function* (call) {
      // What is said before the stream is open, nobody gets.
      yield { type: "listen", ms: 100 };
      yield { type: "tone", hertz: 300, ms: 400 };
      if (line !== "own") {
        yield { type: "press", digits: "1" };
        while (msOf(0, hearing(call.id)) < 290) yield { type: "silence", ms: 100 };
        yield { type: "press", digits: "2#" };
      }
      yield { type: "silence", ms: 600_000 };
    };

const apiKey = "sk-MARKED";

/** Agents whose first words are the opening. */
const agents = {
  openai: (url: string) => openaiRealtime({ apiKey, url, greeting: false }),
  deepgram: (url: string) => deepgram({ apiKey, url }),
} as const;

/** A call whose opening the callee talks into; once they have pressed `#`, the agent speaks and leaves. */
const talkOn = async (line: LineName, name: keyof typeof agents) => {
  const server = await protocols[name].serve({ ...unhurried, answers: [300, 400], turns: 1 });
  onTestFinished(server.close);
  const agent = agents[name](server.url);
  const keys: PressedKeys[] = [];
  const spoken = Promise.withResolvers<readonly Spoken[]>();
  const confirm = (session: AgentSession) => {
    const words = agent.can?.say ? session.say("Confirmed.") : session.reply("Confirm it.");
    const { audio, sampleRate } = recorded(recordingLevel, 300);
    spoken.resolve(Promise.all([words, session.play(audio, { sampleRate })]));
    // The callee has decided by a key: what the agent hears of it changes nothing.
    return session.leave("confirmed", { interruptible: false });
  };
  const call = await callOn(line, {
    agent,
    callee: asking(line),
    talk: {
      ...limits,
      opening: recorded(openingLevel, 800),
      onKeys: (pressed, session) => {
        keys.push(pressed);
        if (pressed.done) confirm(session);
      },
    },
    // Its socket has no keys: the agent speaks after its answer.
    onAnswered: (session) => line === "own" && confirm(session),
  });
  return { ...call, keys, spoken: await spoken.promise, open: server.open };
};

/** Lines with a model that says a text word for word, and one that doesn't. */
const pairs: readonly (readonly [LineName, keyof typeof agents])[] = [
  ["own", "deepgram"],
  ["twilio", "openai"],
  ["telnyx", "deepgram"],
  ["vonage", "openai"],
];

test("on every line an opening is heard whole, what was asked in it is answered, and what keys ask for is said before the call is left", async () => {
  const calls = await Promise.all(pairs.map(([line, name]) => talkOn(line, name)));
  for (const [at, { end, audio, errors, steps, keys, spoken, open }] of calls.entries()) {
    const [line] = pairs[at] ?? [];
    expect([line, heardIn(audio, voices)]).toEqual([
      line,
      [
        ["opening", 800],
        ["answer 0", 300],
        ["answer 1", 400],
        ["recording", 300],
      ],
    ]);
    expect(spoken).toEqual(["played", "played"]);
    expect(keys).toEqual(
      line === "own"
        ? []
        : [
            { key: "1", keys: "1", done: false },
            { key: "2", keys: "12", done: false },
            { key: "#", keys: "12", done: true },
          ],
    );
    expect(end).toMatchObject({
      ...{ reason: "left", outcome: "confirmed" },
      opening: { played: 800, duration: 800 },
    });
    expect([steps, errors]).toEqual([2, []]); // The stream, and what follows it.
    await expect.poll(open).toBe(0);
  }
});
