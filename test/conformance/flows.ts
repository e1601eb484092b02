import { assert } from "chai";
import { BadParametersException } from "outdial";
import { type Refusal, RefusedException, signUrl } from "outdial/callbacks";
import {
  Action,
  dial,
  type FlowOptions,
  flowHandler,
  gather,
  hangup,
  machineUrl,
  play,
  type StepInput,
  say,
  stream,
} from "outdial/flows";
import { twilio } from "outdial/twilio";
import { is } from "valibot";
import { ringingAtOnce, trap } from "./callbacks/fixtures.ts";
import type { Case } from "./case.ts";

const secret = "a secret that was made at random";
const media = "https://app.test/hello.wav";
const socket = "wss://app.test/media";
const call = {
  call_id: "cs_1",
  account_id: "acc_1",
  from_number: "+12025550177",
  to_number: "+12025550188",
  direction: "outbound",
};

const built: readonly (readonly [made: () => unknown, wire: string])[] = [
  [() => play(media), `{"action":"play","media_url":"${media}"}`],
  [
    () => play(media, { flow_url: "https://app.test/2" }),
    `{"action":"play","media_url":"${media}","flow_url":"https://app.test/2"}`,
  ],
  [() => play(media, { flow_url: undefined }), `{"action":"play","media_url":"${media}"}`],
  [
    () => play("http://localhost:8787/a.wav"),
    '{"action":"play","media_url":"http://localhost:8787/a.wav"}',
  ],
  [() => stream(socket), `{"action":"stream","ws_url":"${socket}"}`],
  [() => stream("ws://127.0.0.1:1/m"), '{"action":"stream","ws_url":"ws://127.0.0.1:1/m"}'],
  [
    () => stream(socket, { record: false, chunk_size: 20, sample_rate: "16k" }),
    `{"action":"stream","ws_url":"${socket}","sample_rate":"16k","chunk_size":20,"record":false}`,
  ],
  [
    () => stream(socket, { record: true, chunk_size: 2000, flow_url: "https://app.test/2" }),
    `{"action":"stream","ws_url":"${socket}","chunk_size":2000,"record":true,"flow_url":"https://app.test/2"}`,
  ],
  [() => dial("+12025550100"), '{"action":"dial","to":"+12025550100"}'],
  [
    () => dial("sip:ann@pbx.test;transport=tls"),
    '{"action":"dial","to":"sip:ann@pbx.test;transport=tls"}',
  ],
  [
    () =>
      dial("+12025550100", {
        timeout: 600,
        record: false,
        on_busy: hangup(),
        on_failure: play(media),
        on_no_answer: play(media, { flow_url: "https://app.test/2" }),
      }),
    `{"action":"dial","to":"+12025550100","timeout":600,"record":false,"on_no_answer":{"action":"play","media_url":"${media}","flow_url":"https://app.test/2"},"on_busy":{"action":"hangup"},"on_failure":{"action":"play","media_url":"${media}"}}`,
  ],
  [() => hangup(), '{"action":"hangup"}'],
];

const long = `https://app.test/${"x".repeat(2067)}`;
const notHttps = [
  "",
  "MARKED",
  "http://app.test/MARKED",
  "https://MARKED@app.test/",
  long,
  7,
  null,
  undefined,
];
const notWss = [
  "",
  "MARKED",
  "https://app.test/",
  "ws://app.test/MARKED",
  `wss${long.slice(5)}xx`,
  7,
  null,
];

/** What breaks a rule: the action, its first argument, its options, and the field that is named. */
const wrong: readonly (readonly [field: string, make: () => unknown])[] = [
  ...notHttps.map((url) => ["media_url", () => play(url as never)] as const),
  ...notWss.map((url) => ["ws_url", () => stream(url as never)] as const),
  ...notHttps.slice(0, -1).flatMap(
    (url) =>
      [
        ["flow_url", () => play(media, { flow_url: url as never })],
        ["flow_url", () => stream(socket, { flow_url: url as never })],
        ["flow_url", () => dial("+12025550100", { flow_url: url as never })],
      ] as const,
  ),
  ...[
    "",
    "0170 123",
    "12025550100",
    "+0123456",
    "tel:+12025550100",
    "sip:",
    "sip:a b@c",
    "sip:a@b@MARKED",
    7,
    null,
  ].map((to) => ["to", () => dial(to as never)] as const),
  ...[0, 19, 30, 2020, 20.5, -20, Number.NaN, "20", null].map(
    (size) => ["chunk_size", () => stream(socket, { chunk_size: size as never })] as const,
  ),
  ...["44k", 8000, "8K", null].map(
    (rate) => ["sample_rate", () => stream(socket, { sample_rate: rate as never })] as const,
  ),
  ...["false", 0, null].flatMap(
    (record) =>
      [
        ["record", () => stream(socket, { record: record as never })],
        ["record", () => dial("+12025550100", { record: record as never })],
      ] as const,
  ),
  ...[0, 601, 1.5, -1, Number.NaN, "30", null].map(
    (timeout) => ["timeout", () => dial("+12025550100", { timeout: timeout as never })] as const,
  ),
  ...(["on_no_answer", "on_busy", "on_failure"] as const).flatMap((field) =>
    [
      { action: "dial" },
      { action: "stream" },
      { action: "play" },
      { action: "MARKED" },
      { action: "hangup", extra: "MARKED" },
      "",
      null,
    ].map((nested) => [field, () => dial("+12025550100", { [field]: nested as never })] as const),
  ),
  ["recrod", () => stream(socket, { recrod: false } as never)],
  ["timeout", () => play(media, { timeout: 30 } as never)],
  ["record", () => play(media, { record: false } as never)],
];

const ask = async (options: Omit<FlowOptions, "secret">, body: unknown = call, context = {}) => {
  const url = await signUrl("https://app.test/flow", { secret, context });
  const reported: unknown[] = [];
  const handler = flowHandler({ onError: (error) => reported.push(error), ...options, secret });
  const response = await handler(new Request(url, { method: "POST", body: JSON.stringify(body) }));
  return { response, reported };
};

export const cases: readonly Case[] = [
  {
    name: "a builder gives exactly the wire's JSON, and no default",
    run: () => {
      for (const [make, wire] of built) {
        const action = make();
        assert.equal(JSON.stringify(action), wire);
        assert.deepEqual(action, JSON.parse(wire));
        assert.isTrue(is(Action, action));
      }
    },
  },
  {
    name: "a builder refuses what breaks a rule, by its field and not its value",
    run: () => {
      for (const [field, make] of wrong) {
        let error: unknown;
        try {
          assert.fail(`${field}: ${JSON.stringify(make())}`);
        } catch (thrown) {
          error = thrown;
        }
        assert.instanceOf(error, BadParametersException, String(error));
        if (!(error instanceof BadParametersException)) continue;
        assert.match(error.param, new RegExp(`^${field}(\\.|$)`));
        assert.notInclude(error.message, "MARKED");
      }
    },
  },
  {
    name: "flowHandler answers the action of onAnswer, which gets the call and the context",
    run: async () => {
      const got: unknown[] = [];
      const { response, reported } = await ask(
        {
          onAnswer: async (answered) => {
            got.push(answered);
            return stream(socket, { record: false });
          },
        },
        { ...call, later: 1 },
        { order: 17 },
      );
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("content-type"), "application/json");
      assert.equal(
        await response.text(),
        `{"action":"stream","ws_url":"${socket}","record":false}`,
      );
      const input = { call: { ...call, later: 1 }, context: { order: 17 }, variables: {} };
      const begun = { digits: "", attempt: 1, answers: {}, answered_by: undefined };
      assert.deepEqual(got, [{ ...input, ...begun }]);
      assert.deepEqual(reported, []);
    },
  },
  {
    name: "a message was left once the request after its last prompt has come; nothing else says so",
    run: async () => {
      const given: unknown[] = [];
      const handler = flowHandler({
        secret,
        onAnswer: () => hangup(),
        onMachine: () => say("Please call us."),
        onInput: ({ message }: StepInput) => given.push(message),
        onError: () => {},
      });
      const post = async (url: string, more: object = {}) => {
        const body = JSON.stringify({ ...call, actions: ["say", "gather"], ...more });
        const response = await handler(new Request(url, { method: "POST", body }));
        return response.ok ? JSON.parse(await response.text()) : response.status;
      };
      const context = { name: "Ada" };
      const answered_by = "machine_end_beep";
      const url = await machineUrl("https://app.test/flow", { secret, context, answered_by });
      const { flow_url, ...message } = await post(url);
      assert.deepEqual(message, { action: "say", prompts: [{ text: "Please call us." }] });
      assert.deepEqual(given, [undefined]);
      assert.equal(await post(flow_url, { call_id: "cs_2" }), 401);
      assert.deepEqual(await post(flow_url, { digits: "1" }), { action: "hangup" });
      assert.deepEqual(given, [undefined]);
      assert.deepEqual(await post(flow_url), { action: "hangup" });
      assert.deepEqual(given, [undefined, "left"]);
    },
  },
  {
    name: "a conversation goes on at a URL that any process answers, with every secret of the list, and nobody reads",
    run: async () => {
      const older = "an older secret that was made at random";
      const given: unknown[] = [];
      const program = {
        onAnswer: () =>
          gather("Your code?", { digits: 4, as: "code", on: { "4242": "thanks" }, tries: 2 }),
        onInput: ({ answers }: StepInput) => given.push(answers),
        steps: { thanks: ({ answers, context }: StepInput) => say(`${answers.code} ${context.a}`) },
      } as const;
      const actions = ["say", "gather"];
      const post = async (url: string, secrets: string | readonly string[], digits?: string) => {
        const body = JSON.stringify({ ...call, actions, ...(digits !== undefined && { digits }) });
        const handler = flowHandler({ ...program, secret: secrets, onError: () => {} });
        const response = await handler(new Request(url, { method: "POST", body }));
        return { status: response.status, text: await response.text() };
      };
      const signing = { secret: older, context: { a: "b" }, expiresIn: 300 };
      const first = await signUrl("https://app.test/flow", signing);
      const asked = JSON.parse((await post(first, older)).text);
      assert.deepEqual(asked.prompts, [{ text: "Your code?" }]);
      assert.notMatch(
        atob(
          /outdial=\d+\.([\w-]+)/
            .exec(asked.flow_url)?.[1]
            ?.replace(/-/g, "+")
            .replace(/_/g, "/") ?? "",
        ),
        /code|thanks/,
      );
      // Another process, with a new secret beside the old one.
      const again = JSON.parse((await post(asked.flow_url, [secret, older], "1111")).text);
      assert.deepEqual(again.prompts, asked.prompts);
      const done = await post(again.flow_url, [secret, older], "4242");
      assert.deepEqual(JSON.parse(done.text), { action: "say", prompts: [{ text: "4242 b" }] });
      assert.deepEqual(given, [{ code: "4242" }]);
      assert.equal((await post(again.flow_url, older, "4242")).status, 401);
      const { length } = again.flow_url;
      const other = again.flow_url[length - 60] === "A" ? "B" : "A";
      const altered =
        again.flow_url.slice(0, length - 60) + other + again.flow_url.slice(length - 59);
      assert.equal((await post(altered, [secret, older], "4242")).status, 401);
      assert.lengthOf(given, 1);
      // No URL renews itself.
      const expiryOf = (url: string) => /outdial=(\d+)/.exec(url)?.[1];
      assert.equal(expiryOf(asked.flow_url), expiryOf(first));
      assert.equal(expiryOf(again.flow_url), expiryOf(first));
    },
  },
  {
    name: "an onAnswer that throws is reported, and answered with hangup",
    run: async () => {
      const lost = new Error("the database is away");
      for (const onAnswer of [
        () => {
          throw lost;
        },
        () => Promise.reject(lost),
      ]) {
        const { response, reported } = await ask({ onAnswer });
        assert.equal(response.status, 200);
        assert.equal(await response.text(), '{"action":"hangup"}');
        assert.deepEqual(reported, [lost]);
        assert.equal((await ask({ onAnswer, onError: undefined })).response.status, 200);
      }
    },
  },
  {
    name: "a wrong action is reported, and answered with hangup",
    run: async () => {
      for (const action of [
        undefined,
        null,
        "hangup",
        {},
        { action: "MARKED" },
        { action: "play", media_url: "http://app.test/MARKED" },
        { action: "stream", ws_url: socket, recrod: false },
        Promise.resolve(7),
      ]) {
        const { response, reported } = await ask({ onAnswer: () => action as never });
        assert.equal(response.status, 200);
        assert.equal(await response.text(), '{"action":"hangup"}');
        assert.lengthOf(reported, 1);
        assert.instanceOf(reported[0], BadParametersException);
        assert.notInclude(String(reported[0]), "MARKED");
      }
    },
  },
  {
    name: "the body, verify and onAnswer have 8 s together; who is late is reported, and answered",
    run: async () => {
      const never = new Promise<never>(() => {});
      const stalled = () =>
        new ReadableStream({ start: (body) => body.enqueue(new Uint8Array(1)) });
      for (const [late, answer, name, reason] of [
        ["body", "The body took too long.", "RefusedException", "too_slow: "],
        ["verify", "", "TimeoutError", "verify gave no answer within 8000 ms"],
        [
          "onAnswer",
          '{"action":"hangup"}',
          "TimeoutError",
          "onAnswer gave no answer within 8000 ms",
        ],
      ] as const) {
        const waits = await ringingAtOnce(async (ring) => {
          const reported: unknown[] = [];
          const isLateAt = (step: string): boolean => {
            if (step === late) ring();
            return step === late;
          };
          const handler = flowHandler({
            verify: () => (isLateAt("verify") ? never : true),
            onAnswer: () => (isLateAt("onAnswer") ? never : hangup()),
            onError: (error) => reported.push(error),
          });
          const body = late === "body" ? stalled() : JSON.stringify(call);
          const init = { method: "POST", body, ...{ duplex: "half" } };
          const response = handler(new Request("https://app.test/flow", init));
          isLateAt("body");
          assert.equal(await (await response).text(), answer);
          assert.lengthOf(reported, 1);
          assert.equal(Object(reported[0]).name, name);
          assert.include(Object(reported[0]).message, reason);
        });
        assert.deepEqual(waits, [8000]);
      }
    },
  },
  {
    name: "flowHandler answers 500, with a service 503, while it can't verify anybody",
    run: async () => {
      const lost = new Error("the secrets manager is away");
      const fail = () => Promise.reject(lost);
      const accountSid = `AC${"0".repeat(32)}`;
      const serviceWith = (authToken: () => Promise<string | undefined>) => ({
        service: twilio({ accountSid, authToken }),
      });
      for (const [checks, status, name] of [
        [{ verify: fail }, 500, "Error"],
        [serviceWith(fail), 503, "Error"],
        [serviceWith(async () => undefined), 503, "BadParametersException"],
      ] as const) {
        let asked = 0;
        const onAnswer = () => {
          asked++;
          return hangup();
        };
        const { response, reported } = await ask({ ...checks, onAnswer });
        assert.equal(response.status, status);
        assert.equal(await response.text(), "");
        assert.deepEqual([asked, reported.length, Object(reported[0]).name], [0, 1, name]);
      }
    },
  },
  {
    name: "whatever onAnswer throws is answered with hangup: a refusal and a proxy too",
    run: async () => {
      for (const thrown of [new RefusedException("no_token"), trap(), undefined]) {
        const { response, reported } = await ask({ onAnswer: () => Promise.reject(thrown) });
        assert.equal(response.status, 200);
        assert.equal(await response.text(), '{"action":"hangup"}');
        assert.lengthOf(reported, 1);
        assert.isTrue(reported[0] === thrown);
      }
    },
  },
  {
    name: "flowHandler refuses what didn't come from the service, with a status and a sentence",
    run: async () => {
      const signed = await signUrl("https://app.test/flow", { secret });
      const post = (url: string, body: string) => new Request(url, { method: "POST", body });
      const text = JSON.stringify(call);
      const { to_number, ...incomplete } = call;
      assert.isString(to_number);
      const refused: readonly (readonly [Refusal, number, Request])[] = [
        ["wrong_method", 405, new Request(signed)],
        ["no_token", 401, post("https://app.test/flow", text)],
        ["wrong_token", 401, post(signed.replace("/flow", "/status"), text)],
        ["too_large", 413, post(signed, text.padEnd(2 ** 16 + 1))],
        ["not_json", 400, post(signed, "call_id=cs_1")],
        ["wrong_shape", 400, post(signed, "{}")],
        ["wrong_shape", 400, post(signed, JSON.stringify(incomplete))],
        ["wrong_shape", 400, post(signed, JSON.stringify({ ...call, call_id: 7 }))],
      ];
      for (const [reason, status, request] of refused) {
        const reported: unknown[] = [];
        let asked = 0;
        const handler = flowHandler({
          secret,
          onAnswer: () => {
            asked++;
            return hangup();
          },
          onError: (error) => reported.push(error),
        });
        const response = await handler(request);
        assert.equal(response.status, status, reason);
        assert.equal(`${reason}: ${await response.text()}`, new RefusedException(reason).message);
        assert.equal(response.headers.get("allow"), status === 405 ? "POST" : null);
        assert.deepEqual(
          reported.map((error) => error instanceof RefusedException && error.reason),
          [reason],
        );
        assert.equal(asked, 0);
      }
    },
  },
  {
    name: "flowHandler refuses options that break a rule, and to verify nothing unless an option allows it",
    run: () => {
      const onAnswer = () => hangup();
      for (const options of [
        undefined,
        {},
        { onAnswer },
        { secret },
        { secret: undefined, onAnswer },
        { secret, onAnswer: "hangup" },
        { secret, onAnswer, onError: 1 },
        { secret, onAnswer, onEvent: onAnswer },
      ]) {
        assert.throws(() => flowHandler(options as never), BadParametersException);
      }
      assert.isFunction(flowHandler({ dangerouslyAllowUnverified: true, onAnswer }));
    },
  },
];
