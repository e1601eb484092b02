import { NCCOBuilder } from "@vonage/voice";
import VoiceResponse from "twilio/lib/twiml/VoiceResponse.js";
import { describe, expect, test } from "vitest";
import { signUrl } from "../../src/callbacks/signed-url.ts";
import { telnyx, telnyxCalls } from "../../src/carriers/telnyx/index.ts";
import { twilio, twilioCalls } from "../../src/carriers/twilio/index.ts";
import { vonage, vonageCalls } from "../../src/carriers/vonage/index.ts";
import { flowHandler } from "../../src/flows/handler.ts";
import { spell } from "../../src/flows/prompts.ts";
import { record } from "../../src/flows/record.ts";
import { gather, type Say, say } from "../../src/flows/say.ts";
import type { Service } from "../../src/service.ts";
import { converse, services, spokenIn } from "./conversations.ts";

const secret = "a secret that was made at random";
const flow_url = "https://app.test/2";
const accountSid = "AC00000000000000000000000000000000";
const applicationId = "1494404757140276705";
const uuid = "78d335fa-323d-0114-9c3d-d6f0d48968cf";

const form = `AccountSid=${accountSid}&CallSid=CA1&From=%2B12025550199&To=%2B12025550100`;
const json = JSON.stringify({ uuid: "u-1", from: "12025550199", to: "12025550100" });

/** The document of an action. */
const documentOf = async (service: Service, action: Say, body: string) => {
  const handler = flowHandler({ secret, service, onAnswer: () => action });
  const url = await signUrl("https://app.test/flow", { secret });
  return (await handler(new Request(url, { method: "POST", body }))).text();
};

const german = say("Guten Tag.", { language: "de", flow_url });
const english = say("Hello.", { language: "en-us", flow_url });
const plain = say("Hello.", { flow_url });

describe("a voice", () => {
  test.each([
    {
      name: "Twilio's speaks its language, as the builder prints it",
      service: twilio({ accountSid, voice: { "en-US": "Polly.Joanna-Neural" } }),
      spoken: { voice: "Polly.Joanna-Neural", language: "en-us" },
      other: { language: "de" },
    },
    {
      name: "Telnyx' speaks its language; another language is spoken by alice, and none by the default",
      service: telnyx({ applicationId, voice: { "en-US": "Azure.en-US-AvaNeural" } }),
      spoken: { voice: "Azure.en-US-AvaNeural", language: "en-us" },
      other: { voice: "alice", language: "de" },
    },
  ])("of $name", async ({ service, spoken, other }) => {
    for (const [action, attributes] of [
      [english, spoken],
      [german, other],
      [plain, {}],
    ] as const) {
      const response = new VoiceResponse();
      response.say(attributes as never, String(action.prompts[0]));
      response.redirect({ method: "POST" }, flow_url);
      expect(await documentOf(service, action, form)).toBe(response.toString());
    }
  });

  test("of Vonage's speaks its language, as the builder gives it", async () => {
    const service = vonage({
      applicationId: uuid,
      voice: { "en-US": { style: 2, premium: true } },
    });
    for (const [action, fields] of [
      [english, { language: "en-us", style: 2, premium: true }],
      [german, { language: "de" }],
      [plain, {}],
    ] as const) {
      const builder = new NCCOBuilder();
      builder.addAction({ action: "talk", text: action.prompts[0], ...fields } as never);
      const [talk] = JSON.parse(await documentOf(service, action, json));
      expect(talk).toEqual(JSON.parse(JSON.stringify(builder.build()))[0]);
    }
  });

  test("also speaks questions", async () => {
    const asking = gather("Press 1.", { language: "en-US", digits: 1, flow_url });
    const telling = record("Tell us.", { language: "en-US", flow_url });
    for (const action of [asking, telling]) {
      const spoken = action as unknown as typeof plain;
      const service = twilio({ accountSid, voice: { "en-US": "Polly.Joanna" } });
      expect(await documentOf(service, spoken, form)).toContain('<Say voice="Polly.Joanna"');
      const other = vonage({ applicationId: uuid, voice: { "en-US": { style: 1 } } });
      expect(await documentOf(other, spoken, json)).toContain('"style":1');
    }
  });
});

describe("the shape of voice", () => {
  const named = "voice must be an object that has for each language tag, such as en-GB, ";
  const names = [
    "Polly.Joanna",
    null,
    [],
    { english: 1 },
    { "en US": "a" },
    { "en-US": "" },
    { "en-US": "a\nb" },
  ];

  test.each(names)("%j is no voice of Twilio's and Telnyx'", (voice) => {
    const make = { accountSid, voice: voice as never };
    expect(() => twilio(make)).toThrow(`${named}the name of a voice`);
    expect(() => telnyx({ applicationId, voice: voice as never })).toThrow(named);
  });

  test.each([
    ...["Amy", { "en-US": "Amy" }, { "en-US": { style: -1 } }, { "en-US": { style: "1" } }],
    ...[{ "en-US": { premium: 1 } }, { "en-US": { name: "Amy" } }, { "en-US": null }],
  ])("%j is no voice of Vonage's", (voice) => {
    const make = () => vonage({ applicationId: uuid, voice: voice as never });
    expect(make).toThrow(`${named}{ style, premium }`);
  });

  test("is refused where only calls are placed", () => {
    const voice = {};
    expect(() => twilioCalls({ accountSid, voice } as never)).toThrow("voice is unknown");
    expect(() => telnyxCalls({ applicationId, voice } as never)).toThrow("voice is unknown");
    expect(() => vonageCalls({ applicationId: uuid, voice } as never)).toThrow("voice is unknown");
  });
});

describe("spell", () => {
  test.each([
    ["402913", "4, 0, 2, 9, 1, 3"],
    ["AB-12 c", "A, B, 1, 2, c"],
    ["Ж٣", "Ж, ٣"],
    ["7", "7"],
  ])("%j is %j", (text, spoken) => expect(spell(text)).toBe(spoken));

  test.each(["", " - ", "a.b", "{{a", "<b>", "x".repeat(101), "😀", 402913, null])(
    "%j is refused, and not repeated",
    (text) =>
      expect(() => spell(text as never)).toThrow(/^text must be 1 to 100 letters and digits$/),
  );

  test.each(services)("$name: speaks one by one", async (service) => {
    const { call } = await converse(
      service,
      { onAnswer: () => say(["Your code is", spell("402913")]) },
      [],
    );
    expect(spokenIn(call)).toEqual(["Your code is", "4, 0, 2, 9, 1, 3"]);
  });
});
