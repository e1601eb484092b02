import { assert } from "chai";
import { type CallFlow, ServiceException } from "outdial";
import { audio, dial, gather, hangup, pause, play, say, spell, stream } from "outdial/flows";
import { answering } from "../../stub-server/answer.ts";
import type { ClientCase } from "../case.ts";
import {
  answeringFetch,
  exceptionOf,
  from_number,
  options,
  params,
  to_number,
} from "../fixtures.ts";

const baseUrl = "https://voice.test";
const { flow_url, ...others } = params;

/** A text, and a code in it, that no other text contains. */
const secret =
  "Your MARKEDtext has the code 4, 0, 2, 9, 1, 3, and is valid for the next five minutes.";
const second = "+12025550166";

/** What needs an application that is asked, and the rule that it breaks. */
const asking: readonly (readonly [flow: unknown, rule: RegExp])[] = [
  [gather("Press 1.", { digits: 1, as: "reply" }), /^flow must not be a gather .*: give flow_url/],
  [say("Hello.", { next: "after" }), /^flow must be without next, .*: give flow_url/],
  ...(["on_busy", "on_no_answer", "on_failure"] as const).map(
    (branch) =>
      [
        dial(second, { [branch]: hangup() }),
        new RegExp(`^flow must be without ${branch}, .*: give flow_url`),
      ] as const,
  ),
];

/** The cases about outdial's own interface are in `ownCases`. */
export const cases: readonly ClientCase[] = [
  {
    name: "a flow in the request is what a builder returned: a copy, JSON or anything else is refused by its name",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      for (const flow of [
        null,
        "",
        "say",
        1,
        {},
        [],
        { action: "say", prompts: ["Hello."] },
        { ...say("Hello.") },
        JSON.parse(JSON.stringify(hangup())),
        Promise.resolve(hangup()),
      ]) {
        const given = { ...others, flow } as never;
        const error = await exceptionOf(calls.create(given, { ...options, baseUrl, fetch }));
        assert.equal(error.message, "flow must be made by say() or the like (no call was placed)");
      }
      assert.lengthOf(sent, 0);
    },
  },
  {
    name: "exactly one of flow and flow_url is given",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      const messageOf = async (given: object) =>
        (await exceptionOf(calls.create(given as never, { ...options, baseUrl, fetch }))).message;
      assert.equal(
        await messageOf({ ...params, flow: hangup() }),
        "flow must be left out with flow_url (no call was placed)",
      );
      assert.match(await messageOf(others), /^flow_url is missing/);
      assert.lengthOf(sent, 0);
    },
  },
  {
    name: "what needs an application is no flow in the request: it is refused before any, by rule and way out",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      for (const [flow, rule] of asking) {
        const given = { ...others, flow: flow as CallFlow };
        const error = await exceptionOf(calls.create(given, { ...options, baseUrl, fetch }));
        assert.match(error.message, rule);
        assert.equal(error.placed, "no");
        assert.equal(error.name === "BadParametersException" && error.param, "flow");
      }
      assert.lengthOf(sent, 0);
    },
  },
  {
    name: "texts and numbers of a flow are in no exception, whole, in part or spelled otherwise",
    run: async ({ calls, inspect }) => {
      const spoken = say([
        secret,
        pause(1_000),
        "ÜberMARKEDlang 日本語のMARKEDテキスト",
        "+1 (MARKED",
        "++(MARKEDtwice",
        `Your code is ${spell("QX7K2P")}.`,
      ]);
      const echoes = [
        JSON.stringify(spoken),
        `<Say>${secret}</Say>`.replaceAll(",", "&#44;"),
        encodeURIComponent(secret),
        secret.slice(0, 60),
        "the code 402913 or 402-913",
        'not valid near "Q, X, 7, K, 2, P"',
        "is not valid: ÜberMARKEDlang 日本語のMARKEDテキスト",
      ];
      for (const echo of echoes) {
        for (const status of [400, 403, 429, 503]) {
          const fetch = async () => Response.json({ detail: echo, code: echo }, { status });
          const error = await exceptionOf(
            calls.create({ ...others, flow: spoken }, { ...options, baseUrl, fetch }),
          );
          const shown = `${inspect(error)}${error.stack}${JSON.stringify(error)}`;
          assert.notMatch(shown, /MARKEDt|MARKEDl|MARKEDテ|402-?913|4, 0, 2|X, 7, K/, echo);
        }
      }
      const failing = async () => {
        throw new TypeError(`could not send ${secret}`);
      };
      const lost = await exceptionOf(
        calls.create({ ...others, flow: spoken }, { ...options, baseUrl, fetch: failing }),
      );
      assert.notMatch(`${inspect(lost)}${lost.stack}`, /MARKED|4, 0, 2/);
    },
  },
  {
    name: "a signed URL of a flow is in no exception, whole, in part or spelled otherwise",
    run: async ({ calls, inspect }) => {
      const url = "https://media.test/a/MARKEDfile.wav?Signature=MARKEDsignature%2FMARKEDend";
      for (const flow of [
        play(url),
        say([audio(url)]),
        say("Hello.", { flow_url: url }),
        stream(url.replace("https", "wss"), { record: false }),
      ]) {
        for (const echo of [url, encodeURIComponent(url), decodeURIComponent(url), url.slice(8)]) {
          const fetch = async () => Response.json({ detail: echo, code: echo }, { status: 400 });
          const error = await exceptionOf(
            calls.create({ ...others, flow }, { ...options, baseUrl, fetch }),
          );
          const shown = `${inspect(error)}${error.stack}${JSON.stringify(error)}`;
          assert.notMatch(shown, /MARKED/, echo);
        }
      }
    },
  },
  {
    name: "a flow's refusal is one POST, and what may have placed a call is never sent again",
    run: async ({ calls, peer }) => {
      for (const status of [422, 408, 500, 503]) {
        const { baseUrl: at, seen } = answering(peer, { status, json: { detail: "no" } });
        await exceptionOf(
          calls.create(
            { ...others, flow: say("Hello.") },
            { ...options, baseUrl: at, path: "calls" },
          ),
        );
        assert.lengthOf(await seen(), 1);
      }
    },
  },
];

/** Rules of outdial's own interface: a carrier has an own form, and takes a call without notifications. */
export const ownCases: readonly ClientCase[] = [
  {
    name: "a flow in the request is the action as JSON in the place of flow_url",
    run: async ({ calls, peer }) => {
      const ws_url = "wss://app.test/media";
      for (const [flow, json] of [
        [hangup(), { action: "hangup" }],
        [play("https://app.test/a.wav"), { action: "play", media_url: "https://app.test/a.wav" }],
        [
          say(["Hello.", pause(1_000)], { language: "en-GB", flow_url }),
          {
            action: "say",
            prompts: [{ text: "Hello." }, { pause_ms: 1_000 }],
            language: "en-GB",
            flow_url,
          },
        ],
        [dial(second, { timeout: 20 }), { action: "dial", to: second, timeout: 20 }],
        [stream(ws_url, { record: false }), { action: "stream", ws_url, record: false }],
      ] as const) {
        const { baseUrl: at, seen } = answering(peer, {
          status: 202,
          json: { data: { id: "cs_1" } },
        });
        await calls.create({ ...others, flow, record: false }, { ...options, baseUrl: at });
        const [request, ...more] = await seen();
        assert.lengthOf(more, 0);
        assert.deepEqual(JSON.parse(`${request?.body}`), { ...others, flow: json, record: false });
      }
    },
  },
  {
    name: "a service that doesn't know the field refuses with 422: no call was placed, and the error says why",
    run: async ({ calls, peer }) => {
      const answers = [
        { detail: [{ loc: ["body", "flow_url"], msg: "Field required", type: "missing" }] },
        { success: false, message: "flow_url is required", errors: [] },
      ];
      for (const json of answers) {
        const { baseUrl: at, seen } = answering(peer, { status: 422, json });
        const error = await exceptionOf(
          calls.create({ ...others, flow: say("Hello.") }, { ...options, baseUrl: at }),
        );
        assert.instanceOf(error, ServiceException);
        assert.equal(
          error.message,
          "This service takes no flow in the request: give flow_url (no call was placed)",
        );
        assert.deepEqual([error.code, error.placed], [422, "no"]);
        assert.lengthOf(await seen(), 1);
      }
      const other = { detail: [{ loc: ["body", "to_number"], msg: "is wrong", type: "value" }] };
      const { baseUrl: at } = answering(peer, { status: 422, json: other });
      const error = await exceptionOf(
        calls.create({ ...others, flow: say("Hello.") }, { ...options, baseUrl: at }),
      );
      assert.notMatch(error.message, /takes no flow/);
    },
  },
  {
    name: "without service status_callback_url is required, also with a flow in the request",
    run: async ({ calls }) => {
      const { fetch, sent } = answeringFetch();
      for (const given of [
        { from_number, to_number, flow_url },
        { from_number, to_number, flow: hangup() },
      ]) {
        const error = await exceptionOf(calls.create(given, { ...options, baseUrl, fetch }));
        assert.match(error.message, /^status_callback_url is missing/);
      }
      assert.lengthOf(sent, 0);
    },
  },
];
