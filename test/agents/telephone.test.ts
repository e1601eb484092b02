import {
  deepgram,
  greetingEnded,
  leaveVoicemail,
  openaiRealtime,
  pressKeys,
  type SessionOptions,
  type Tool,
  type Tools,
  tones,
  transferTo,
} from "outdial/agents";
import type { CalleeAct, CalleeScript } from "outdial/emulator";
import { type Dial, dial } from "outdial/flows";
import { expect, onTestFinished, test } from "vitest";
import { type Behaviour, levelOf } from "../conformance/models/model.ts";
import { level } from "../conformance/models/sound.ts";
import { voice as voiceOf } from "../conformance/models/voice.ts";
import { randomOf } from "../random.ts";
import { heardIn } from "./callee.ts";
import { callOn, type LineName, limits } from "./lines.ts";
import { protocols, unhurried } from "./protocols.ts";

const lineNames: readonly LineName[] = ["own", "twilio", "telnyx", "vonage"];
const apiKey = "sk-MARKED";

/** Agents that begin with nothing: one that speaks in its own words alone, and one that says a text word for word. */
const agents = {
  openai: (url: string, tools: Tools) => openaiRealtime({ apiKey, url, tools, greeting: false }),
  deepgram: (url: string, tools: Tools) => deepgram({ apiKey, url, tools }),
} as const;

type AgentName = keyof typeof agents;

/** A call on a line, with an agent whose server does as it is told. */
const callWith = async (
  line: LineName,
  name: AgentName,
  given: {
    readonly behaviour: Behaviour;
    readonly tools: Tools;
    readonly callee: CalleeScript;
    readonly options?: SessionOptions;
    readonly pressesByApi?: boolean;
    readonly after?: () => Dial;
  },
) => {
  const { behaviour, tools, callee, options, ...more } = given;
  const server = await protocols[name].serve({ ...unhurried, ...behaviour });
  onTestFinished(server.close);
  const agent = agents[name](server.url, tools);
  const talk = { ...limits, ...options };
  const call = await callOn(line, { agent, talk, callee: () => callee, ...more });
  await expect.poll(server.open).toBe(0);
  expect([line, call.errors]).toEqual([line, []]);
  return call;
};

const says = (ms: number): CalleeAct => ({
  type: "say",
  voice: { audio: voiceOf(ms, randomOf(ms)), sampleRate: 8_000 },
});

const [openingLevel, messageLevel] = [2_000, 3_000];
const flat = (value: number, ms: number) => ({ audio: level(value, ms, 8_000), sampleRate: 8_000 });
const opening = flat(openingLevel, 400);
/** By whose first words a callee knows that the stream is open: what is said before, nobody gets. */
const brief = flat(openingLevel, 100);
const voices = { opening: openingLevel, message: messageLevel, "answer 1": levelOf(1) };

/** Waits by the beep alone. */
const byBeep = { silence: 120_000, timeout: 120_000 };

/** Tools that leave a message of 500 ms: recorded, by the agent's voice, and by silence instead of a beep. */
const voicemails: Readonly<Record<LineName, readonly [AgentName, heard: string, Tool]>> = {
  own: ["openai", "answer 1", leaveVoicemail({ message: "Call us back.", ...byBeep })],
  twilio: ["deepgram", "answer 1", leaveVoicemail({ message: "Call us back.", ...byBeep })],
  telnyx: ["openai", "message", leaveVoicemail({ ...flat(messageLevel, 500), ...byBeep })],
  vonage: [
    "deepgram",
    "message",
    {
      description: "Waits for the end of a greeting, and leaves a message.",
      timeout: 120_000,
      run: async (_, { session }) => {
        const how = { interruptible: false };
        const end = await greetingEnded(session, { silence: 1_000, timeout: 120_000 });
        await session.play(opening.audio, { sampleRate: 8_000, ...how });
        const { audio, sampleRate } = flat(messageLevel, 500);
        const spoken = await session.play(audio, { sampleRate, ...how });
        await session.leave(end === "silence" && spoken === "played" ? "message_left" : end);
      },
    },
  ],
};

/** A voicemail that greets, waits until it is listened to, goes on, and beeps. */
const leaveOn = async (line: LineName) => {
  const [name, heard, tool] = voicemails[line];
  let isRunning = false;
  let beepEnd = 0;
  const call = await callWith(line, name, {
    behaviour: { answers: [0, 500], calls: { 0: { name: "leave", args: {} } }, turns: 1 },
    tools: {
      leave: {
        ...tool,
        run: (...given) => {
          isRunning = true;
          return tool.run(...given);
        },
      },
    },
    options: { opening },
    callee: async function* (call) {
      yield { type: "listen", ms: 400 };
      yield says(600);
      while (!isRunning) yield { type: "silence", ms: 100 };
      yield says(1_200);
      if (line !== "vonage") {
        yield { type: "silence", ms: 300 };
        yield { type: "tone", hertz: 1_000, ms: 300 };
        beepEnd = call.ms;
      }
      yield { type: "silence", ms: 600_000 };
    },
  });
  return { ...call, heard, beepEnd };
};

test("on every line a voicemail gets the opening again and the whole message, after its beep", async () => {
  for (const call of await Promise.all(lineNames.map(leaveOn))) {
    const { end, audio, heard, beepEnd, steps } = call;
    expect(end).toMatchObject({ reason: "left", outcome: "message_left" });
    expect(heardIn(audio, voices)).toEqual([
      ["opening", 800],
      [heard, 500],
    ]);
    if (beepEnd > 0) expect(heardIn(audio, voices, beepEnd)[0]).toEqual(["opening", 400]);
    expect(steps).toBe(2);
  }
});

/** The menu's levels: each is short enough to be sent at once, so that no tone is cut in two. */
const levels = ["2", "0#", "9*"];

/** A menu of three levels, whose keys a model presses: with the service's API, or as tones. */
const navigateOn = async (line: LineName, name: AgentName, by: "api" | "tones") => {
  const heard: string[] = [];
  const press = (keys: string) => ({ name: "press_keys", args: { keys } });
  const call = await callWith(line, name, {
    // What answers the result of a tool is silent.
    behaviour: { answers: [], calls: { 0: press("2"), 2: press("0#"), 4: press("9*") } },
    tools: { press_keys: pressKeys({ allow: /^[0-9*#]+$/, most: 2 }) },
    options: { opening: brief, ...(by === "tones" && { press: tones }) },
    pressesByApi: by === "api",
    callee: async function* (call) {
      yield { type: "listen", ms: 100 };
      for (const keys of levels) {
        yield says(700);
        yield { type: "until-keys", keys, timeout: 120_000 };
        heard.push(call.keys);
      }
      yield { type: "hangup" };
    },
  });
  return { ...call, line, by, heard };
};

test("on every line a menu hears the keys that a model presses: as tones, and by Vonage's and the own API", async () => {
  const calls = await Promise.all([
    navigateOn("own", "openai", "tones"),
    navigateOn("twilio", "deepgram", "tones"),
    navigateOn("telnyx", "openai", "tones"),
    navigateOn("vonage", "deepgram", "tones"),
    navigateOn("vonage", "openai", "api"),
    navigateOn("own", "deepgram", "api"),
  ]);
  for (const { line, by, heard, audio, end, history } of calls) {
    expect([line, by, heard]).toEqual([line, by, ["2", "20#", "20#9*"]]);
    expect(end.reason).toBe("hung_up");
    // After the first words each key sounds for 100 ms; but the API has none of them in the audio.
    const audible = audio.samples("application").filter((sample) => Math.abs(sample) > 100);
    const ms = (audible.length * 1_000) / audio.sample_rate - 100;
    if (by === "api") expect(ms).toBe(0);
    else expect(Math.abs(ms - 5 * 100)).toBeLessThan(50);
    const pressed = history.flatMap((entry) =>
      entry.type === "verb" && entry.verb === "dtmf" ? [entry.attributes.digits] : [],
    );
    expect(pressed).toEqual(line === "vonage" && by === "api" ? levels : []);
  }
});

test("on every line the last words before a transfer are heard, and then the named target is called", async () => {
  const transferOn = async (line: LineName) => {
    const decided: Dial[] = [];
    const name = line === "twilio" || line === "vonage" ? "openai" : "deepgram";
    const targets = { billing: { to: "+12025550101" } }; // Is busy.
    const call = await callWith(line, name, {
      behaviour: {
        answers: [500],
        calls: { 0: { name: "transfer", args: { target: "billing" } } },
      },
      tools: { transfer: transferTo(targets, { decide: (_, action) => decided.push(action) }) },
      options: { opening: brief },
      callee: function* () {
        yield { type: "listen", ms: 100 };
        yield says(400);
        yield { type: "silence", ms: 600_000 };
      },
      after: () => decided[0] ?? dial("+12025550102"),
    });
    return { ...call, decided };
  };
  for (const { end, audio, decided } of await Promise.all(lineNames.map(transferOn))) {
    expect(end).toMatchObject({ reason: "left", outcome: "transferred" });
    expect(heardIn(audio, { "answer 0": levelOf(0) })).toEqual([["answer 0", 500]]);
    expect(decided).toEqual([{ action: "dial", to: "+12025550101" }]);
  }
});
