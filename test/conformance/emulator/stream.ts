import { assert } from "chai";
import type { EmulatorOptions, StreamEntry } from "outdial/emulator";
import type { Case } from "../case.ts";
import { inVirtualTime } from "../timers.ts";
import { audio, ServiceSocket, said, streaming } from "./socket.ts";

const samplesIn = async (response: Response): Promise<Int16Array> =>
  new Int16Array((await response.arrayBuffer()).slice(44));

const closedEntry = (history: readonly { readonly type: string }[]): StreamEntry | undefined =>
  history.filter((entry): entry is StreamEntry => entry.type === "stream").at(-1);

export const cases: readonly Case[] = [
  {
    name: "emulator: a stream sends start, then paced frames of audio, until the application closes",
    run: async () => {
      for (const [action, sampleRate, bytes] of [
        [{}, 8_000, 6_400],
        [{ sample_rate: "16k", chunk_size: 20 }, 16_000, 640],
      ] as const) {
        const { call, sockets, emulator } = streaming(
          {
            onMessage: ({ type, message_id }, socket) => {
              if (type === "audio" && message_id === 6) socket.close(1000);
            },
          },
          action,
        );
        const record = await call();
        assert.equal(record.reason, "normal");
        const [socket, ...others] = sockets;
        assert.lengthOf(others, 0);
        assert.equal(socket?.url, "wss://app.test/media");
        const [start, ...frames] = socket?.sent ?? [];
        const { stream_id, ...head } = Object(start);
        assert.isString(stream_id);
        assert.deepEqual(head, {
          type: "start",
          account_id: emulator.accountId,
          call_id: record.id,
          message_id: 1,
          data: { encoding: "audio/l16", sample_rate: sampleRate, channels: 1 },
          messages: ["played"],
        });
        frames.forEach((frame, index) => {
          const { audio_b64 } = Object(frame.data);
          assert.deepInclude(frame, { type: "audio", stream_id, message_id: index + 2 });
          assert.lengthOf(atob(audio_b64), bytes);
        });
        // A wave of 440 Hz crosses zero 880 times a second.
        const wave = said(socket);
        let crossings = 0;
        for (let at = 1; at < wave.length; at++) {
          if ((wave[at - 1] ?? 0) < 0 !== (wave[at] ?? 0) < 0) crossings++;
        }
        assert.closeTo(crossings / (wave.length / sampleRate), 880, 15);
      }
    },
  },
  {
    name: "emulator: frames of a stream are as far apart as they are long",
    run: async () => {
      await inVirtualTime(async () => {
        const times: number[] = [];
        const { call } = streaming(
          {
            onMessage: ({ type }, socket) => {
              if (type === "audio") times.push(Date.now());
              if (times.length === 26) socket.close();
            },
          },
          { chunk_size: 40 },
          { clock: "real", ringDuration: 1 },
        );
        await call();
        const apart = times.slice(1).map((time, at) => time - Number(times[at]));
        assert.deepEqual(apart, Array(25).fill(40));
      });
    },
  },
  {
    name: "emulator: what the application says is in the recording, when and for as long as it said it",
    run: async () => {
      const { call, emulator } = streaming({
        onMessage: ({ type, message_id }, socket) => {
          if (type !== "audio") return;
          const say = (value: number, chunk_id: string) =>
            socket.say({ type: "audio", data: { audio_b64: audio(3_200, value), chunk_id } });
          if (message_id === 2) {
            say(20_000, "one");
            say(-20_000, "two");
            say(20_000, "three");
            socket.say({ type: "interrupt", chunk_id: "two" });
          }
          if (message_id === 5) {
            say(-20_000, "four");
            say(-20_000, "five");
          }
          if (message_id === 6) socket.say({ type: "clear" });
          if (message_id === 8) socket.close();
        },
      });
      const record = await call();
      const samples = await samplesIn(await emulator.fetch(record.recording_url ?? ""));
      assert.equal(samples.length, Math.round((7 * 400 * 8_000) / 1_000));
      // The tone reaches 6 000, so that a mean over a frame shows what was said alone.
      const mean = (frame: number) =>
        samples.slice(frame * 3_200, (frame + 1) * 3_200).reduce((sum, each) => sum + each, 0) /
        3_200;
      const means = Array.from({ length: 7 }, (_, frame) => Math.round(mean(frame) / 1_000));
      assert.deepEqual(means, [0, 20, 20, 0, -20, 0, 0]);
    },
  },
  {
    name: "emulator: what is said at 16k lasts as long in the recording, which is at 8k",
    run: async () => {
      const { call, emulator } = streaming(
        {
          onMessage: ({ message_id }, socket) => {
            const data = { audio_b64: audio(6_400, 20_000) };
            if (message_id === 2) socket.say({ type: "audio", data });
            if (message_id === 4) socket.close();
          },
        },
        { sample_rate: "16k" },
      );
      const record = await call();
      const samples = await samplesIn(await emulator.fetch(record.recording_url ?? ""));
      // The tone reaches 6 000: what is louder was said.
      const loud = samples.filter((each) => each > 12_000);
      assert.equal(loud.length, 3_200);
    },
  },
  {
    name: "emulator: a stream that is not to be recorded leaves silence",
    run: async () => {
      const { call, emulator } = streaming(
        {
          onMessage: ({ message_id }, socket) => {
            socket.say({ type: "audio", data: { audio_b64: audio(3_200, 9_000) } });
            if (message_id === 4) socket.close();
          },
        },
        { record: false },
      );
      const record = await call();
      const samples = await samplesIn(await emulator.fetch(record.recording_url ?? ""));
      assert.isTrue(samples.length > 0 && samples.every((each) => each === 0));
    },
  },
  {
    name: "emulator: a message of the application that makes no sense is in the history, and the stream goes on",
    run: async () => {
      const wrong = [
        "{",
        new ArrayBuffer(2),
        "[]",
        { type: 7 },
        { type: "audio", data: { audio_b64: "AAAA" } },
        { type: "audio", data: { audio_b64: "*" } },
        { type: "interrupt" },
      ];
      const { call } = streaming({
        onMessage: ({ message_id }, socket) => {
          const next = wrong[Number(message_id) - 1];
          if (next === undefined) socket.close();
          else socket.say(next);
        },
      });
      const record = await call();
      assert.equal(record.reason, "normal");
      const entry = closedEntry(record.history);
      assert.deepInclude(entry, { state: "closed", sent: 8, received: 7 });
      assert.lengthOf(entry?.malformed ?? [], 5);
      assert.equal(entry?.malformed[1], "must be text");
      assert.equal(entry?.malformed_count, 7);
      for (const reason of entry?.malformed ?? []) assert.match(reason, /must be|is missing/);
    },
  },
  {
    name: "emulator: a message of a type that it doesn't know is noted, and no error",
    run: async () => {
      const { call } = streaming({
        onMessage: ({ message_id }, socket) => {
          if (Number(message_id) > 3) socket.close();
          else socket.say({ type: message_id === 1 ? "mark" : "dtmf", digit: 1 });
        },
      });
      const entry = closedEntry((await call()).history);
      assert.deepInclude(entry, { received: 3, malformed_count: 0, ignored: ["mark", "dtmf"] });
    },
  },
  {
    name: "emulator: a stream ends with its call, and its socket is closed",
    run: async () => {
      const { call, sockets } = streaming({}, {}, { maxDuration: 2_000 });
      const record = await call();
      assert.equal(record.reason, "max_duration");
      assert.equal(record.duration, 2);
      assert.equal(sockets[0]?.closed, 1000);
      assert.equal(closedEntry(record.history)?.state, "closed");
    },
  },
  {
    name: "emulator: a socket that can't be opened, or takes nothing, ends the call with flow_error",
    run: async () => {
      const failing = (fail: (socket: ServiceSocket) => void, responseTimeout = 10_000) => {
        // biome-ignore lint/complexity/useArrowFunction: an arrow function is no constructor
        const WebSocket = function (url: string) {
          const socket = new ServiceSocket(url, {});
          fail(socket);
          return socket;
        } as unknown as NonNullable<EmulatorOptions["WebSocket"]>;
        return streaming({}, {}, { WebSocket, responseTimeout }).call();
      };
      const refused = await failing((socket) => {
        socket.readyState = 3;
      });
      assert.match(String(refused.flow_error), /^step 1: ws_url /);
      const throwing = await failing(() => {
        throw new SyntaxError("no such scheme");
      });
      assert.match(String(throwing.flow_error), /^step 1: ws_url no such scheme/);
      const stuck = await failing((socket) => {
        socket.bufferedAmount = 2 ** 21;
      }, 50);
      assert.match(String(stuck.flow_error), /^step 1: ws_url took nothing/);
    },
  },
];
