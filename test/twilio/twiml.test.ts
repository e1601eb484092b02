import VoiceResponse from "twilio/lib/twiml/VoiceResponse.js";
import { expect, test } from "vitest";
import { twimlOf } from "../../src/carriers/twilio/twiml.ts";
import { BadParametersException } from "../../src/errors.ts";
import { type Action, dial, hangup, play, stream } from "../../src/flows/actions.ts";

const media = "https://app.test/hello.wav?a=1&b='2'";
const next = "https://app.test/flow/2?a=1&b=2";
const signed = "https://app.test/flow?outdial-dial=1&outdial=1.e30.x";
const number = "+12025550100";
const post = { method: "POST" };

type Build = (response: VoiceResponse) => unknown;

/** Each action beside what the builder of Twilio's own client prints. */
const table: readonly (readonly [
  name: string,
  action: Action,
  build: Build,
  branches?: string | undefined,
])[] = [
  ["hangup", hangup(), (response) => response.hangup()],
  [
    "play",
    play(media),
    (response) => {
      response.play(media.replaceAll("'", "%27"));
      response.hangup();
    },
  ],
  [
    "play, then another flow",
    play(media, { flow_url: next }),
    (response) => {
      response.play(media.replaceAll("'", "%27"));
      response.redirect(post, next);
    },
  ],
  [
    "stream",
    stream("wss://app.test/media"),
    (response) => response.connect().stream({ url: "wss://app.test/media" }),
  ],
  [
    "stream with all that Twilio can do, then another flow",
    stream("wss://app.test:8443/media?a=1&b=2", {
      sample_rate: "8k",
      chunk_size: 20,
      record: false,
      flow_url: next,
    }),
    (response) =>
      response
        .connect({ action: next, ...post })
        .stream({ url: "wss://app.test:8443/media" })
        .parameter({ name: "outdial.0", value: "a=1&b=2" }),
  ],
  ["dial", dial(number), (response) => response.dial().number(number)],
  [
    "dial with a timeout, recorded, then another flow",
    dial(number, { timeout: 20, record: true, flow_url: next }),
    (response) =>
      response
        .dial({ timeout: 20, record: "record-from-answer", action: next, ...post })
        .number(number),
  ],
  [
    "dial, not recorded",
    dial(number, { timeout: 5, record: false }),
    (response) => response.dial({ timeout: 5 }).number(number),
  ],
  [
    "dial to SIP",
    dial("sip:ann@pbx.test;transport=tls?a=1&b=2", { timeout: 600 }),
    (response) => response.dial({ timeout: 600 }).sip("sip:ann@pbx.test;transport=tls?a=1&b=2"),
  ],
  [
    "dial with branches",
    dial(number, { on_busy: hangup(), flow_url: next }),
    (response) => response.dial({ action: signed, ...post }).number(number),
    signed,
  ],
];

for (const [name, action, build, branches] of table) {
  test(`${name}, as the builder of Twilio's client prints it`, () => {
    const response = new VoiceResponse();
    build(response);
    expect(twimlOf(action, branches)).toBe(response.toString());
  });
}

test("going on at another flow URL", () => {
  const response = new VoiceResponse();
  response.redirect(post, next);
  expect(twimlOf({ action: "redirect", flow_url: next })).toBe(response.toString());
});

test.each<[string, Action, string]>([
  ["sample_rate", stream("wss://app.test/m", { sample_rate: "16k" }), 'must be "8k"'],
  ["chunk_size", stream("wss://app.test/m", { chunk_size: 400 }), "must be 20"],
  ["record", stream("wss://app.test/m", { record: true }), "must be false"],
  ["timeout", dial(number, { timeout: 4 }), "must be at least 5"],
  ["to", dial("sip:a\u0001@b"), "must be without control characters"],
  ["to", dial("sip:a\ud800@b"), "must be without control characters"],
])("%s that Twilio can't do is refused by its name", (param, action, rule) => {
  expect(() => twimlOf(action)).toThrow(BadParametersException);
  expect(() => twimlOf(action)).toThrow(`${param} ${rule}`);
});
