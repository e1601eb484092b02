import fc from "fast-check";
import VoiceResponse from "twilio/lib/twiml/VoiceResponse.js";
import { describe, expect, test } from "vitest";
import { texmlOf } from "../../src/carriers/telnyx/texml.ts";
import { BadParametersException } from "../../src/errors.ts";
import { type Action, dial, hangup, play, stream } from "../../src/flows/actions.ts";
import { type Parsed, parse } from "../unit/carriers/xml.ts";

const media = "https://app.test/hello.wav?a=1&b=2";
const next = "https://app.test/flow/2?a=1&b=2";
const number = "+12025550100";
const callerId = "+12025550199";
const post = { method: "POST" };
const head = '<?xml version="1.0" encoding="UTF-8"?>';

/** How Telnyx streams both ways: audio as RTP payloads of μ-law, and never a second socket. */
const both =
  'codec="PCMU" bidirectionalMode="rtp" bidirectionalCodec="PCMU" enableReconnect="false"';

/** The verbs that are TwiML's too, beside what the builder of Twilio's client prints. */
test.each<[string, Action, (response: VoiceResponse) => unknown]>([
  ["hangup", hangup(), (response) => response.hangup()],
  [
    "play",
    play(media),
    (response) => {
      response.play(media);
      response.hangup();
    },
  ],
  [
    "play, then another flow",
    play(media, { flow_url: next }),
    (response) => {
      response.play(media);
      response.redirect(post, next);
    },
  ],
  [
    "dial, from the number of the call",
    dial(number, { timeout: 20, record: true, flow_url: next }),
    (response) =>
      response
        .dial({ timeout: 20, callerId, record: "record-from-answer", action: next, ...post })
        .number(number),
  ],
  [
    "dial to SIP",
    dial("sip:ann@pbx.test;transport=tls?a=1&b=2", { timeout: 120 }),
    (response) =>
      response.dial({ timeout: 120, callerId }).sip("sip:ann@pbx.test;transport=tls?a=1&b=2"),
  ],
])("%s", (_, action, build) => {
  const response = new VoiceResponse();
  build(response);
  expect(texmlOf(action, { callerId })).toBe(response.toString());
});

test("what decides after a dial is asked instead of its flow_url", () => {
  const ownUrl = "https://app.test/flow?outdial-dial=1&outdial=1.e30.x";
  expect(texmlOf(dial(number, { flow_url: next }), { ownUrl })).toBe(
    `${head}<Response><Dial action="${ownUrl.replaceAll("&", "&amp;")}" method="POST"><Number>${number}</Number></Dial></Response>`,
  );
});

test("a template in what follows a dial is refused before anybody is dialled", () => {
  const ownUrl = "https://app.test/flow?outdial-dial=1&outdial=1.e30.x";
  expect(() =>
    texmlOf(dial(number, { flow_url: "https://app.test/?a={{To}}" }), { ownUrl }),
  ).toThrow("flow_url must be without {{");
});

test("a stream has the query of its URL as parameters; what follows is the next verb", () => {
  const xml = next.replace("&", "&amp;");
  expect(texmlOf(stream("wss://app.test/media?a=1&b=2", { flow_url: next }))).toBe(
    `${head}<Response><Connect><Stream url="wss://app.test/media" ${both}><Parameter name="outdial.0" value="a=1&amp;b=2"/></Stream></Connect><Redirect method="POST">${xml}</Redirect></Response>`,
  );
  expect(texmlOf(stream("wss://app.test/media"))).toBe(
    `${head}<Response><Connect><Stream url="wss://app.test/media" ${both}/></Connect><Hangup/></Response>`,
  );
});

test.each<[string, Action, string]>([
  ["sample_rate", stream("wss://app.test/m", { sample_rate: "16k" }), 'must be "8k"'],
  ["chunk_size", stream("wss://app.test/m", { chunk_size: 400 }), "must be 20: Telnyx"],
  ["record", stream("wss://app.test/m", { record: true }), "must be false: Telnyx"],
  ["timeout", dial(number, { timeout: 4 }), "must be 5 to 120"],
  ["timeout", dial(number, { timeout: 121 }), "must be 5 to 120"],
  ["to", dial("sip:a\u0001@b"), "must be without control characters"],
  ["to", dial("sip:{{From}}@b"), "must be without {{"],
  ["media_url", play("https://app.test/a?b={{To}}"), "must be without {{"],
  ["flow_url", play(media, { flow_url: "https://app.test/a?b={{#To}}" }), "must be without {{"],
  ["ws_url", stream("wss://app.test/a?b={{To}}"), "must be without {{"],
  ["media_url", play("https://app.test/{{To}}.mp3"), "must be without {{"],
  [
    "on_busy.media_url",
    dial(number, { on_busy: play("https://app.test/a?b={{To}}") }),
    "must be without {{",
  ],
])("%s that Telnyx can't do is refused by its name", (param, action, rule) => {
  expect(() => texmlOf(action)).toThrow(BadParametersException);
  expect(() => texmlOf(action)).toThrow(`${param} ${rule}`);
});

/** Texts that end a string, a tag or a section, or begin a template, and any other. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...['"/><Hangup/>', "</Play></Response>", "]]>", "<![CDATA[", "&lt;", "&#60;", "<!--"],
        ...["-->", "<?xml?>", "%3C", "'", '"', "&", "é😀", "\u0001", "\ufffe"],
        ...["{", "{{To}}", "{{=<% %>=}}", "}}", "&#123;{"],
      ),
      fc.string({ unit: "binary", maxLength: 5 }),
      fc.string({ unit: "grapheme", maxLength: 5 }),
    ),
    { maxLength: 10 },
  )
  .map((parts) => parts.join("").replace(/[\s\\]/g, ""));

describe("no text of a user's is ever XML, nor a template", () => {
  /** The parsed document; `undefined` where the action was refused by the name of a field. */
  const parsed = (action: Action, name: string): Parsed | undefined => {
    let xml: string;
    try {
      xml = texmlOf(action, { callerId });
    } catch (error) {
      expect(error).toBeInstanceOf(BadParametersException);
      expect(String(error)).toContain(`${name} must be without`);
      return;
    }
    expect(xml).not.toContain("{{");
    return parse(xml);
  };

  test("in a URL: it is the one that was given, or is refused", () =>
    fc.assert(
      fc.property(hostile, (text) => {
        const url = `https://app.test/a${text}?b${text}#c${text}`;
        fc.pre(url.length < 2000);
        const played = parsed({ action: "play", media_url: url }, "media_url");
        if (played) {
          expect(played.children.map(({ name }) => name)).toEqual(["Play", "Hangup"]);
          expect(played.children[0]?.text).toBe(new URL(url).href);
        }
        const ws_url = url.replace("https", "wss");
        const streamed = parsed({ action: "stream", ws_url }, "ws_url");
        if (!streamed) return;
        expect(streamed.children.map(({ name }) => name)).toEqual(["Connect", "Hangup"]);
        const [element] = streamed.children[0]?.children ?? [];
        const { pathname, search } = new URL(url);
        expect(element?.attributes.url).toBe(`wss://app.test${pathname}`);
        const values = element?.children.map(({ attributes }) => attributes.value);
        expect(values?.join("")).toBe(search.slice(1));
      }),
    ));

  test("in a SIP URI: it is the one that was given, or is refused", () =>
    fc.assert(
      fc.property(hostile, (text) => {
        const to = `sip:a${text}@b`;
        const dialled = parsed({ action: "dial", to }, "to");
        if (!dialled) {
          expect(to).toMatch(/\p{C}|\{\{/u);
          return;
        }
        expect(dialled.children.map(({ name }) => name)).toEqual(["Dial"]);
        expect(dialled.children[0]?.children[0]?.text).toBe(to);
      }),
    ));
});
