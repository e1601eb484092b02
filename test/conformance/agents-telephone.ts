import { assert } from "chai";
import {
  type Agent,
  type AgentEvent,
  type AgentMessage,
  type AgentSocket,
  connectAgent,
  type EndReason,
  type PressedKeys,
} from "outdial/agents";
import { vonage } from "outdial/vonage";
import type { Case } from "./case.ts";
import { Socket } from "./services/socket.ts";
import { applicationId } from "./services/vonage-requests.ts";
import { until, withHeldTimers } from "./timers.ts";

const format = { encoding: "pcm", sampleRate: 8000 } as const;

/** An agent whose messages are the events themselves, on a socket of the test; it notes what it is asked for and hears. */
const noting = (mind: Socket & AgentSocket, notes: string[] = []): Agent => ({
  name: "noting",
  address: () => ({ url: "wss://agent.test/" }),
  open: () => mind,
  codec: () => ({
    formats: { input: format, output: format },
    open: () => [],
    answered: () => [],
    encode: (audio) => {
      notes.push(`heard ${audio.some(Boolean) ? "sound" : "silence"}`);
      return [];
    },
    decode: (message: AgentMessage): readonly AgentEvent[] =>
      typeof message === "string"
        ? [JSON.parse(message)]
        : [{ type: "audio", audio: message, response: "r" }],
    interrupted: () => [],
    toolResult: () => [],
    addContext: (text) => {
      notes.push(text);
      return [];
    },
  }),
});

const connected = {
  event: "websocket:connected",
  "content-type": "audio/l16;rate=8000",
  call_id: "call_1",
};
const press = (digit: string) => ({ event: "websocket:dtmf", digit, duration: 260 });
const sound = new Uint8Array(320).fill(64).buffer;

/** The time without another key after which keys are complete: no other timer has it. */
const keysTimeout = 2_345;

export const cases: readonly Case[] = [
  ...[false, true].map((keysToAgent) => ({
    name: `agents: keys come one by one until # or a pause, and reach the agent ${keysToAgent ? "if they are to" : "in no form"}`,
    run: async () => {
      await withHeldTimers(
        (delay) => delay === keysTimeout,
        async ({ fire }) => {
          const [line, mind] = [new Socket(), new Socket()];
          const pressed: PressedKeys[] = [];
          const notes: string[] = [];
          const session = connectAgent(line, noting(mind, notes), {
            service: vonage({ applicationId }),
            onKeys: (keys) => pressed.push(keys),
            keysTimeout,
            keysToAgent,
          });
          line.receive(connected);
          await until(() => mind.listeners > 0);
          mind.receive({ type: "ready" });
          for (const key of ["4", "2", "#", "7"]) line.receive(press(key));
          line.receive(sound);
          await until(() => pressed.length === 4);
          await fire(keysTimeout);
          await until(() => pressed.length === 5 && (!keysToAgent || notes.length === 3));
          assert.deepEqual(pressed, [
            { key: "4", keys: "4", done: false },
            { key: "2", keys: "42", done: false },
            { key: "#", keys: "42", done: true },
            { key: "7", keys: "7", done: false },
            { keys: "7", done: true },
          ]);
          const told = ["42", "7"].map((keys) => `The callee pressed ${keys} on the telephone.`);
          const expected = keysToAgent ? ["heard sound", ...told] : ["heard silence"];
          assert.sameMembers(notes, expected);
          session.close();
          line.emit("close", { code: 1000 });
          assert.equal(line.listeners, 0);
        },
      );
    },
  })),
  {
    name: "agents: the next one of a list takes over from one that refuses, once its socket is closed, and never twice",
    run: async () => {
      const line = new Socket();
      const minds = [new Socket(), new Socket(), new Socket()];
      const ends: EndReason[] = [];
      const errors: unknown[] = [];
      const refusal = { type: "error", code: "invalid_api_key" };
      connectAgent(
        line,
        minds.map((mind) => noting(mind)),
        {
          service: vonage({ applicationId }),
          onEnd: ({ reason }) => ends.push(reason),
          onError: (error) => errors.push(error),
        },
      );
      line.receive(connected);
      const [first, second, third] = minds;
      await until(() => first?.listeners);
      first?.receive(refusal);
      assert.lengthOf(first?.closes ?? [], 1);
      await until(() => second?.listeners);
      second?.receive({ type: "ready" });
      second?.receive(new Uint8Array(1600).fill(64).buffer);
      await until(() => line.sent.length > 0);
      second?.receive(refusal);
      await until(() => ends.length > 0);
      line.emit("close", { code: 1011 });
      assert.deepEqual([ends, third?.listeners, line.listeners], [["agent_refused"], 0, 0]);
      assert.lengthOf(errors, 2);
    },
  },
];
