import { assert } from "chai";
import type { CallRecord, EmulatorOptions } from "outdial/emulator";
import type { Case } from "../case.ts";
import { application, states } from "./app.ts";

const { Infinity: endless, NaN: none } = globalThis;

const errors = ({ history }: CallRecord): readonly string[] =>
  history.flatMap((entry) => (entry.type === "error" ? [`${entry.source}: ${entry.message}`] : []));

const hangup = { "/flow": { action: "hangup" } };

/** What can be thrown that nobody can put in words. */
const unspeakable: readonly (() => unknown)[] = [
  () => Object.create(null),
  () => ({
    get message() {
      throw new Error("no words");
    },
  }),
  () => ({
    toString() {
      throw new Error("no words");
    },
  }),
  () => ({ message: Symbol("no words"), cause: Object.create(null) }),
  () =>
    new Proxy(
      {},
      {
        get() {
          throw new Error("no words");
        },
      },
    ),
];

const times = "must be 0 ms or more and at most 10 ** 12 ms";
const outcomes = "must be answer, busy, unreachable, reject or no_answer";

/** What `onCall` might give, and what the history has of it. */
const given: readonly (readonly [unknown, string | undefined])[] = [
  [undefined, undefined],
  [{ outcome: "no_answer", ringDuration: endless }, `ringDuration ${times}`],
  [{ outcome: "reject", ringDuration: none }, `ringDuration ${times}`],
  [{ outcome: "reject", ringDuration: -1 }, `ringDuration ${times}`],
  [{ outcome: "answer", ringDuration: "2000" }, `ringDuration ${times}`],
  [{ outcome: "answer", hangUpAfter: none }, `hangUpAfter must be "midway", or`],
  [{ outcome: "answer", ringfor: 2_000 }, "ringfor is unknown"],
  [{ outcome: "answered" }, `outcome ${outcomes}`],
  ["busy", `outcome ${outcomes}`],
  [null, `outcome ${outcomes}`],
  [unspeakable[4]?.(), "no words"],
];

export const cases: readonly Case[] = [
  {
    name: "emulator: an outcome that there isn't is in the history, and the number decides",
    run: async () => {
      for (const [outcome, message] of given) {
        const options = { onCall: () => outcome } as unknown as EmulatorOptions;
        const { call, emulator } = application(hangup, options);
        const record = await call({ to_number: "+12025550101" });
        assert.equal(states(record), "initiated failed busy");
        assert.lengthOf(errors(record), message === undefined ? 0 : 1);
        assert.include(errors(record)[0] ?? "onCall: ", `onCall: ${message ?? ""}`);
        await emulator.close();
      }
    },
  },
  {
    name: "emulator: what onCall and a script throw is in the history, whatever it is, and the call goes on",
    run: async () => {
      for (const thing of unspeakable) {
        const fail = () => {
          throw thing();
        };
        const { call } = application(
          { "/flow": { action: "dial", to: "+12025550198" } },
          { onCall: fail, callee: fail },
        );
        const record = await call();
        assert.equal(states(record), "initiated ringing answered completed normal");
        assert.deepEqual(
          errors(record).map((error) => error.split(":")[0]),
          ["onCall", "callee"],
        );
      }
    },
  },
  {
    name: "emulator: an onCall that never decides is in the history once its time is over, and the number decides",
    run: async () => {
      const never = () => new Promise<undefined>(() => {});
      const { call } = application(hangup, { onCall: never, responseTimeout: 20 });
      const record = await call({ to_number: "+12025550101" });
      assert.equal(states(record), "initiated failed busy");
      assert.deepEqual(errors(record), ["onCall: gave nothing within 20 ms"]);
    },
  },
  {
    name: "emulator: close hangs up a call that nobody has decided about, and doesn't wait for it",
    run: async () => {
      for (const clock of ["instant", "real"] as const) {
        const never = () => new Promise<undefined>(() => {});
        const { create, emulator } = application(hangup, { onCall: never, clock });
        const { id } = await create();
        const ended = emulator.ended(id);
        await emulator.close();
        assert.equal(states(await ended), "initiated failed canceled");
        assert.deepEqual(errors(await ended), []);
      }
    },
  },
  {
    name: "emulator: a receiver that throws whatever it likes gets its notification again, and ends no process",
    run: async () => {
      for (const thing of unspeakable) {
        const { call, emulator } = application({
          ...hangup,
          "/status": () => {
            throw thing();
          },
        });
        const { history } = await call({ to_number: "+12025550101" });
        const tries = history.flatMap((entry) => (entry.type === "notification" ? [entry] : []));
        assert.lengthOf(tries, 12);
        for (const { error } of tries) assert.isNotEmpty(error);
        await emulator.close();
      }
    },
  },
  {
    name: "emulator: an application that gives no Response, or one without an end, is in the history",
    run: async () => {
      const odd = (answer: unknown) => application({ "/flow": (() => answer) as () => Response });
      for (const answer of [undefined, null, "hangup", {}, { status: 200 }, unspeakable[1]?.()]) {
        const { flow_error } = await odd(answer).call();
        assert.equal(flow_error, "step 1: flow_url gave no answer: gave no Response");
      }
      const bodies = new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array()),
      });
      const { flow_error } = await odd(new Response(bodies)).call();
      assert.equal(flow_error, "step 1: flow_url answered more than 64 KiB");
    },
  },
  {
    name: "emulator: a script whose acts take no time is in the history, and blocks nothing",
    run: async () => {
      for (const ms of [0, 100, 1e-9]) {
        const { call } = application(
          { "/flow": { action: "dial", to: "+12025550198" } },
          {
            callee: function* () {
              for (;;) yield { type: ms === 100 ? "until" : "silence", ms };
            },
          },
        );
        const record = await call();
        assert.equal(states(record), "initiated ringing answered completed normal");
        assert.deepEqual(errors(record), ["callee: has 1000 acts in 20 ms"]);
      }
    },
  },
];
