// Why a call ended as it did: what is shown of what services say, against services that say anything.
import { describe, expect, test } from "vitest";
import { type LiveOptions, type Why, why } from "../../../src/calls/index.ts";
import { lineOf, shownText } from "../../../src/calls/shown-text.ts";
import { telnyx } from "../../../src/carriers/telnyx/index.ts";
import { twilio, twilioCalls } from "../../../src/carriers/twilio/index.ts";
import { vonage } from "../../../src/carriers/vonage/index.ts";
import { Client } from "../../../src/index.ts";
import { pem } from "../vonage/keys.ts";

const apiKey = "the-auth-token-0123456789";
const accountSid = "AC00000000000000000000000000000000";
const id = "CA0123456789abcdef0123456789abcdef";
const account = telnyx({
  applicationId: "1",
  accountSid: "f5586561-8ff0-4291-a51b-c7dfe4139ff9",
});
const application = vonage({ applicationId: "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab" });
const call = { sid: id, status: "completed", from: "+12025550199", to: "+12025550100" };

/** Twilio with a call and an answer to the request for its notifications. */
const twilioWith = (list: () => Response, given: object = call) => {
  const sent: string[] = [];
  const options: LiveOptions = {
    ...{ apiKey, retries: 0, service: twilio({ accountSid }) },
    fetch: async (url, init) => {
      sent.push(`${init.method} ${new URL(url).pathname}`);
      return url.endsWith("/Notifications.json") ? list() : Response.json(given);
    },
  };
  return { options, sent };
};

const notification = (fields: Readonly<Record<string, string>>, others: object = {}) => ({
  call_sid: id,
  error_code: "11200",
  log: "0",
  message_text: `${new URLSearchParams(fields)}`,
  request_url: "https://app.test/flow?outdial=signed",
  request_variables: "Digits=402913&To=%2B12025550100",
  response_body: "Your code is 402913",
  ...others,
});

const listOf = (...notifications: unknown[]) => Response.json({ notifications });

const whyWith = (...notifications: unknown[]): Promise<Why> =>
  why(id, twilioWith(() => listOf(...notifications)).options);

describe("on Twilio", () => {
  test("of a notification only the code, the link and Msg are shown", async () => {
    const Msg = "Got HTTP 502 response to https://app.test/flow?outdial=signed";
    const text = { EmailNotification: "false", Msg, url: "https://app.test/flow?outdial=signed" };
    const { options, sent } = twilioWith(() => listOf(notification(text)));
    const found = await why(id, options);
    expect(sent).toEqual(
      ["", "/Notifications"].map(
        (end) => `GET /2010-04-01/Accounts/${accountSid}/Calls/${id}${end}.json`,
      ),
    );
    expect(found).toEqual({
      ...{ id, state: "completed", complete: true },
      causes: [
        {
          code: "11200",
          link: "https://www.twilio.com/docs/errors/11200",
          text: "Got HTTP 502 response to https://app.test",
          level: "error",
        },
      ],
      explanation: expect.stringMatching(
        /^The call was answered, but its flow could not be followed\. .*11200, "Got HTTP 502 .*Look in the log of your server/,
      ),
    });
    expect(JSON.stringify(found)).not.toMatch(/signed|402913|2025550/);
  });

  test("an empty Msg, which Twilio sends, is the status that your server answered with", async () => {
    const { causes } = await whyWith(notification({ Msg: "", httpResponse: "403" }));
    expect(causes).toMatchObject([{ text: "HTTP 403" }]);
    const [hostile] = (await whyWith(notification({ Msg: "", httpResponse: "+12025550100" })))
      .causes;
    expect(hostile).not.toHaveProperty("text");
  });

  test("errors come before warnings, each once, and those of other calls not at all", async () => {
    const one = notification({ Msg: "one" });
    const warned = notification({ Msg: "warned" }, { log: "1", error_code: "12200" });
    const other = notification({ Msg: "other" }, { call_sid: id.replace("0123", "ffff") });
    const { causes } = await whyWith(warned, other, one, one, null, "text", {});
    expect(causes.map(({ text, level }) => [text, level])).toEqual([
      ["one", "error"],
      ["warned", "warning"],
    ]);
  });

  test("of four thousand notifications twenty are shown, and there are more", async () => {
    const many = Array.from({ length: 4_000 }, (_, at) => notification({ Msg: `m${at}` }));
    const list = many.map(({ call_sid, error_code, log, message_text }) => ({
      ...{ call_sid, error_code, log, message_text },
    }));
    const found = await whyWith(...list);
    expect([found.causes.length, found.complete]).toEqual([20, false]);
    expect(found.explanation).toContain("could not be read as a whole");
  });

  test("a second page is not read, and there are more", async () => {
    const { options, sent } = twilioWith(() =>
      Response.json({ notifications: [], next_page_uri: "/elsewhere?PageToken=1" }),
    );
    expect(await why(id, options)).toMatchObject({ causes: [], complete: false });
    expect(sent).toHaveLength(2);
  });

  test.each<[string, () => Response]>([
    ["404", () => Response.json({ code: 20_404 }, { status: 404 })],
    ["403", () => Response.json({ message: "No, +12025550100" }, { status: 403 })],
    ["500", () => new Response("<html>", { status: 500 })],
    ["a page", () => new Response("<!doctype html>")],
    ["no list", () => Response.json({ notifications: "none" })],
    ["more than is read", () => Response.json({ notifications: ["x".repeat(2 ** 20)] })],
    ["a redirect", () => Response.redirect("https://elsewhere.test/", 302)],
    ["429", () => new Response("{}", { status: 429, headers: { "Retry-After": "3600" } })],
  ])("after %s for the list, the call itself is still explained", async (_, list) => {
    const { options } = twilioWith(list, { ...call, status: "busy" });
    const found = await why(id, options);
    expect(found).toMatchObject({ state: "failed", reason: "busy", complete: false });
    expect(found.causes).toEqual([{ code: "busy", level: "error" }]);
    expect(found.explanation).toMatch(/^The line of the callee was busy\./);
  });

  test("a list that never comes ends with the timeout, or the signal", async () => {
    const never = () => new Promise<Response>(() => {});
    const fetch: LiveOptions["fetch"] = async (url) =>
      url.endsWith("/Notifications.json") ? never() : Response.json(call);
    const options = { apiKey, service: twilio({ accountSid }), fetch };
    await expect(why(id, { ...options, timeout: 20 })).rejects.toMatchObject({
      name: "TimeoutException",
    });
    const { signal, abort } = new (class {
      readonly controller = new AbortController();
      readonly signal = this.controller.signal;
      readonly abort = () => this.controller.abort(new Error("mine"));
    })();
    const asked = why(id, { ...options, timeout: false, signal });
    abort();
    await expect(asked).rejects.toThrow("mine");
  });

  test("what a body never ends with ends with the timeout", async () => {
    const endless = () => new Response(new ReadableStream({ pull: () => new Promise(() => {}) }));
    const { options } = twilioWith(endless);
    await expect(why(id, { ...options, timeout: 20 })).rejects.toMatchObject({
      name: "TimeoutException",
    });
  });

  test("a key, a number and a text are in none of it, however a Msg spells them", async () => {
    const said = [
      `The token ${apiKey} is wrong`,
      `Authorization: Basic ${btoa(`${accountSid}:${apiKey}`)}`,
      "To +1 202 555 0100 is invalid",
      "To 2 0 2 5 5 5 0 1 0 0",
      "To (202) 555-0100, tel:+12025550100",
      "To +1\u200b202\u200b5550100",
      "To ＋１２０２５５５０１００",
      "To &#43;1&#50;02 555 0100",
      "To %2B12025550100",
      "To two zero two five five five zero one zero zero",
      "Digits 402913",
      'Say "Your code is on its way, Anna"',
      "<b onclick=steal()>bold</b><script>alert(1)</script>",
      "user:password@app.test/flow",
      "https://user:password@app.test/path/secret?token=1#part",
      "//app.test/path?outdial=eyJhbGciOi",
      `\u001b[31mred\u001b[0m\r\nHTTP/1.1 200`,
    ];
    const found = await whyWith(...said.map((Msg) => notification({ Msg })));
    const shown = JSON.stringify(found);
    expect(shown).not.toContain(apiKey);
    expect(
      shown.replaceAll(/"(id|link)":"[^"]*"|docs\/errors\/\d+|"code":"11200"|11200/g, ""),
    ).not.toMatch(/\d{4}|2 0 2|zero two|Anna|[<>]|script>|password|secret|outdial=|\\u00|\\n/i);
    expect(shown).toContain("https://app.test");
  });

  test.each(["fedcba9876543210fedcba9876543210", "the-auth-token-0123456789", "sk_live_4fT9aQ"])(
    "no piece of the key %s is shown, however it is spelled",
    async (key) => {
      const wide = [...key].map((one) => String.fromCharCode(one.charCodeAt(0) + 0xfee0)).join("");
      const spelled = [
        ...[key, wide, key.toUpperCase(), btoa(key), [...key].join("\u200b"), [...key].join(" ")],
        ...[encodeURIComponent(key).replace("e", "%65"), `${key.slice(0, 9)}<b>${key.slice(9)}`],
      ];
      for (const spelling of spelled) {
        const list = () => listOf(notification({ Msg: `The token ${spelling} is wrong` }));
        const { causes, explanation } = await why(id, { ...twilioWith(list).options, apiKey: key });
        const text = `${causes[0]?.text} ${explanation}`.toLowerCase().replace(/[^a-z\d]/g, "");
        for (let at = 0; at + 6 <= key.length; at++) {
          const piece = key.slice(at, at + 6).toLowerCase();
          if (/^[a-z\d]+$/.test(piece)) expect(text, spelling).not.toContain(piece);
        }
      }
    },
  );

  test("a code, a reason and a link are the carrier's, and nothing else", async () => {
    const odd = notification({ Msg: "odd" }, { error_code: "+12025550100", more_info: "http://x" });
    expect((await whyWith(odd)).causes).toEqual([{ text: "odd", level: "error" }]);
    const own = { apiKey, baseUrl: "https://voice.test" };
    const reasons = {
      "2025550100": undefined,
      "Call Anna": undefined,
      spam_blocked: "spam_blocked",
    };
    for (const [reason, shown] of Object.entries(reasons)) {
      const body = { id: "cs_1", state: "failed", reason };
      const found = await why("cs_1", { ...own, fetch: async () => Response.json(body) });
      expect(found.reason).toBe(shown);
    }
  });
});

describe("each service", () => {
  const asked = async (options: object, body: object, of = id) =>
    why(of, Object.assign({ fetch: async () => Response.json(body) }, options) as never);

  test("Vonage's and Telnyx' word for a failure is the code", async () => {
    const ofVonage = { uuid: id, status: "timeout" };
    expect(await asked({ apiKey: pem, service: application }, ofVonage)).toMatchObject({
      ...{ state: "failed", reason: "no_answer", causes: [{ code: "timeout" }], complete: true },
    });
    const ofTelnyx = { sid: id, status: "no-answer" };
    expect(await asked({ apiKey, service: account }, ofTelnyx)).toMatchObject({
      ...{ state: "failed", reason: "no_answer", causes: [{ code: "no-answer" }], complete: true },
    });
  });

  test("a call that is not over has not failed", async () => {
    const own = { apiKey, baseUrl: "https://voice.test" };
    const found = await asked(own, { id: "cs_1", state: "ringing" }, "cs_1");
    expect(found).toMatchObject({ state: "ringing", causes: [], complete: true });
    expect(found.explanation).toMatch(/^The call is not over/);
  });

  test("takes a client, and refuses what only places calls by name", async () => {
    const { options } = twilioWith(() => listOf());
    const { apiKey: key, ...others } = options;
    using client = new Client(key, others as never);
    expect(await why(id, client)).toMatchObject({ state: "completed" });
    const service = twilioCalls({ accountSid }) as never;
    await expect(why(id, { apiKey, service })).rejects.toThrow(
      "service must be the whole twilio(…): twilioCalls(…) only places calls",
    );
  });

  test("an id of another account is not found, and the exception has no number", async () => {
    const refused = () =>
      Response.json({ code: 20_404, message: "No call of +12025550100" }, { status: 404 });
    const options = { apiKey, service: twilio({ accountSid }), fetch: async () => refused() };
    const error = await why(id, options).catch((thrown) => thrown);
    expect([error.name, error.code, error.placed]).toEqual(["ServiceException", 404, undefined]);
    expect(JSON.stringify([error.message, error])).not.toContain("2025550100");
  });
});

describe("the text of a service", () => {
  test.each([
    ["step 1: flow_url answered HTTP 401 (outdial-refused: no_token)"],
    ["step 2: flow_url gave no answer: no answer within 10000 ms"],
    ["step 1: flow_url gave no answer: connect ECONNREFUSED 127.0.0.1:3000"],
    ["step 3: on_busy.media_url answered HTTP 404"],
    ["step 1: Url answered the type text/html, not text/xml"],
    ["HTTP Connection Failure - Read timed out"],
    ["Error on line 12 of document: Content is not allowed in prolog."],
  ])("stays where it has nothing to hide: %s", (text) => {
    expect(shownText(lineOf(text))).toBe(text);
  });

  test.each([
    ["https://app.test/flow'secret", "https://app.test"],
    ["(see https://app.test/flow?x=1).", "(see https://app.test)."],
    ["wss://app.test/media", "wss://app.test"],
    ["data:text/plain,hello", "…"],
    ["https:\\\\app.test\\path", "…"],
    ["app.test/flow/token", "…"],
    ["/flow/token", "…"],
    ["2 . . . . 0 . . . . 2 . . . . 5", "***"],
    ["2x0x2x5x5x5", "***"],
    ["4️⃣0️⃣2️⃣9️⃣", "***"],
    ["٤٠٢٩١٣", "***"],
    ["HTTP 404 - 12025550100", "HTTP 404 ***"],
    ["10000 ms, 12025550100 ms", "10000 ms, *** ms"],
    ["https://+12025550100.example/", "https://***.example"],
    ["don't stop, can't go", "don't stop, can't go"],
    ["can't say 'Don't forget it, Ada'", "can't say '…'"],
    ["can’t say ‘Don’t forget it, Ada’", "can’t say ‘…’"],
    ["say ‹Hello, Ada›, `Hello, Ada` and 「Hello, Ada」", "say ‹…›, `…` and 「…」"],
    ["the field `text` of `say`", "the field `text` of `say`"],
    [String.raw`bad: {\"text\":\"Your table is ready\"}`, "bad: …"],
    [String.raw`bad: "Ada said \"yes, of course\" to us"`, 'bad: "…"'],
  ])("hides what is no explanation: %s", (text, shown) => {
    expect(shownText(lineOf(text))).toBe(shown);
  });

  test("a number that is none has no part in it: no pattern is made of it that takes minutes, or has the key in its error", async () => {
    for (const digits of [400, 400_000]) {
      const from = `+${"1".repeat(digits)}`;
      const list = () => listOf(notification({ Msg: "1".repeat(30) }));
      const { causes } = await why(id, twilioWith(list, { ...call, from }).options);
      expect(causes, `${digits}`).toMatchObject([{ text: "***" }]);
    }
  });

  test("of a notification's text only its beginning is read", async () => {
    const read = await whyWith(
      { ...notification({}), message_text: `Msg=late&${"a&".repeat(8_000)}httpResponse=404` },
      { ...notification({}), message_text: `${"a&".repeat(10_000)}Msg=never` },
    );
    expect(read.causes).toMatchObject([{ text: "late" }, { code: "11200" }]);
    expect(read.causes[1]?.text).toBeUndefined();
  });

  test("costs no time that grows with its square: a service may send what takes the longest", async () => {
    const Msg = "㌀".repeat(1_200);
    const list = Array.from({ length: 80 }, (_, at) => ({
      ...{ call_sid: id, error_code: "11200", log: "0", message_text: `Msg=${Msg}${at}` },
    }));
    expect((await whyWith(...list)).causes).toMatchObject([{ text: "…" }]);
    for (const word of ["a", "1x", '"a ', " 'a ", "<", "one", "://", "a/"]) {
      expect(shownText(lineOf(word.repeat(4_000))).length).toBeLessThanOrEqual(300);
    }
  });
});
