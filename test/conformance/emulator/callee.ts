import { assert } from "chai";
import type { CalleeAct, CallRecord, EmulatorOptions } from "outdial/emulator";
import type { Case } from "../case.ts";
import { wav } from "./app.ts";
import { audio, said, streaming } from "./socket.ts";

/** One message of an application: 400 ms at 8 kHz. */
const message = (value: number, chunk_id: string) => ({
  type: "audio",
  audio_b64: audio(3_200, value),
  chunk_id,
});

const of = (count: number, value: number) => new Int16Array(count).fill(value);

const join = (...parts: readonly Int16Array[]): Int16Array =>
  Int16Array.from(parts.flatMap((part) => [...part]));

/** A call to a callee with a script, whose application hangs up after some messages of the service. */
const calling = async (
  callee: EmulatorOptions["callee"],
  last: number,
  action: object = { chunk_size: 20 },
) => {
  const setting = streaming(
    { onMessage: ({ message_id }, socket) => message_id === last && socket.close() },
    action,
    { callee },
  );
  const record = await setting.call();
  return { ...setting, record, heard: said(setting.sockets[0]) };
};

const errors = ({ history }: CallRecord): readonly string[] =>
  history.flatMap((entry) => (entry.type === "error" ? [`${entry.source}: ${entry.message}`] : []));

export const cases: readonly Case[] = [
  {
    name: "emulator: a callee says what the script says, when it says it, to the sample",
    run: async () => {
      const { heard, record, emulator } = await calling(
        [
          { type: "say", audio: of(3, 7) },
          { type: "silence", ms: 1 },
          { type: "say", audio: of(200, 5) },
          { type: "until", ms: 50 },
          { type: "say", audio: of(9, 4) },
        ],
        6,
      );
      const expected = join(of(3, 7), of(8, 0), of(200, 5), of(189, 0), of(9, 4), of(391, 0));
      assert.deepEqual(heard, expected);
      // The last frame is sent when its time is over; then the application goes.
      assert.deepEqual(emulator.audio(record.id)?.samples("callee").slice(0, 800), expected);
    },
  },
  {
    name: "emulator: a script may be a generator, async or not, and asks in time",
    run: async () => {
      const times: number[] = [];
      async function* script({ to_number }: { readonly to_number: string }) {
        yield { type: "silence", ms: 30 } as const;
        times.push(Date.now());
        await Promise.resolve();
        yield { type: "say", audio: of(160, Number(to_number.at(-1))) } as const;
      }
      const { heard } = await calling(script, 6);
      assert.deepEqual(heard, join(of(240, 0), of(160, 8), of(400, 0)));
      assert.lengthOf(times, 1);
      function* plain(): Iterable<CalleeAct> {
        yield { type: "say", audio: of(160, 6) };
      }
      assert.deepEqual((await calling(plain, 3)).heard, join(of(160, 6), of(160, 0)));
    },
  },
  {
    name: "emulator: a script that isn't ready is silent, and holds up nothing",
    run: async () => {
      let release = () => {};
      const { call, sockets } = streaming(
        {
          onMessage: ({ message_id }, socket) => {
            if (message_id === 4) release();
            if (message_id === 20) socket.close();
          },
        },
        { chunk_size: 20 },
        {
          callee: async function* () {
            await new Promise<void>((resolve) => {
              release = resolve;
            });
            yield { type: "say", audio: of(160, 6) };
          },
        },
      );
      await call();
      const heard = said(sockets[0]);
      assert.isAtLeast(heard.indexOf(6), 3 * 160);
      assert.equal(heard.lastIndexOf(6) - heard.indexOf(6), 159);
    },
  },
  {
    name: "emulator: a WAV is said at the stream's rate, as long as it is",
    run: async () => {
      const file = new Uint8Array(await wav(1).arrayBuffer());
      new Int16Array(file.buffer, 44).fill(1_000);
      const acts: readonly CalleeAct[] = [
        { type: "say", audio: file },
        { type: "say", audio: of(1, 7) },
      ];
      const { heard } = await calling(acts, 60, { sample_rate: "16k", chunk_size: 20 });
      // The low-pass rounds both ends.
      const inner = heard.slice(200, 15_800);
      assert.isTrue(inner.every((sample) => Math.abs(sample - 1_000) <= 2));
      assert.deepEqual(heard.slice(16_000, 16_002), join(of(1, 7), of(1, 0)));
    },
  },
  {
    name: "emulator: a callee who listens barges in at the very sample, and what was heard ends there",
    run: async () => {
      const { call, sockets, emulator } = streaming(
        {
          onMessage: ({ type, message_id, data }, socket) => {
            if (type === "start") {
              for (const name of ["one", "two", "three"]) socket.say(message(9, name));
            }
            // The application hears the callee at the end of the frame, and stops.
            const frame = new Uint8Array(
              Array.from(atob(Object(data).audio_b64 ?? ""), (each) => each.charCodeAt(0)),
            );
            if (frame.some((byte) => byte !== 0)) socket.say({ type: "clear" });
            if (message_id === 60) socket.close();
          },
        },
        { chunk_size: 20 },
        {
          callee: [
            { type: "listen", ms: 507 },
            { type: "say", audio: of(40, 5) },
          ],
        },
      );
      const { id, history } = await call();
      const heard = said(sockets[0]);
      assert.equal(heard.indexOf(5), 507 * 8);
      const truth = emulator.audio(id);
      assert.deepEqual(
        truth?.played.map(({ chunk_id, from_ms, to_ms, samples, total, end }) => [
          chunk_id,
          [from_ms, to_ms],
          [samples, total],
          end,
        ]),
        [
          ["one", [0, 400], [3_200, 3_200], "played"],
          ["two", [400, 520], [960, 3_200], "cut"],
        ],
      );
      assert.deepEqual(truth?.cuts, [{ type: "clear", at_ms: 520, samples: 5_440 }]);
      const entry = history.find(({ type }) => type === "cut");
      assert.deepInclude(entry, { by: "clear", at_ms: 520, samples: 5_440 });
      const application = truth?.samples("application") ?? new Int16Array();
      assert.equal(application.lastIndexOf(9), 520 * 8 - 1);
    },
  },
  {
    name: "emulator: a callee hangs up when the script says so, in the middle of media too",
    run: async () => {
      const acts: readonly CalleeAct[] = [{ type: "until", ms: 1_250 }, { type: "hangup" }];
      const { record } = await calling(acts, 10_000, { chunk_size: 400 });
      assert.equal(Number(record.ended_at) - Number(record.answered_at), 1_250);
      const playing = streaming(
        {},
        {},
        {
          callee: acts,
          fetch: ({ url }) =>
            url.endsWith("/flow")
              ? Response.json({ action: "play", media_url: "https://app.test/hello.wav" })
              : url.endsWith(".wav")
                ? wav(9)
                : new Response(),
        },
      );
      const played = await playing.call();
      assert.equal(Number(played.ended_at) - Number(played.answered_at), 1_250);
      assert.equal(played.reason, "normal");
    },
  },
  {
    name: "emulator: a script that fails is in the history, and the call goes on in silence",
    run: async () => {
      const wrong: readonly (readonly [EmulatorOptions["callee"], RegExp])[] = [
        [
          () => {
            throw new Error("undecided");
          },
          /^callee: undecided$/,
        ],
        [[Object({ type: "sing" })], /^callee: type must be say, tone/],
        [[{ type: "silence", ms: -1 }], /^callee: ms must be 0 or more$/],
        [[{ type: "say", audio: new Uint8Array(50) }], /^callee: must be a WAV/],
        [[Object({ type: "say", audio: "hello" })], /^callee: audio must be/],
      ];
      for (const [callee, words] of wrong) {
        const { record, heard } = await calling(callee, 3);
        assert.equal(record.reason, "normal");
        assert.lengthOf(errors(record), 1);
        assert.match(String(errors(record)[0]), words);
        assert.deepEqual(heard, of(320, 0));
      }
    },
  },
  {
    name: "emulator: a script ends with its call",
    run: async () => {
      let ended = false;
      await calling(async function* () {
        try {
          for (;;) yield { type: "tone", hertz: 300, ms: 100 };
        } finally {
          ended = true;
        }
      }, 20);
      await new Promise((resolve) => setTimeout(resolve, 5));
      assert.isTrue(ended);
    },
  },
];
