import { assert } from "chai";
import type { Service } from "outdial";
import {
  greetingEnded,
  leaveVoicemail,
  type MediaClock,
  pressKeys,
  type Tool,
  tones,
  transferTo,
} from "outdial/agents";
import { signUrl } from "outdial/callbacks";
import { redirect } from "outdial/calls";
import { createEmulator } from "outdial/emulator";
import { type Action, actionUrl, type Dial, flowHandler, hangup } from "outdial/flows";
import { telnyx } from "outdial/telnyx";
import type { CalleeAct } from "outdial/testing";
import { twilio } from "outdial/twilio";
import { vonage } from "outdial/vonage";
import { randomOf } from "../random.ts";
import { type Case, runtimes } from "./case.ts";
import { answeringFetch } from "./fixtures.ts";
import { levelOf } from "./models/model.ts";
import { type ProtocolName, protocolNames } from "./models/protocols.ts";
import { heardOf, type Talked, talkInTime } from "./models/talk-in-time.ts";
import { voice } from "./models/voice.ts";

const numbers = { from_number: "+12025550199", to_number: "+12025550100" } as const;
const [from, to] = [numbers.from_number, numbers.to_number];

/** The request for what a call does next, as a service with outdial's own interface sends it. */
const ownRequest = (call_id: string) =>
  JSON.stringify({ call_id, account_id: "acc_1", direction: "outbound", ...numbers });

/** As carriers whose applications answer XML send it. */
const form = (CallSid: string) =>
  new URLSearchParams({
    CallSid,
    AccountSid: "AC1",
    From: from,
    To: to,
    CallStatus: "in-progress",
  });

/** A line, and how its service asks for what a call does next. */
interface Line {
  readonly name: string;
  readonly service: Service | undefined;
  readonly ask: (call_id: string) => BodyInit;
  /** Why no live call can be redirected on it. */
  readonly noRedirect?: RegExp;
}

/** The lines, made when they are asked for. Keys are tones in their audio: no line has another way into its stream. */
const lines: readonly (() => Line)[] = [
  () => ({
    name: "outdial's own interface",
    service: undefined,
    ask: ownRequest,
    noRedirect: /service must be /,
  }),
  () => ({
    name: "Twilio",
    service: twilio({ accountSid: "AC0123456789abcdef0123456789abcdef" }),
    ask: form,
  }),
  () => ({
    name: "Telnyx",
    service: telnyx({
      applicationId: "1494404757140276705",
      accountSid: "f5586561-8ff0-4291-a51b-c7dfe4139ff9",
    }),
    ask: form,
  }),
  () => ({
    name: "Vonage",
    service: vonage({ applicationId: "78d335fa-323d-0114-9c3d-d6f0d48968cf" }),
    ask: (uuid) => JSON.stringify({ uuid, from: from.slice(1), to: to.slice(1) }),
  }),
];

/** A call on a line, with a model that speaks a protocol. */
type Call = (line: Line, protocol: ProtocolName) => Promise<void>;

/** Speech, of which a length is always the same. */
const speech = new Map<number, Int16Array>();
const says = (ms: number): CalleeAct => {
  const audio = speech.get(ms) ?? voice(ms, randomOf(1));
  speech.set(ms, audio);
  return { type: "say", voice: { audio, sampleRate: 8_000 } };
};

const endOf = ({ end: { reason, outcome } }: Talked) => [reason, outcome].join(" ").trim();

const openingLevel = 5_000;
const opening = { audio: new Int16Array(600 * 8).fill(openingLevel), sampleRate: 8_000 };

/** A voicemail that beeps gets the opening, which it may have recorded none of, and then the message. */
const leaveAfterBeep: Call = async ({ service }, name) => {
  let beepEnd = 0;
  const talk = await talkInTime({
    name,
    service,
    tools: { leave_voicemail: leaveVoicemail({ message: "Please call us back." }) },
    answers: [0, 1_500],
    calls: { 0: { name: "leave_voicemail", args: {} } },
    options: { opening },
    caller: async function* (call) {
      yield says(2_400);
      yield { type: "silence", ms: 700 };
      yield says(1_300);
      yield { type: "silence", ms: 1_100 };
      yield { type: "tone", hertz: 1_000, ms: 400 };
      beepEnd = call.ms;
      yield { type: "until", ms: 20_000 };
      yield { type: "hangup" };
    },
  });
  assert.deepEqual(talk.errors, []);
  assert.equal(endOf(talk), "left message_left");
  assert.equal(heardOf(talk, openingLevel).ms, 1_200);
  const again = heardOf(talk, openingLevel, beepEnd);
  assert.equal(again.ms, 600);
  assert.isBelow(again.from - beepEnd, 600);
  const message = heardOf(talk, levelOf(1));
  assert.equal(message.ms, 1_500);
  assert.isAtLeast(message.from, again.until);
};

const silence = 2_500;

/** A tool of the application's own. */
const leaveMessage: Tool = {
  description: "Call it once you hear a voicemail greeting; say nothing. Never for a person.",
  timeout: 90_000,
  run: async (_, { session }) => {
    await session.interrupt().catch(() => {}); // An agent that can't stop is not heard all the same.
    const end = await greetingEnded(session, { silence, timeout: 30_000 });
    if (end === "timeout") return session.leave("no_beep");
    const said = "Leave this message: Ann of Acme, please call back.";
    const heard = await session.reply(said, { interruptible: false });
    return session.leave(heard === "played" ? `message_left after ${end}` : "message_failed");
  },
};

/** A voicemail that doesn't beep: its pause of 1.9 s is none in which to speak. */
const leaveAfterSilence: Call = async ({ service }, name) => {
  let greetingEnd = 0;
  const talk = await talkInTime({
    name,
    service,
    tools: { leave_voicemail: leaveMessage },
    answers: [0, 1_500],
    calls: { 0: { name: "leave_voicemail", args: {} } },
    caller: async function* (call) {
      yield says(1_400);
      yield { type: "silence", ms: 1_900 };
      yield says(1_300);
      greetingEnd = call.ms;
      yield { type: "until", ms: 20_000 };
      yield { type: "hangup" };
    },
  });
  assert.deepEqual(talk.errors, []);
  assert.equal(endOf(talk), "left message_left after silence");
  const message = heardOf(talk, levelOf(1));
  assert.equal(message.ms, 1_500);
  assert.approximately(message.from - greetingEnd, silence + 250, 250);
};

const target = { to: "+12025550123", timeout: 20 } as const;
const flowUrl = "https://app.test/flow";
const [older, newer] = ["an older secret of sixteen", "a newer secret of sixteen"];

/** Somebody who asks for a person, and whom the model connects once it has said so. */
const transferOn = (
  { service }: Line,
  name: ProtocolName,
  transfer: Tool,
  onTime: (time: MediaClock) => void = () => {},
) =>
  talkInTime({
    name,
    service,
    onSession: (_, time) => onTime(time),
    tools: { transfer },
    answers: [900],
    calls: { 0: { name: "transfer", args: { target: "billing" } } },
    caller: [says(800), { type: "until", ms: 9_000 }, { type: "hangup" }],
  });

/** What a process that has both secrets answers to the service of a call. */
const answerOf = async (
  { service, ask }: Line,
  call_id: string,
  url: string,
  decide: (call_id: string) => Action = hangup,
): Promise<string> => {
  const flow = flowHandler({
    service,
    secret: [newer, older],
    onAnswer: ({ call }) => decide(call.call_id),
    onError: () => {},
  });
  const response = await flow(new Request(url, { method: "POST", body: ask(call_id) }));
  return response.text();
};

const dials = (answer: string): boolean => answer.includes(target.to.slice(1));

/** The decision is stored for the handler of the stream's `flow_url`. */
const transferByDecision: Call = async (line, name) => {
  const decided = new Map<string, Dial>();
  const transfer = transferTo(
    { billing: target },
    { decide: ({ call_id }, action) => decided.set(call_id, action) },
  );
  const talk = await transferOn(line, name, transfer);
  assert.deepEqual(talk.errors, []);
  assert.equal(endOf(talk), "left transferred");
  assert.equal(heardOf(talk, levelOf(0)).ms, 900);
  assert.deepEqual([...decided.values()], [{ action: "dial", ...target }]);
  const url = await signUrl(flowUrl, { secret: older });
  const decide = (call_id: string) => decided.get(call_id) ?? hangup();
  const [call_id = ""] = decided.keys();
  assert.isTrue(dials(await answerOf(line, call_id, url, decide)));
  assert.isFalse(dials(await answerOf(line, "another", url, decide)));
};

/** The live call is redirected to a URL that has the decision in it; where it can't be, the call goes on with the agent. */
const transferByRedirect: Call = async (line, name) => {
  const { service, noRedirect } = line;
  const { fetch, sent } = answeringFetch(() => Response.json({}));
  const { apiKey } = createEmulator({ service, fetch: () => new Response() });
  const options = {
    ...{ apiKey, fetch, service },
    baseUrl: "https://voice.test",
    dangerouslyAllowBrowser: true,
  };
  const urls = new Map<string, string>();
  let time: MediaClock | undefined;
  const redirectTo = async (call_id: string, action: Dial): Promise<void> => {
    const url = await actionUrl(flowUrl, { secret: older, call_id, action, service });
    urls.set(call_id, url);
    await redirect({ id: call_id, ...numbers }, url, options);
  };
  // Signing takes real time, in which simulated time must not pass.
  const transfer = transferTo(
    { billing: target },
    {
      redirect: ({ call_id }, action) => {
        const work = redirectTo(call_id, action);
        return time?.hold(work) ?? work;
      },
    },
  );
  const talk = await transferOn(line, name, transfer, (own) => {
    time = own;
  });
  assert.equal(heardOf(talk, levelOf(0)).ms, 900);
  const [[call_id = "", url = ""] = []] = urls;
  if (noRedirect) {
    assert.lengthOf(talk.errors, 1);
    assert.match(String(talk.errors[0]), noRedirect);
    assert.equal(endOf(talk), "hung_up");
    assert.lengthOf(sent, 0);
    return;
  }
  assert.deepEqual(talk.errors, []);
  assert.equal(endOf(talk), "left transferred");
  const bodies = await Promise.all(sent.map(({ init: { body } }) => new Response(body).text()));
  assert.lengthOf(bodies, 1);
  assert.include(decodeURIComponent(bodies.join()), url);
  assert.isTrue(dials(await answerOf(line, call_id, url)));
  assert.isFalse(dials(await answerOf(line, "another", url)));
};

/** A menu of three levels, each of which goes on when its keys were heard in the audio. */
const findWayThroughMenu: Call = async ({ service }, name) => {
  const levels: string[] = [];
  const press = (keys: string) => ({ name: "press_keys", args: { keys } });
  const talk = await talkInTime({
    name,
    service,
    tools: { press_keys: pressKeys() },
    answers: [0, 0, 0, 0, 0, 0, 0],
    calls: { 0: press("2"), 2: press("10#"), 4: press("9*") },
    options: { press: tones },
    caller: async function* (call) {
      for (const keys of ["2", "10#", "9*"]) {
        yield says(1_600);
        yield { type: "until-keys", keys };
        levels.push(call.keys);
      }
      yield { type: "hangup" };
    },
  });
  assert.deepEqual(talk.errors, []);
  assert.deepEqual(levels, ["2", "210#", "210#9*"]);
  assert.equal(endOf(talk), "hung_up");
};

const programs: readonly (readonly [rule: string, call: Call])[] = [
  ["a voicemail gets the opening again, and the whole message, after its beep", leaveAfterBeep],
  ["a voicemail without a beep gets the whole message after its silence", leaveAfterSilence],
  [
    "a transfer that the code has stored is dialled in that call, after the last words",
    transferByDecision,
  ],
  ["a transfer by redirect is dialled by another process, or refused by name", transferByRedirect],
  ["three levels of a menu hear the keys that a model presses", findWayThroughMenu],
];

/** The programs of docs/agents.md, each with each protocol: on the line that comes to it in this runtime, or on all. */
export const cases: readonly Case[] = programs.flatMap(([rule, call], row) =>
  protocolNames.map((protocol, column) => ({
    name: `programs: ${protocol}: ${rule}`,
    run: async ({ runtime, everyLine }) => {
      const turn = (row + column + runtimes.indexOf(runtime)) % lines.length;
      for (const [at, line] of lines.entries()) {
        if (!everyLine && at !== turn) continue;
        const made = line();
        await call(made, protocol).catch((error: Error) => {
          throw new Error(`on the line of ${made.name}: ${error.message}\n${error.stack}`);
        });
      }
    },
  })),
);
