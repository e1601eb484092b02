import type { CalleeScript } from "outdial/emulator";
import { expect, onTestFinished, test } from "vitest";
import { heardIn, msOf } from "../agents/callee.ts";
import { serveOpenai } from "../agents/protocols.ts";
import type { AgentServer } from "../agents/server.ts";
import { type Behaviour, levelOf } from "../conformance/models/model.ts";
import { voice } from "../conformance/models/voice.ts";
import { randomOf } from "../random.ts";
import { bridges } from "./bridges.ts";
import { environment, token } from "./environment.ts";
import { type Service, startService, until } from "./service.ts";

const headers = { authorization: `Bearer ${token}` };
const person = "+12025550101"; // Is busy.

const says = (ms: number) =>
  ({
    type: "say",
    voice: { audio: voice(ms, randomOf(ms)), sampleRate: 8_000 },
  }) as const;

/** What the agent does in each call: the first words of all of them are 300 ms. */
const behaviours = {
  voicemail: { answers: [300, 0, 700], calls: { 1: { name: "leave_voicemail", args: {} } } },
  menu: {
    answers: [300],
    calls: {
      1: { name: "press_keys", args: { keys: "2" } },
      3: { name: "press_keys", args: { keys: "7#" } },
    },
  },
  transfer: {
    answers: [300],
    calls: { 0: { name: "transfer", args: { target: "person" } } },
  },
} as const satisfies Readonly<Record<string, Behaviour>>;

type Program = keyof typeof behaviours;
const programs = Object.keys(behaviours) as readonly Program[];

/** The callee of each call, and what they note. */
const calleesOf = (notes: Record<string, unknown>) =>
  ({
    voicemail: async function* (call) {
      yield { type: "listen", ms: 300 };
      yield says(1_200);
      yield { type: "silence", ms: 1_500 };
      yield { type: "tone", hertz: 1_000, ms: 300 };
      notes.beepEnd = call.ms;
      yield { type: "silence", ms: 600_000 };
    },
    menu: async function* (call) {
      yield { type: "listen", ms: 300 };
      for (const keys of ["2", "7#"]) {
        yield says(700);
        yield { type: "until-keys", keys, timeout: 120_000 };
      }
      notes.keys = call.keys;
      yield { type: "hangup" };
    },
    transfer: () => [{ type: "silence", ms: 600_000 }],
  }) satisfies Readonly<Record<Program, CalleeScript>>;

/** Calls a number by a bridge, and returns what has become of the call. */
const placeOn = async (url: string, to_number: string, service: Service, agent: AgentServer) => {
  const body = JSON.stringify({ to_number });
  const placed = await fetch(`${url}/calls`, { method: "POST", headers, body });
  const { id, call_id } = await placed.json();
  const { history } = await service.emulator.ended(call_id);
  await until("every socket is closed", () => service.open() + agent.open() === 0);
  const shown = await (await fetch(`${url}/calls/${id}`, { headers })).json();
  const audio = service.emulator.audio(call_id);
  if (!audio) throw new Error("no audio is known of the call");
  const actions = history.flatMap((entry) => (entry.type === "action" ? [entry.action] : []));
  return { shown, audio, actions };
};

/** Three calls by a bridge on one runtime: to a voicemail, to a menu, and to somebody who is transferred. */
const callOn = async (runtime: string, start: (typeof bridges)[string]) => {
  const notes: Record<string, unknown> = {};
  const callees = calleesOf(notes);
  const agent = await serveOpenai((count) => behaviours[programs[count] ?? "menu"]);
  onTestFinished(agent.close);
  const numberOf = (program: Program) => `+1202555010${programs.indexOf(program) + 7}`;
  const service = await startService({
    speed: 1,
    callee: (call) => {
      const program = programs.find((each) => numberOf(each) === call.to_number);
      return callees[program ?? "transfer"](call);
    },
  });
  onTestFinished(service.close);
  const bridge = await start(
    environment(service, {
      AGENT_URL: agent.url,
      TRANSFER_TO: person,
      PRESS_KEYS: "true",
      VOICEMAIL_MESSAGE: "Please call us back.",
    }),
  );
  onTestFinished(bridge.close);
  const place = (program: Program) => placeOn(bridge.url, numberOf(program), service, agent);
  const voicemail = await place("voicemail");
  const menu = await place("menu");
  const transfer = await place("transfer");
  const asked = JSON.stringify(agent.peers[0]?.received);
  return { runtime, voicemail, menu, transfer, notes, asked };
};

const voices = { "first words": levelOf(0), message: levelOf(2) };

test("on every runtime a voicemail gets the message after its beep, a menu hears keys, and the last words before a transfer are heard", async () => {
  const calls = Object.entries(bridges).map(([runtime, start]) => callOn(runtime, start));
  for (const { runtime, voicemail, menu, transfer, notes, asked } of await Promise.all(calls)) {
    expect(voicemail.shown).toMatchObject({ outcome: "message_left", ended: true });
    const heard = [runtime, heardIn(voicemail.audio, voices, Number(notes.beepEnd))];
    expect(heard).toEqual([runtime, [["message", 700]]]);
    // What is recorded discloses, too.
    expect(asked).toMatch(/Leave this message now[^}]*I am a machine[^}]*Please call us back\./);

    expect([runtime, notes.keys]).toEqual([runtime, "27#"]);
    expect(menu.shown).toMatchObject({ ended: true, reason: "normal" });
    expect(menu.shown).not.toHaveProperty("problem");

    expect(transfer.actions).toMatchObject([{ action: "stream" }, { action: "dial", to: person }]);
    expect(Math.round(msOf(0, transfer.audio))).toBe(300);
    expect(transfer.shown).toMatchObject({ outcome: "transferred", ended: true });
  }
});

test("a callee who says nothing is asked twice, and then the call ends", async () => {
  const agent = await serveOpenai({ answers: [300, 400, 500, 600] });
  onTestFinished(agent.close);
  const callee = [{ type: "silence", ms: 600_000 }] as const;
  const service = await startService({ speed: 1, callee });
  onTestFinished(service.close);
  const more = { AGENT_URL: agent.url, IDLE_SECONDS: "0.3" };
  const bridge = await bridges.node?.(environment(service, more));
  if (!bridge) throw new Error("no bridge runs on Node");
  onTestFinished(bridge.close);
  const { shown, audio } = await placeOn(bridge.url, "+12025550107", service, agent);
  expect(shown).toMatchObject({ outcome: "gave_up", ended: true });
  expect([0, 1, 2, 3].map((answer) => Math.round(msOf(answer, audio)))).toEqual([
    300, 400, 500, 600,
  ]);
});
