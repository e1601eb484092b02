// The second part of `npm run demo:agent`: an agent that presses keys in a menu, leaves a message on a voicemail,
// transfers a call, and asks a quiet callee. Four simulated calls: their time is that of the calls, so nothing waits.
import { connectAgent, leaveVoicemail, pressKeys, tones, transferTo } from "outdial/agents";
import { scriptedAgent, simulateCall } from "outdial/testing";

/** A tone as samples of 8 kHz. */
const sound = (hertz, ms) =>
  Int16Array.from(
    { length: ms * 8 },
    (_, at) => 6000 * Math.sin((2 * Math.PI * hertz * at) / 8000),
  );

/** A voice: two tones, whose volume changes. */
const voice = (ms) => ({
  audio: sound(180, ms).map((sample, at) => (sample + sample ** 2 / 9000) * (at % 2000 < 1500)),
  sampleRate: 8000,
});

const message = sound(250, 1500);
const opening = { audio: sound(220, 800), sampleRate: 8000, text: "I am a machine." };

/** The calls: what the agent does and has, and who answers. */
const calls = {
  menu: {
    answers: [{ tool: "press_keys", args: { keys: "2#" } }],
    tools: { press_keys: pressKeys() },
    options: { press: tones },
    caller: async function* (call) {
      yield { type: "say", voice: voice(1200) };
      yield { type: "until-keys", keys: "2#" };
      note(call.ms, "menu", `hears the keys ${call.keys}`);
      yield { type: "hangup" };
    },
  },
  voicemail: {
    answers: [{ tool: "leave_voicemail", args: {} }],
    tools: { leave_voicemail: leaveVoicemail({ audio: message, sampleRate: 8000 }) },
    options: { opening },
    caller: async function* (call) {
      yield { type: "say", voice: voice(2500) };
      yield { type: "silence", ms: 700 };
      yield { type: "tone", hertz: 1000, ms: 400 };
      note(call.ms, "voicemail", "has greeted and beeped, and records");
      yield { type: "until", ms: 20_000 };
    },
  },
  transfer: {
    answers: [{ ms: 900 }, { tool: "transfer", args: { target: "billing" } }],
    tools: {
      transfer: transferTo(
        { billing: { to: "+12025550123" } },
        {
          decide: (_, { action }) =>
            note(undefined, "application", `decides: ${action} to billing`),
        },
      ),
    },
    options: {},
    caller: [
      { type: "until-quiet" },
      { type: "say", voice: voice(900) },
      { type: "until", ms: 9000 },
    ],
  },
  quiet: {
    answers: [{ ms: 900 }],
    tools: {},
    options: {
      idleTimeout: 3000,
      onIdle: async ({ count }, session) => {
        note(undefined, "application", count === 1 ? "asks a quiet callee" : "says goodbye");
        await session.play(sound(count === 1 ? 260 : 200, 700), { sampleRate: 8000 });
        if (count === 2) await session.leave("gave_up");
      },
    },
    caller: [{ type: "until", ms: 30_000 }],
  },
};

let now = () => 0;
const note = (ms, who, what) =>
  console.log(`${String(Math.round(ms ?? now())).padStart(5)} ms  ${who.padEnd(12)} ${what}`);

/** Runs the calls, and returns how their sessions ended. */
export const useTelephone = async () => {
  const ends = {};
  for (const [name, { answers, tools, options, caller }] of Object.entries(calls)) {
    console.log(`\n${name}, in the time of the call`);
    await simulateCall({
      caller,
      app: (socket, given) => {
        const from = given.simulation.now();
        now = () => given.simulation.now() - from;
        connectAgent(
          socket,
          { ...scriptedAgent(answers), tools },
          {
            ...given,
            ...options,
            onTool: ({ name: tool }) => note(undefined, "agent", `has used ${tool}`),
            onEnd: ({ reason, outcome }) => {
              ends[name] = outcome ?? reason;
              note(undefined, "application", `the session has ended: ${ends[name]}`);
            },
          },
        );
      },
    });
  }
  return ends;
};
