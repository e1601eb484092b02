import { describe, expect, test, vi } from "vitest";
import { leaveVoicemail } from "../../../../src/agents/telephone/leave-voicemail.ts";
import { pressKeys, tones } from "../../../../src/agents/telephone/press-keys.ts";
import { transferTo } from "../../../../src/agents/telephone/transfer-to.ts";
import type { CalleeScript } from "../../../../src/emulator/callee-script.ts";
import { carriers } from "../../carriers/carriers.ts";
import { heardOf, talkInTime } from "../talk-in-time.ts";
import { levelOf, protocolNames } from "../timed-model.ts";
import { randomOf, voice as voiceOf } from "./greetings.ts";

const lines = [
  { line: "outdial's own interface", service: undefined },
  ...carriers.map(({ name, service }) => ({ line: name, service })),
];

const voice = (ms: number, seed = 1) => ({
  audio: voiceOf(ms, randomOf(seed)),
  sampleRate: 8_000,
});

const openingLevel = 5_000;
const opening = { audio: new Int16Array(600 * 8).fill(openingLevel), sampleRate: 8_000 };

/** All protocols on the line of outdial's own interface, and one on the others: all of them on all with `EVERY=1`. */
const onLine = (service: unknown) =>
  protocolNames.filter((name) => !service || name === "openai" || process.env.EVERY);

describe.each(lines)("on $line", ({ service }) => {
  test.each(protocolNames)(
    "%s: a voicemail gets the opening again, and the whole message",
    async (name) => {
      let beepEnd = 0;
      const talk = await talkInTime({
        name,
        service,
        tools: { leave_voicemail: leaveVoicemail({ message: "Please call us back." }) },
        answers: [0, 1_500],
        calls: { 0: { name: "leave_voicemail", args: {} } },
        options: { opening },
        caller: async function* (call) {
          yield { type: "say", voice: voice(2_400) };
          yield { type: "silence", ms: 700 };
          yield { type: "say", voice: voice(1_300) };
          yield { type: "silence", ms: 1_100 };
          yield { type: "tone", hertz: 1_000, ms: 400 };
          beepEnd = call.ms;
          yield { type: "until", ms: 20_000 };
          yield { type: "hangup" };
        },
      });
      expect(talk.errors).toEqual([]);
      expect(talk.end).toMatchObject({ reason: "left", outcome: "message_left" });
      expect(heardOf(talk, openingLevel)).toMatchObject({ ms: 1_200 });
      const again = heardOf(talk, openingLevel, beepEnd);
      expect(again.ms).toBe(600);
      expect(again.from - beepEnd).toBeLessThan(600);
      const message = heardOf(talk, levelOf(1));
      expect(message.ms).toBe(1_500);
      expect(message.from).toBeGreaterThanOrEqual(again.until);
    },
  );

  test.each(protocolNames)(
    "%s: a transfer is decided in the code, after the last words",
    async (name) => {
      const decide = vi.fn();
      const talk = await talkInTime({
        name,
        service,
        tools: {
          transfer: transferTo({ billing: { to: "+12025550123", timeout: 20 } }, { decide }),
        },
        answers: [900],
        calls: { 0: { name: "transfer", args: { target: "billing" } } },
        caller: [
          { type: "say", voice: voice(800) },
          { type: "until", ms: 9_000 },
          { type: "hangup" },
        ],
      });
      expect(talk.errors).toEqual([]);
      expect(talk.end).toMatchObject({ reason: "left", outcome: "transferred" });
      expect(heardOf(talk, levelOf(0)).ms).toBe(900);
      const action = { action: "dial", to: "+12025550123", timeout: 20 };
      expect(decide).toHaveBeenCalledExactlyOnceWith(
        expect.objectContaining({ type: "start" }),
        action,
        {},
      );
    },
  );

  test.each(onLine(service))(
    "%s: three levels of a menu hear the keys that a model presses",
    async (name) => {
      const levels: string[] = [];
      const menu: CalleeScript = async function* (call) {
        for (const keys of ["2", "10#", "9*"]) {
          yield { type: "say", voice: voice(1_600) };
          yield { type: "until-keys", keys };
          levels.push(call.keys);
        }
        yield { type: "hangup" };
      };
      const press = (keys: string) => ({ name: "press_keys", args: { keys } });
      const talk = await talkInTime({
        name,
        service,
        tools: { press_keys: pressKeys() },
        answers: [0, 0, 0, 0, 0, 0, 0],
        calls: { 0: press("2"), 2: press("10#"), 4: press("9*") },
        options: { press: tones },
        caller: menu,
      });
      expect(talk.errors).toEqual([]);
      expect(levels).toEqual(["2", "210#", "210#9*"]);
      expect(talk.end.reason).toBe("hung_up");
    },
  );
});
