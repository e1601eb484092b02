import type { CalleeAct, EmulatorOptions } from "../../../src/emulator/index.ts";
import { pause } from "../stage.ts";
import { isAudible, voice } from "../telephone/ear.ts";
import type { TelephoneCall } from "../telephone/telephone.ts";
import { type Act, type Case, seconds, type Unanswered } from "./cases.ts";

/** How long it rings, and how long it may ring, in milliseconds. */
const ringDuration = 300;
export const answerTimeout = 5_000;

/** How long a second telephone talks until it hangs up, in milliseconds, as in the emulator. */
const conversation = 5_000;

const outcomes = {
  busy: { outcome: "busy" },
  reject: { outcome: "reject" },
  "no answer": { outcome: "no_answer" },
  unreachable: { outcome: "unreachable" },
} as const;

const emulatedAct = (act: Act): CalleeAct => {
  switch (act.type) {
    case "hear":
      return { type: "until-speech", ms: 40, timeout: 60_000 };
    case "wait":
      return { type: "silence", ms: act.ms };
    case "press":
      return { type: "press", digits: act.keys };
    case "speak":
      return { type: "tone", hertz: 300, ms: act.ms };
    case "hang up":
      return { type: "hangup" };
  }
};

/** The callees of the emulator. */
export const emulatedCallees = (cases: readonly Case[]): EmulatorOptions => {
  const byNumber = new Map(cases.map(({ to_number, callee }) => [to_number, callee]));
  return {
    ringDuration,
    answerTimeout,
    onCall: ({ to_number }) => {
      const callee = byNumber.get(to_number);
      return callee?.answers === false ? outcomes[callee.by] : undefined;
    },
    callee: ({ to_number }) => {
      const callee = byNumber.get(to_number);
      return callee?.answers ? callee.acts.map(emulatedAct) : [];
    },
  };
};

const statuses: Readonly<Record<Exclude<Unanswered, "no answer">, number>> = {
  busy: 486,
  reject: 603,
  unreachable: 404,
};

const stayUnanswered = async (call: TelephoneCall, by: Unanswered): Promise<void> => {
  if (by === "busy" || by === "unreachable") return call.refuse(statuses[by]);
  call.ring();
  if (by === "no answer") return;
  await pause(ringDuration);
  call.refuse(statuses[by]);
};

const answer = async (call: TelephoneCall): Promise<void> => {
  call.ring();
  await pause(ringDuration);
  if (!call.isOver) await call.answer();
};

/** Waits until something is heard from now on, or the call is over. */
const hearAnything = async (call: TelephoneCall): Promise<void> => {
  for (let next = call.packets.length; !call.isOver; await pause(20)) {
    for (; next < call.packets.length; next++) {
      if (isAudible(call.packets[next]?.samples ?? new Int16Array())) return;
    }
  }
};

const performAct = async (call: TelephoneCall, act: Act): Promise<void> => {
  switch (act.type) {
    case "hear":
      return hearAnything(call);
    case "wait":
      return pause(act.ms);
    case "press":
      call.press(act.keys);
      return;
    case "speak":
      call.speak(voice(1, act.ms));
      return pause(act.ms);
    case "hang up":
      return call.hangUp();
  }
};

const secondCallees = new Map<string, keyof typeof seconds>(
  Object.entries(seconds).map(([who, number]) => [number, who as keyof typeof seconds]),
);

/** Does on a telephone what the callee of a case, or of a second telephone, does. */
export const behaveAs =
  (cases: readonly Case[]) =>
  async (call: TelephoneCall): Promise<void> => {
    const second = secondCallees.get(call.to);
    if (second !== undefined) {
      if (second !== "talks") return stayUnanswered(call, second);
      await answer(call);
      if (call.isOver) return;
      call.speak(voice(2, conversation));
      await pause(conversation);
      return call.hangUp();
    }
    const callee = cases.find(({ to_number }) => to_number === call.to)?.callee;
    if (!callee) throw new Error("nobody has this number");
    if (!callee.answers) return stayUnanswered(call, callee.by);
    await answer(call);
    for (const act of callee.acts) {
      if (call.isOver) return;
      await performAct(call, act);
    }
  };
