import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { texmlOf } from "../../../src/carriers/telnyx/texml.ts";
import { twimlOf } from "../../../src/carriers/twilio/twiml.ts";
import { BadParametersException } from "../../../src/errors.ts";
import { type Action, dial, play, stream } from "../../../src/flows/actions.ts";
import { say } from "../../../src/flows/say.ts";
import { type Parsed, parse } from "../carriers/xml.ts";

const number = "+12025550100";

/** The names of elements, and of what is in them. */
const shapeOf = ({ name, children }: Parsed): unknown => [name, ...children.map(shapeOf)];

/** Texts that end a string, a tag or a section, and any other. */
const hostile = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '"/><Hangup/>',
        "</Play></Response>",
        "]]>",
        "<![CDATA[",
        "&lt;",
        "&#60;",
        "&amp;amp;",
        "<!--",
        "-->",
        "<?xml?>",
        "%3C",
        "'",
        '"',
        "&",
        "é😀",
        "\u0001",
        "\ufffe",
      ),
      fc.string({ unit: "binary", maxLength: 5 }),
      fc.string({ unit: "grapheme", maxLength: 5 }),
    ),
    { maxLength: 10 },
  )
  .map((parts) => parts.join("").replace(/[\s\\]/g, ""));

describe("no text of a user's is ever XML", () => {
  const urlWith = (text: string) => `https://app.test/a${text}?b${text}#c${text}`;

  test("in a URL: the elements stay, and the URL is the one that was given", () =>
    fc.assert(
      fc.property(hostile, hostile, (first, second) => {
        const [media_url, flow_url] = [urlWith(first), urlWith(second)];
        fc.pre(media_url.length < 2000 && flow_url.length < 2000);
        const [played, connected, dialled] = [
          play(media_url, { flow_url }),
          stream(media_url.replace("https", "wss"), { flow_url }),
          dial(number, { flow_url }),
        ].map((action) => parse(twimlOf(action)));
        if (!played || !connected || !dialled) throw new Error("nothing was parsed");
        expect(shapeOf(played)).toEqual(["Response", ["Play"], ["Redirect"]]);
        expect(played.children[0]?.text).toBe(new URL(media_url).href);
        expect(played.children[1]?.text).toBe(new URL(flow_url).href);
        const [connect] = connected.children;
        expect(connect?.attributes).toEqual({ action: new URL(flow_url).href, method: "POST" });
        const [streamed] = connect?.children ?? [];
        const { pathname, search } = new URL(media_url);
        expect(streamed?.attributes).toEqual({ url: `wss://app.test${pathname}` });
        const parameters = streamed?.children ?? [];
        expect(parameters.map(({ name }) => name)).toEqual(parameters.map(() => "Parameter"));
        expect(parameters.map(({ attributes }) => attributes.name)).toEqual(
          parameters.map((_, at) => `outdial.${at}`),
        );
        expect(parameters.map(({ attributes }) => attributes.value).join("")).toBe(search.slice(1));
        expect(dialled.children[0]?.attributes.action).toBe(new URL(flow_url).href);
      }),
    ));

  test("in a SIP URI: it is the one that was given, or is refused", () =>
    fc.assert(
      fc.property(hostile, (text) => {
        const to = `sip:a${text.replace(/[<>"@]/g, "&")}@b`;
        const action: Action = { action: "dial", to };
        let xml: string;
        try {
          xml = twimlOf(action);
        } catch (error) {
          expect(error).toBeInstanceOf(BadParametersException);
          expect(to).toMatch(/\p{C}/u);
          return;
        }
        const parsed = parse(xml);
        expect(shapeOf(parsed)).toEqual(["Response", ["Dial", ["Sip"]]]);
        expect(parsed.children[0]?.children[0]?.text).toBe(to);
      }),
    ));

  test("not even where the schema of actions was not asked", () => {
    const to = 'sip:<Hangup/>"&]]>@b';
    const parsed = parse(twimlOf({ action: "dial", to }));
    expect(parsed.children[0]?.children[0]?.text).toBe(to);
  });
});

test("the longest context of a signed ws_url fits into parameters under 500 characters each", async () => {
  const secret = "a secret that was made at random";
  const context = { text: "&".repeat(1013) };
  const ws_url = await signUrl("wss://app.test/media?a=1&b=2", { secret, context });
  const [connect] = parse(twimlOf(stream(ws_url))).children;
  const parameters = connect?.children[0]?.children ?? [];
  expect(parameters.length).toBeGreaterThan(2);
  for (const { attributes } of parameters) {
    expect(`${attributes.name}${attributes.value}`.length).toBeLessThan(500);
  }
  const query = parameters.map(({ attributes }) => attributes.value).join("");
  expect(`wss://app.test/media?${query}`).toBe(ws_url);
});

test.each([
  ["Twilio", twimlOf],
  ["Telnyx", texmlOf],
] as const)(
  "a document of more than 64 kB is refused for %s, which would end the call",
  (name, documentOf) => {
    // Each is five bytes of XML.
    const prompts = (amount: number) => Array.from({ length: 10 }, () => "&".repeat(amount));
    expect(documentOf(say(prompts(1_250)))).toContain("&amp;");
    expect(() => documentOf(say(prompts(1_500)))).toThrow(
      `prompts must be at most 64 kB as XML: ${name} reads no more`,
    );
  },
);
