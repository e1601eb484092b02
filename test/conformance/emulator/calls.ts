import { assert } from "chai";
import {
  type CallRecord,
  createEmulator,
  type EmulatorEvent,
  type EmulatorOptions,
} from "outdial/emulator";
import type { Case } from "../case.ts";
import { exceptionOf, from_number, params, to_number } from "../fixtures.ts";
import { inVirtualTime } from "../timers.ts";
import { application, states, wav } from "./app.ts";

const hangup = { action: "hangup" };

const play = (more: object = {}) => ({
  action: "play",
  media_url: "https://app.test/hello.wav",
  ...more,
});

/** The entries of one type. */
const entries = <T extends EmulatorEvent["type"]>({ history }: CallRecord, type: T) =>
  history.filter((entry): entry is Extract<typeof entry, { type: T }> => entry.type === type);

/** Milliseconds from one state to another, by the call's clock. */
const between = (record: CallRecord, one: string, other: string): number => {
  const at = (state: string) =>
    Date.parse(entries(record, "state").find((entry) => entry.state === state)?.at ?? "");
  return at(other) - at(one);
};

export const cases: readonly Case[] = [
  {
    name: "emulator: a call is initiated, rings, is answered, follows its flow and completes",
    run: async () => {
      const { call } = application({ "/flow": play(), "/hello.wav": () => wav(3) });
      const record = await call();
      assert.equal(states(record), "initiated ringing answered completed normal");
      assert.equal(between(record, "ringing", "answered"), 2_000);
      assert.equal(between(record, "answered", "completed"), 3_000);
      assert.deepInclude(record, { ...params, record: true, duration: 3, state: "completed" });
      const times = record.history.map(({ at }) => at);
      assert.deepEqual(times, [...times].sort());
      for (const entry of record.history) assert.equal(entry.call_id, record.id);
    },
  },
  {
    name: "emulator: the number that is called decides the outcome",
    run: async () => {
      const { call } = application({ "/flow": play(), "/hello.wav": () => wav(4) });
      const outcomes = {
        "+12025550100": "initiated ringing answered completed normal",
        "+12025550101": "initiated failed busy",
        "+12025550102": "initiated ringing failed no_answer",
        "+12025550103": "initiated ringing failed rejected",
        "+12025550104": "initiated failed unreachable",
        "+12025550105": "initiated ringing answered completed normal",
        [to_number]: "initiated ringing answered completed normal",
      };
      for (const [number, expected] of Object.entries(outcomes)) {
        const record = await call({ to_number: number });
        assert.equal(states(record), expected, number);
        if (number === "+12025550102") assert.equal(between(record, "ringing", "failed"), 30_000);
        // The callee of 105 hangs up in the middle of the four seconds.
        if (number === "+12025550105")
          assert.equal(between(record, "answered", "completed"), 2_000);
        assert.equal(record.recording_url !== undefined, record.state === "completed", number);
      }
    },
  },
  {
    name: "emulator: onCall decides in place of the number, and its failure is in the history",
    run: async () => {
      const { call } = application(
        { "/flow": play(), "/hello.wav": () => wav(9) },
        {
          onCall: async ({ to_number: number, state }) => {
            assert.equal(state, "initiated");
            if (number === "+12025550101") return { outcome: "answer", hangUpAfter: 1_500 };
            if (number === "+12025550102") return { outcome: "reject", ringDuration: 700 };
            if (number === "+12025550103") throw new Error("undecided");
            return;
          },
        },
      );
      const answered = await call({ to_number: "+12025550101" });
      assert.equal(states(answered), "initiated ringing answered completed normal");
      assert.equal(between(answered, "answered", "completed"), 1_500);
      const rejected = await call({ to_number: "+12025550102" });
      assert.equal(states(rejected), "initiated ringing failed rejected");
      assert.equal(between(rejected, "ringing", "failed"), 700);
      const left = await call({ to_number: "+12025550103" });
      assert.equal(states(left), "initiated ringing failed rejected");
      assert.deepInclude(entries(left, "error")[0], { source: "onCall", message: "undecided" });
    },
  },
  {
    name: "emulator: ringDuration, answerTimeout and maxDuration are kept by the call's clock",
    run: async () => {
      const { call } = application(
        { "/flow": play(), "/hello.wav": () => wav(60) },
        { ringDuration: 5_000, answerTimeout: 6_000, maxDuration: 7_000 },
      );
      const record = await call();
      assert.equal(states(record), "initiated ringing answered completed max_duration");
      assert.equal(between(record, "ringing", "answered"), 5_000);
      assert.equal(between(record, "answered", "completed"), 7_000);
      const silent = await call({ to_number: "+12025550102" });
      assert.equal(between(silent, "ringing", "failed"), 6_000);
      const late = await application({}, { ringDuration: 5_000, answerTimeout: 4_000 }).call();
      assert.equal(states(late), "initiated ringing failed no_answer");
      assert.equal(between(late, "ringing", "failed"), 4_000);
    },
  },
  {
    name: "emulator: on the real clock a call takes its time, as fast as speed says",
    run: async () => {
      await inVirtualTime(async () => {
        const { call } = application(
          { "/flow": play(), "/hello.wav": () => wav(1) },
          { clock: "real", speed: 20, ringDuration: 1_000 },
        );
        const start = Date.now();
        const record = await call();
        assert.equal(Date.now() - start, 100);
        assert.equal(states(record), "initiated ringing answered completed normal");
        assert.equal(between(record, "ringing", "completed"), 2_000);
      });
    },
  },
  {
    name: "emulator: a ringing call is answered, rejected or canceled from outside, and obeys",
    run: async () => {
      const { emulator, create } = application(
        { "/flow": play(), "/hello.wav": () => wav(60) },
        { clock: "real", onCall: () => ({ outcome: "no_answer" }) },
      );
      const ringing = async () => {
        const events = emulator[Symbol.asyncIterator]();
        const { id } = await create();
        for (;;) {
          const { value } = await events.next();
          if (value?.type === "state" && value.state === "ringing") return id;
        }
      };
      const rejected = await ringing();
      assert.isTrue(emulator.reject(rejected));
      assert.equal(states(await emulator.ended(rejected)), "initiated ringing failed rejected");
      const canceled = await ringing();
      assert.isTrue(emulator.hangup(canceled));
      assert.equal(states(await emulator.ended(canceled)), "initiated ringing failed canceled");
      const answered = await ringing();
      assert.isTrue(emulator.answer(answered));
      assert.isFalse(emulator.answer(answered));
      assert.isFalse(emulator.reject(answered));
      assert.equal(emulator.call(answered)?.state, "answered");
      assert.isTrue(emulator.hangup(answered));
      assert.isFalse(emulator.hangup(answered));
      const record = await emulator.ended(answered);
      assert.equal(states(record), "initiated ringing answered completed normal");
    },
  },
  {
    name: "emulator: the flow is asked by POST with who calls whom, once for each step",
    run: async () => {
      const { got, call, emulator } = application({
        "/flow": play({ flow_url: "https://app.test/second" }),
        "/second": { action: "hangup" },
        "/hello.wav": () => wav(1),
      });
      const record = await call();
      const asked = got.filter(({ path }) => path === "/flow" || path === "/second");
      assert.deepEqual(
        asked.map(({ method, path }) => `${method} ${path}`),
        ["POST /flow", "POST /second"],
      );
      for (const { headers, body } of asked) {
        assert.match(String(headers.get("content-type")), /^application\/json/);
        assert.deepEqual(JSON.parse(body), {
          call_id: record.id,
          account_id: emulator.accountId,
          from_number,
          to_number,
          direction: "outbound",
          actions: ["play", "stream", "dial", "hangup", "say", "gather"],
        });
      }
      assert.deepEqual(
        entries(record, "action").map(({ step, action }) => `${step} ${action.action}`),
        ["1 play", "2 hangup"],
      );
    },
  },
  {
    name: "emulator: a flow that can't be followed ends the call with flow_error, and says why",
    run: async () => {
      const wrong: Readonly<Record<string, readonly [object | (() => Response), RegExp]>> = {
        "HTTP 500": [() => new Response("", { status: 500 }), /^step 1: flow_url .*HTTP 500/],
        "HTTP 404": [() => new Response("", { status: 404 }), /^step 1: flow_url .*HTTP 404/],
        "no JSON": [() => new Response("<html>"), /^step 1: flow_url .*JSON/],
        "no UTF-8": [
          () => new Response(new Uint8Array([0x22, 0xff, 0x22])),
          /^step 1: flow_url .*JSON/,
        ],
        nothing: [() => new Response(null), /^step 1: flow_url .*JSON/],
        "5 MiB": [() => new Response(" ".repeat(5 * 2 ** 20)), /^step 1: flow_url .*64 KiB/],
        "a dropped line": [
          () => {
            throw new TypeError("it was reset");
          },
          /^step 1: flow_url .*it was reset/,
        ],
        "no action": [
          { action: "sing" },
          /^step 1: the action must be play, stream, dial, hangup, say, gather or record/,
        ],
        "a list": [[], /^step 1: /],
        "a missing field": [{ action: "play" }, /^step 1: media_url is missing/],
        "plain http": [play({ media_url: "http://app.test/" }), /^step 1: media_url must be/],
        loopback: [play({ media_url: "http://127.0.0.1/" }), /^step 1: media_url must be/],
        "a plain socket": [
          { action: "stream", ws_url: "ws://localhost/" },
          /^step 1: ws_url must be/,
        ],
        "a nested field": [
          { action: "dial", to: "+12025550101", on_busy: { action: "play" } },
          /^step 1: on_busy\.media_url is missing/,
        ],
        "nested junk": [
          () =>
            new Response(`{"action":"play","media_url":${"[".repeat(5_000)}${"]".repeat(5_000)}}`),
          /^step 1: media_url must be/,
        ],
        "media that are gone": [
          play({ media_url: "https://app.test/gone.wav" }),
          /^step 1: media_url .*HTTP 404/,
        ],
        "media gone, in a branch": [
          {
            action: "dial",
            to: "+12025550101",
            on_busy: play({ media_url: "https://app.test/x" }),
          },
          /^step 1: on_busy\.media_url .*HTTP 404/,
        ],
        "another origin": [
          () => new Response(null, { status: 307, headers: { location: "https://other.test/" } }),
          /^step 1: flow_url .*redirects/,
        ],
        "a broken second step": [
          play({ flow_url: "https://app.test/nowhere" }),
          /^step 2: flow_url .*HTTP 404/,
        ],
      };
      for (const [name, [answer, message]] of Object.entries(wrong)) {
        const { call, notifications } = application({
          "/flow": answer,
          "/hello.wav": () => wav(1),
        });
        const record = await call();
        assert.equal(states(record), "initiated ringing answered completed flow_error", name);
        const [error] = entries(record, "flow_error");
        assert.match(String(error?.message), message, name);
        assert.equal(record.flow_error, error?.message, name);
        assert.equal(notifications().at(-1)?.data.flow_error, error?.message, name);
      }
    },
  },
  {
    name: "emulator: a flow server that stalls in its head or its body is given up in time",
    run: async () => {
      const stalls: readonly (() => Response | Promise<Response>)[] = [
        () => new Promise(() => {}),
        () =>
          new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(1)) })),
      ];
      for (const stall of stalls) {
        const { call } = application({ "/flow": stall }, { responseTimeout: 50 });
        const record = await call();
        assert.match(String(record.flow_error), /step 1: flow_url .* within 50 ms/);
      }
    },
  },
  {
    name: "emulator: a redirect of the flow to its own origin is followed",
    run: async () => {
      const to = (status: number) => () =>
        new Response(null, { status, headers: { location: "/moved" } });
      for (const [status, method] of [
        [307, "POST"],
        [308, "POST"],
        [303, "GET"],
      ] as const) {
        const { call, got } = application({ "/flow": to(status), "/moved": hangup });
        assert.equal((await call()).reason, "normal");
        assert.equal(got.find(({ path }) => path === "/moved")?.method, method);
      }
      const { call } = application({
        "/flow": () => new Response(null, { status: 307, headers: { location: "/flow" } }),
      });
      assert.match(String((await call()).flow_error), /redirects more than 5 times/);
    },
  },
  {
    name: "emulator: a chain of flows stops at 50 steps",
    run: async () => {
      const { call, got } = application({
        "/flow": play({ flow_url: params.flow_url }),
        "/hello.wav": () => wav(1),
      });
      const record = await call();
      assert.equal(record.reason, "flow_error");
      assert.lengthOf(
        got.filter(({ path }) => path === "/flow"),
        50,
      );
      assert.equal(record.duration, 50);
    },
  },
  {
    name: "emulator: play lasts as long as a WAV says, and five seconds when nothing says it",
    run: async () => {
      for (const [media, duration] of [
        [wav(2), 2],
        [wav(0.5), 0.5],
        [new Response("not a WAV"), 5],
        [new Response(null), 5],
      ] as const) {
        const { call } = application({ "/flow": play(), "/hello.wav": () => media });
        const record = await call();
        assert.equal(between(record, "answered", "completed"), duration * 1_000);
        assert.equal(entries(record, "action")[0]?.duration, duration * 1_000);
      }
    },
  },
  {
    name: "emulator: dial calls a second leg by the same rules, and branches on how it fails",
    run: async () => {
      const branch = (path: string) => play({ media_url: `https://app.test/${path}.wav` });
      const dial = (to: string, more: object = {}) => ({
        action: "dial",
        to,
        on_busy: branch("busy"),
        on_no_answer: branch("no_answer"),
        on_failure: branch("failure"),
        ...more,
      });
      const outcomes: Readonly<Record<string, readonly [string, string | undefined]>> = {
        "+12025550101": ["initiated failed busy", "/busy.wav"],
        "+12025550102": ["initiated ringing failed no_answer", "/no_answer.wav"],
        "+12025550103": ["initiated ringing failed rejected", "/failure.wav"],
        "+12025550104": ["initiated failed unreachable", "/failure.wav"],
        "+12025550100": ["initiated ringing answered completed normal", undefined],
        "sip:agent@app.test": ["initiated ringing answered completed normal", undefined],
      };
      for (const [to, [expected, media]] of Object.entries(outcomes)) {
        const { call, got } = application({
          "/flow": dial(to),
          "/busy.wav": () => wav(1),
          "/no_answer.wav": () => wav(1),
          "/failure.wav": () => wav(1),
        });
        const record = await call();
        const legs = entries(record, "leg");
        assert.equal([...legs.map(({ state }) => state), legs.at(-1)?.reason].join(" "), expected);
        assert.equal(got.find(({ path }) => path.endsWith(".wav"))?.path, media, to);
        assert.equal(record.reason, "normal");
      }
      const patient = application({ "/flow": { action: "dial", to: "+12025550102", timeout: 7 } });
      assert.equal(between(await patient.call(), "answered", "completed"), 7_000);
      const next = application({
        "/flow": { action: "dial", to: to_number, flow_url: "https://app.test/next" },
        "/next": hangup,
      });
      assert.lengthOf(entries(await next.call(), "flow"), 2);
    },
  },
  {
    name: "emulator: a second leg ends with its call",
    run: async () => {
      const { call } = application(
        { "/flow": { action: "dial", to: "+12025550102" } },
        {
          maxDuration: 3_000,
        },
      );
      const record = await call();
      assert.equal(record.reason, "max_duration");
      assert.deepInclude(entries(record, "leg").at(-1), { state: "failed", reason: "canceled" });
    },
  },
  {
    name: "emulator: every state is sent in order, each with its data",
    run: async () => {
      const { call, notifications, emulator } = application({
        "/flow": play(),
        "/hello.wav": () => wav(3),
      });
      const record = await call();
      const events = notifications();
      assert.deepEqual(
        events.map(({ type }) => type),
        ["call.initiated", "call.ringing", "call.answered", "call.completed"],
      );
      for (const event of events) {
        assert.match(event.id, /^evt_/);
        assert.match(event.occurred_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
        assert.deepInclude(event, {
          api_version: "2026-06-01",
          account_id: emulator.accountId,
          call_id: record.id,
        });
        assert.deepInclude(event.data, { call_id: record.id, from: from_number, to: to_number });
      }
      const [initiated, , answered, completed] = events;
      assert.equal(initiated.data.start_time, initiated.occurred_at);
      assert.equal(answered.data.answer_time, answered.occurred_at);
      assert.deepInclude(completed.data, {
        duration: 3,
        hangup_time: completed.occurred_at,
        reason: "normal",
        recording_url: record.recording_url,
      });
      const failed = application({});
      await failed.call({ to_number: "+12025550101" });
      assert.deepInclude(failed.notifications().at(-1)?.data, { reason: "busy" });
      assert.isString(failed.notifications().at(-1)?.data.hangup_time);
    },
  },
  {
    name: "emulator: notifications are signed by the Standard Webhooks scheme",
    run: async () => {
      const secret = `whsec_${btoa("0123456789abcdefghijklmnopqrstuv")}`;
      const { call, got } = application({ "/flow": hangup }, { webhookSecret: secret });
      await call();
      const bytes = new TextEncoder().encode(atob(secret.slice(6)));
      const algorithm = { name: "HMAC", hash: "SHA-256" };
      const key = await crypto.subtle.importKey("raw", bytes, algorithm, false, ["verify"]);
      const tries = got.filter(({ path }) => path === "/status");
      assert.lengthOf(tries, 4);
      for (const { headers, body } of tries) {
        const [id, timestamp] = [headers.get("webhook-id"), headers.get("webhook-timestamp")];
        assert.equal(id, Object(JSON.parse(body)).id);
        assert.closeTo(Number(timestamp), Date.now() / 1000, 60);
        const [version, base64 = ""] = String(headers.get("webhook-signature")).split(",");
        assert.equal(version, "v1");
        const signature = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
        const signed = new TextEncoder().encode(`${id}.${timestamp}.${body}`);
        assert.isTrue(await crypto.subtle.verify("HMAC", key, signature, signed));
      }
    },
  },
  {
    name: "emulator: a notification that fails is tried six times with the same id, then given up",
    run: async () => {
      const { call, got } = application({
        "/flow": hangup,
        "/status": ({ body }) =>
          new Response("no", { status: body.includes("call.ringing") ? 503 : 200 }),
      });
      const record = await call();
      const ringing = entries(record, "notification").filter(
        ({ event }) => event === "call.ringing",
      );
      assert.deepEqual(
        ringing.map((entry) => `${entry.try} ${entry.outcome} ${entry.status}`),
        [1, 2, 3, 4, 5].map((count) => `${count} retrying 503`).concat("6 given_up 503"),
      );
      assert.lengthOf([...new Set(ringing.map(({ id }) => id))], 1);
      assert.deepInclude(ringing[0], { error: "HTTP 503", response: { body: "no" } });
      const waits = ringing
        .slice(1)
        .map(({ at }, index) => Date.parse(at) - Date.parse(ringing[index]?.at ?? ""));
      waits.forEach((wait, index) => {
        assert.isAtLeast(wait, 499 * 2 ** index);
        assert.isAtMost(wait, 1_501 * 2 ** index);
      });
      // In order: what came after waits until it is given up.
      const order = got
        .filter(({ path }) => path === "/status")
        .map(({ body }) => Object(JSON.parse(body)).type);
      assert.deepEqual(order, [
        "call.initiated",
        ...Array.from({ length: 6 }, () => "call.ringing"),
        "call.answered",
        "call.completed",
      ]);
    },
  },
  {
    name: "emulator: 400, 401, 403, 404 and 410 are final, and all else is tried again",
    run: async () => {
      for (const status of [400, 401, 403, 404, 410]) {
        const { call } = application({
          "/flow": hangup,
          "/status": () => new Response(null, { status }),
        });
        const tries = entries(await call(), "notification");
        assert.deepEqual(
          tries.map(({ outcome }) => outcome),
          Array(4).fill("given_up"),
        );
      }
      let count = 0;
      const failures: readonly (() => Response | Promise<Response>)[] = [
        () => new Response(null, { status: 302, headers: { location: "https://app.test/status" } }),
        () => new Response(null, { status: 409 }),
        () => new Promise(() => {}),
        () => {
          throw new TypeError("reset");
        },
      ];
      const { call } = application(
        {
          "/flow": hangup,
          "/status": () => failures[count++]?.() ?? new Response(null, { status: 204 }),
        },
        { responseTimeout: 50 },
      );
      const [first, second, third, fourth, fifth] = entries(await call(), "notification");
      assert.deepInclude(first, { status: 302, outcome: "retrying" });
      assert.match(String(first?.error), /redirect/);
      assert.deepInclude(second, { status: 409, outcome: "retrying" });
      assert.match(String(third?.error), /within 50 ms/);
      assert.deepInclude(fourth, { error: "reset", outcome: "retrying" });
      assert.deepInclude(fifth, { status: 204, outcome: "delivered", try: 5 });
    },
  },
  {
    name: "emulator: notifications are lost, doubled, late and out of order where the options say so",
    run: async () => {
      const calls = 40;
      const of = async (faults: EmulatorOptions["notifications"]) => {
        const { call, notifications, emulator } = application(
          { "/flow": hangup },
          { notifications: faults, seed: 7 },
        );
        const records: CallRecord[] = [];
        while (records.length < calls) records.push(await call());
        const types = records.map(({ id }) =>
          notifications().flatMap(({ call_id, type }) => (call_id === id ? [type.slice(5)] : [])),
        );
        const entry = entries(await emulator.ended(records[0]?.id ?? ""), "notification")[0];
        return { types, ids: notifications().map(({ id }) => id), entry };
      };
      const order = ["initiated", "ringing", "answered", "completed"];
      const good = await of({});
      assert.deepEqual(good.types, Array(calls).fill(order));
      const lost = await of({ lost: 1 });
      assert.deepEqual(lost.types, Array(calls).fill([]));
      assert.deepInclude(lost.entry, { outcome: "given_up", try: 1 });
      const doubled = await of({ doubled: 1, delay: 0 });
      assert.lengthOf(doubled.ids, 8 * calls);
      assert.equal(new Set(doubled.ids).size, 4 * calls);
      const spread = await of({ doubled: 1, delay: 0, duplicateDelay: 60_000 });
      assert.lengthOf(spread.ids, 8 * calls);
      assert.notDeepEqual(spread.ids, doubled.ids);
      const late = await of({ late: 0.5 });
      for (const types of late.types) assert.sameMembers(types, order);
      const overtaken = late.types.filter((types) => types.join() !== order.join()).length;
      assert.isAtLeast(overtaken, calls / 4);
      const some = await of({ lost: 0.25, doubled: 0.25, late: 0.25 });
      assert.isBelow(new Set(some.ids).size, 4 * calls);
      assert.isAbove(some.ids.length, new Set(some.ids).size);
      assert.deepEqual((await of({ lost: 0.25, doubled: 0.25, late: 0.25 })).types, some.types);
    },
  },
  {
    name: "emulator: says how many requests came for each number, those in an outage too",
    run: async () => {
      const { create, emulator } = application({ "/flow": hangup });
      const outage = { to_number: "+12025550110" };
      await create();
      await create();
      for (const wrong of [outage, outage, { to_number: "+12025550111" }]) {
        await exceptionOf(create(wrong));
      }
      const headers = { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" };
      const body = JSON.stringify({ from_number, to_number });
      await emulator.fetch("https://emulator.test/api/v1/calls/initiate", {
        method: "POST",
        headers,
        body,
      });
      assert.deepEqual(Object.fromEntries(emulator.posts), {
        [to_number]: 2,
        "+12025550110": 2,
        "+12025550111": 1,
      });
      await emulator.close();
      emulator.reset();
      assert.equal(emulator.posts.size, 0);
    },
  },
  {
    name: "emulator: a slow receiver of one call does not delay another's",
    run: async () => {
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const { call, create, emulator, notifications } = application({
        "/flow": hangup,
        "/status": async ({ body }) => {
          if (body.includes("+12025550104")) await held;
          return new Response(null, { status: 204 });
        },
      });
      const { id } = await create({ to_number: "+12025550104" });
      const quick = await call();
      assert.lengthOf(entries(quick, "notification"), 4);
      assert.lengthOf(
        notifications().filter(({ call_id }) => call_id === id),
        1,
      );
      release();
      assert.lengthOf(entries(await emulator.ended(id), "notification"), 2);
    },
  },
  {
    name: "emulator: the recording is a WAV as long as the call, and there is none without record",
    run: async () => {
      const { call, emulator } = application({ "/flow": play(), "/hello.wav": () => wav(2.5) });
      const record = await call();
      const url = record.recording_url ?? "";
      const response = await emulator.fetch(url);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("Content-Type"), "audio/wav");
      const bytes = new Uint8Array(await response.arrayBuffer());
      const view = new DataView(bytes.buffer);
      const letters = (from: number, to: number) => String.fromCharCode(...bytes.slice(from, to));
      assert.equal(letters(0, 4) + letters(8, 16) + letters(36, 40), "RIFFWAVEfmt data");
      assert.equal(view.getUint32(4, true), bytes.length - 8);
      assert.deepEqual(
        [20, 22, 32, 34].map((at) => view.getUint16(at, true)),
        [1, 1, 2, 16],
      );
      assert.deepEqual(
        [24, 28, 40].map((at) => view.getUint32(at, true)),
        [8_000, 16_000, 2.5 * 16_000],
      );
      assert.lengthOf(bytes, 44 + 2.5 * 16_000);
      assert.isTrue(bytes.subarray(44).some((byte) => byte !== 0));
      const part = await emulator.fetch(url, { headers: { Range: "bytes=101-20100" } });
      assert.equal(part.status, 206);
      assert.equal(part.headers.get("Content-Range"), `bytes 101-20100/${bytes.length}`);
      assert.deepEqual(new Uint8Array(await part.arrayBuffer()), bytes.slice(101, 20_101));
      assert.equal((await emulator.fetch(url, { headers: { Range: "bytes=99999-" } })).status, 416);
      const silent = await call({ record: false });
      assert.isUndefined(silent.recording_url);
      assert.lengthOf(entries(silent, "recording"), 0);
      const headers = { "X-API-Key": emulator.apiKey };
      const none = await emulator.fetch(`https://emulator.test/recordings/${silent.id}.wav`, {
        headers,
      });
      assert.equal(none.status, 404);
    },
  },
  {
    name: "emulator: a recording takes the key, or the URL that was sent, for a week",
    run: async () => {
      const { call, emulator } = application({ "/flow": hangup });
      const { id, recording_url = "" } = await call();
      const other = await call();
      assert.include(recording_url, `https://emulator.test/recordings/${id}.wav?`);
      const plain = recording_url.replace(/\?.*/, "");
      const ask = async (url: string, key?: string) => {
        const init = key === undefined ? {} : { headers: { "X-API-Key": key } };
        return (await emulator.fetch(url, init)).status;
      };
      assert.equal(await ask(recording_url), 200);
      assert.equal(await ask(plain, emulator.apiKey), 200);
      assert.equal(await ask(plain), 422);
      assert.equal(await ask(plain, "ak_other"), 403);
      assert.equal(await ask(plain.replace(id, "cs_unknown")), 422);
      assert.equal(await ask(plain.replace(id, "cs_unknown"), emulator.apiKey), 404);
      assert.equal(await ask(recording_url.replace(id, other.id)), 403);
      const sent = new URL(recording_url);
      const expires = Number(sent.searchParams.get("expires"));
      assert.closeTo(expires - Date.now() / 1000, 7 * 24 * 3_600, 60);
      sent.searchParams.set("expires", String(expires + 1));
      assert.equal(await ask(sent.href), 403);
      assert.equal(await ask(recording_url.slice(0, -1)), 403);
      // Regenerating the key doesn't invalidate a URL that was sent.
      emulator.regenerateKey();
      assert.equal(await ask(recording_url), 200);
      const now = Date.now;
      try {
        Date.now = () => now() + 8 * 24 * 3_600_000;
        assert.equal(await ask(recording_url), 403);
      } finally {
        Date.now = now;
      }
    },
  },
  {
    name: "emulator: in two channels a recording has the callee left and what they hear right",
    run: async () => {
      const { call, emulator } = application(
        { "/flow": play(), "/hello.wav": () => wav(1) },
        { callee: [{ type: "say", audio: new Int16Array(80).fill(9) }] },
      );
      const { recording_url } = await call();
      const response = await emulator.fetch(`${recording_url}&channels=2`);
      const bytes = await response.arrayBuffer();
      assert.equal(new DataView(bytes).getUint16(22, true), 2);
      const samples = new Int16Array(bytes.slice(44));
      assert.lengthOf(samples, 16_000);
      const left = samples.filter((_, at) => at % 2 === 0);
      assert.deepEqual([left.indexOf(9), left.lastIndexOf(9)], [0, 79]);
      assert.isAbove(Math.max(...samples.filter((_, at) => at % 2)), 5_000);
    },
  },
  {
    name: "emulator: fields that an action doesn't know are noted, and change nothing",
    run: async () => {
      const busy = { action: "play", media_url: "https://app.test/hello.wav", volume: 3 };
      const { call } = application({
        "/flow": {
          action: "dial",
          to: "+12025550101",
          ringback: "x",
          custom_headers: { "X-A": "b" },
          on_busy: busy,
          ["z".repeat(200)]: 1,
        },
        "/hello.wav": () => wav(1),
      });
      const record = await call();
      assert.equal(record.reason, "normal");
      const [flow] = entries(record, "flow");
      assert.deepEqual(flow?.unknown_fields, [
        "ringback",
        "custom_headers",
        "on_busy.volume",
        "z".repeat(80),
      ]);
      assert.deepEqual(Object.keys(flow?.action ?? {}), ["action", "to", "on_busy"]);
      const plain = application({ "/flow": hangup });
      const [none] = entries(await plain.call(), "flow");
      assert.notProperty(none, "unknown_fields");
    },
  },
  {
    name: "emulator: everything that happens reaches every loop, in order, until it is closed",
    run: async () => {
      const { emulator, create } = application({ "/flow": hangup });
      const listen = async () => {
        const seen: string[] = [];
        for await (const event of emulator) {
          seen.push(event.type === "state" ? event.state : event.type);
        }
        return seen;
      };
      const one = listen();
      const other = listen();
      await emulator.ended((await create()).id);
      await emulator.fetch("https://emulator.test/api/v1/calls/initiate");
      emulator.regenerateKey();
      await emulator.close();
      const seen = await one;
      assert.deepEqual(await other, seen);
      assert.deepEqual(
        seen.filter((each) => each !== "notification"),
        [
          "initiated",
          "ringing",
          "answered",
          "flow",
          "action",
          "recording",
          "completed",
          "refused",
          "key",
        ],
      );
      assert.lengthOf(
        seen.filter((each) => each === "notification"),
        4,
      );
      for await (const event of emulator) assert.fail(`after the end: ${event.type}`);
    },
  },
  {
    name: "emulator: close hangs up, waits for the notifications and takes no more calls",
    run: async () => {
      const { emulator, create, notifications } = application(
        { "/flow": play(), "/hello.wav": () => wav(60) },
        { clock: "real" },
      );
      const { id } = await create();
      await emulator.close();
      assert.equal(emulator.call(id)?.reason, "canceled");
      assert.equal(notifications().at(-1)?.type, "call.failed");
      const refused = await exceptionOf(create());
      assert.equal(refused.code, 503);
      const disposed = createEmulator();
      const next = disposed[Symbol.asyncIterator]().next();
      await disposed[Symbol.asyncDispose]();
      assert.isTrue((await next).done);
    },
  },
  {
    name: "emulator: reset forgets every call, and sends nothing more of any",
    run: async () => {
      const { emulator, create, notifications } = application({
        "/flow": () => new Promise(() => {}),
      });
      const events = emulator[Symbol.asyncIterator]();
      const { id } = await create();
      for (let state = ""; state !== "answered"; ) {
        const { value } = await events.next();
        if (value?.type === "state") state = value.state;
      }
      const settle = () => new Promise((resolve) => setTimeout(resolve, 20));
      await settle();
      emulator.reset();
      assert.isUndefined(emulator.call(id));
      assert.lengthOf(emulator.calls, 0);
      await exceptionOf(emulator.ended(id));
      const before = notifications().length;
      await settle();
      assert.lengthOf(notifications(), before);
      await emulator.close();
      let last = "";
      for (let next = await events.next(); !next.done; next = await events.next()) {
        last = next.value.type;
      }
      assert.equal(last, "reset");
    },
  },
  {
    name: "emulator: the same seed makes the same ids at any time, on either clock, in order",
    run: async () => {
      const idsOf = async (options: EmulatorOptions) => {
        const begun = Date.now();
        const { call, emulator } = application(
          { "/flow": hangup },
          { ringDuration: 0, ...options },
        );
        const records = [await call(), await call()];
        const calls = records.map(({ id }) => id);
        const events = records.map((record) => entries(record, "notification").map(({ id }) => id));
        await emulator.close();
        while (Date.now() === begun) await new Promise((resolve) => setTimeout(resolve, 1));
        return [[emulator.accountId], calls, ...events];
      };
      for (const clock of ["instant", "real"] as const) {
        const ids = await idsOf({ clock, seed: 7 });
        for (const each of ids) assert.deepEqual(each, [...each].sort());
        assert.deepEqual(await idsOf({ clock, seed: 7 }), ids);
        assert.notDeepEqual(await idsOf({ clock, seed: 8 }), ids);
        assert.notDeepEqual(await idsOf({ clock }), ids);
      }
    },
  },
  {
    name: "emulator: the same seed makes the same waits",
    run: async () => {
      const waits = async () => {
        const { call } = application(
          { "/flow": hangup, "/status": () => new Response(null, { status: 500 }) },
          { seed: 7 },
        );
        const record = await call();
        const start = Date.parse(record.history[0]?.at ?? "");
        return entries(record, "notification").map(({ at }) => Date.parse(at) - start);
      };
      assert.deepEqual(await waits(), await waits());
    },
  },
  {
    name: "emulator: 200 calls at once end with every history complete and in order, keep of them known",
    run: async () => {
      const { emulator, call, notifications } = application({ "/flow": hangup }, { keep: 10 });
      const records = await Promise.all(Array.from({ length: 200 }, () => call()));
      for (const record of records) {
        assert.equal(states(record), "initiated ringing answered completed normal");
        assert.deepEqual(
          entries(record, "notification").map(({ event }) => event),
          ["call.initiated", "call.ringing", "call.answered", "call.completed"],
        );
      }
      assert.lengthOf(notifications(), 800);
      assert.lengthOf(emulator.calls, 10);
      const first = records[0]?.id ?? "";
      const unknown = await exceptionOf(emulator.ended(first));
      assert.deepInclude(unknown, { name: "BadParametersException", param: "id" });
    },
  },
];
