// What the carriers' own OpenAPI files say of the fields that we send: twilio_api_v2010 (twilio/twilio-oai), voice.yml
// 1.3.7 (Nexmo/api-specification), and Telnyx's as its npm client has it (texml/accounts/calls; `Method` is in
// texml/calls). By hand, prism was between our client and the emulator with the first two: no violation.
import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { CallFlow, CallParams } from "../../../src/calls/params.ts";
import { telnyx } from "../../../src/carriers/telnyx/index.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import { vonage } from "../../../src/carriers/vonage/index.ts";
import { audio, pause, play, say, spell } from "../../../src/flows/index.ts";
import type { CarrierClient } from "../../../src/options.ts";

/** Why a value breaks the rule of its field, or nothing. */
type Rule = (value: unknown) => string | undefined;

const rule =
  (name: string, isKept: (value: unknown) => boolean): Rule =>
  (value) =>
    isKept(value) ? undefined : `${JSON.stringify(value)} is not ${name}`;

const oneOf = (...values: readonly unknown[]): Rule =>
  rule(`one of ${values}`, (value) => values.includes(value));

const integer = (least: number, most = Number.MAX_SAFE_INTEGER): Rule =>
  rule(
    `an integer from ${least} to ${most}`,
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  );

/** A field of a form: text, whose meaning has a type. */
const written =
  (kept: Rule): Rule =>
  (value) => {
    const text = String(value);
    return kept(/^\d+$/.test(text) ? Number(text) : text);
  };

const uri = rule(
  "a URI",
  (value) => typeof value === "string" && /^https?:\/\/[!#-;=?-[\]_a-z~%]+$/.test(value),
);
const text = (most: number): Rule =>
  rule(
    `a text of at most ${most} characters`,
    (value) => typeof value === "string" && value !== "" && value.length <= most,
  );
const e164 = rule("E.164", (value) => /^\+?\d{7,15}$/.test(String(value)));
const all =
  (items: Rule): Rule =>
  (value) =>
    Array.isArray(value)
      ? value.map(items).find((problem) => problem !== undefined)
      : `${value} is not an array`;
/** @param either - the fields of which one must be there, and no other */
const object =
  (
    fields: Readonly<Record<string, Rule>>,
    required: readonly string[],
    either: readonly string[] = [],
  ): Rule =>
  (value) => {
    if (typeof value !== "object" || value === null) return `${value} is not an object`;
    const missing = required.find((name) => !(name in value));
    if (missing) return `${missing} is missing`;
    if (either.length > 0 && either.filter((name) => name in value).length !== 1) {
      return `one of ${either} is needed`;
    }
    for (const [name, field] of Object.entries(value)) {
      const problem = Object.hasOwn(fields, name) ? fields[name]?.(field) : "is in no table";
      if (problem !== undefined) return `${name}: ${problem}`;
    }
  };

const method = oneOf("GET", "POST");
const phone = (type: string) => object({ type: oneOf(type), number: e164 }, ["type", "number"]);

/** An action of an NCCO without an application: `talk`, `stream` and `wait`. */
const actions: Rule = (value) => {
  const { action } = Object(value);
  const kinds: Readonly<Record<string, Rule>> = {
    talk: object(
      {
        action: oneOf("talk"),
        text: text(1_500),
        language: text(20),
        style: integer(0),
        premium: oneOf(true, false),
        bargeIn: oneOf(false),
      },
      ["action", "text"],
    ),
    stream: object({ action: oneOf("stream"), streamUrl: all(uri) }, ["action", "streamUrl"]),
    wait: object(
      {
        action: oneOf("wait"),
        timeout: rule("0.1 to 7200", (s) => Number(s) >= 0.1 && Number(s) <= 7_200),
      },
      ["action"],
    ),
  };
  return Object.hasOwn(kinds, action) ? kinds[action]?.(value) : `${action} is no such action`;
};

/** The body of a request to create a call, by the carrier. */
const bodies = {
  // Form fields; each value is a list, as a name may be there more than once.
  twilio: object(
    {
      To: all(e164),
      From: all(e164),
      Url: all(uri),
      Twiml: all(text(4_000)),
      Method: all(method),
      StatusCallback: all(uri),
      StatusCallbackMethod: all(method),
      StatusCallbackEvent: all(oneOf("initiated", "ringing", "answered", "completed")),
      Record: all(oneOf("true", "false")),
      Timeout: all(written(integer(0, 600))),
      TimeLimit: all(written(integer(0))),
      MachineDetection: all(oneOf("Enable", "DetectMessageEnd")),
    },
    ["To", "From"],
    ["Url", "Twiml"],
  ),
  vonage: object(
    {
      to: all(phone("phone")),
      from: phone("phone"),
      answer_url: all(uri),
      ncco: all(actions),
      answer_method: method,
      event_url: all(uri),
      event_method: method,
      machine_detection: oneOf("continue", "hangup"),
      length_timer: integer(1, 7_200),
      ringing_timer: integer(1, 120),
    },
    ["to"],
    ["answer_url", "ncco"],
  ),
  telnyx: object(
    {
      To: e164,
      From: e164,
      Url: uri,
      Texml: text(64_000),
      UrlMethod: method,
      Method: method,
      StatusCallback: uri,
      StatusCallbackMethod: method,
      // Separated by spaces.
      StatusCallbackEvent: (events) =>
        all(oneOf("initiated", "ringing", "answered", "completed"))(String(events).split(" ")),
      Timeout: integer(5, 120),
      TimeLimit: integer(30, 14_400),
      Record: oneOf(true, false),
      MachineDetection: oneOf("Enable", "Disable", "DetectMessageEnd"),
      DetectionMode: oneOf("Premium", "Regular", "PremiumCallScreening"),
    },
    ["To", "From"],
    ["Url", "Texml"],
  ),
};

const formOf = (body: string) => {
  const form = new URLSearchParams(body);
  return Object.fromEntries([...form.keys()].map((name) => [name, form.getAll(name)]));
};

const numbers = ["+1202555", "+12025550100", "+491512345678901"];
const ends = ["", "?a=b&c=%20%C3%BC", "?outdial=1795452383.e30.RSLp7Xnf-FV7EG_o", "#rc=5&rp=ct"];

/** Flows for the request, at their limits: markup, every script, the longest text, the longest pause. */
const flows: readonly CallFlow[] = [
  say("Hello."),
  say(["x".repeat(1_500), "ж".repeat(750)]),
  say(['</Say>&"<x>', "日本語 😀", pause(180_000), audio(`https://app.example/a.wav${ends[1]}`)]),
  say(
    Array.from({ length: 10 }, () => spell("QX7K2P")),
    { language: "en-GB" },
  ),
  play(`https://app.example/a.wav${ends[2]}`),
];

/** Calls whose fields are at their limits. */
const calls = (records: readonly (boolean | undefined)[]): readonly CallParams[] =>
  records.flatMap((record) =>
    numbers.flatMap((to_number) => {
      const placed = {
        ...{ from_number: "+12025550199", to_number },
        ...(record !== undefined && { record }),
      };
      return [
        ...ends.map((end) => ({
          ...placed,
          flow_url: `https://app.example/flow${end}`,
          status_callback_url: `https://app.example/status${end}`,
        })),
        ...flows.map((flow) => ({ ...placed, flow })),
      ];
    }),
  );

const problemsOf = async (
  { encodeCall }: CarrierClient,
  key: string,
  records: readonly (boolean | undefined)[],
  check: (body: string) => string | undefined,
): Promise<readonly (string | undefined)[]> =>
  Promise.all(
    calls(records).map(async (call) => {
      try {
        const { body } = await encodeCall(call, "https://carrier.test", key);
        return check(body);
      } catch (error) {
        // What answered decides nothing in a flow of the request.
        if (call.flow && Object(error).param === "machineDetection") return;
        throw error;
      }
    }),
  );

const none = (problems: readonly unknown[]): void => {
  expect(problems.length).toBeGreaterThan(0);
  expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
};

const accountSid = "AC0123456789abcdef0123456789abcdef";
const applicationId = "78d335fa-323d-0114-9c3d-d6f0d48968cf";

describe("the fields that we send are those of the carrier's OpenAPI file, within its limits", () => {
  test.each([
    {},
    { machineDetection: "Enable" },
    { machineDetection: "DetectMessageEnd" },
    { ringTimeout: 1_000, timeLimit: 1_000 },
    { ringTimeout: 600_000, timeLimit: 86_400_000 },
  ] as const)("Twilio, %j", async (options) => {
    const { client } = twilio({ accountSid, ...options });
    const check = (body: string) => bodies.twilio(formOf(body));
    none(await problemsOf(client, "a token", [undefined, true, false], check));
  });

  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const pem = String(privateKey.export({ type: "pkcs8", format: "pem" }));

  test.each([
    {},
    { machineDetection: "continue" },
    { machineDetection: "hangup" },
    { ringTimeout: 1_000, timeLimit: 1_000 },
    { ringTimeout: 120_000, timeLimit: 7_200_000 },
  ] as const)("Vonage, %j", async (options) => {
    const { client } = vonage({ applicationId, ...options });
    const check = (body: string) => bodies.vonage(JSON.parse(body));
    none(await problemsOf(client, pem.trim().replaceAll("\n", " "), [undefined, false], check));
  });

  test.each([
    {},
    { machineDetection: "Enable", detectionMode: "Premium" },
    { machineDetection: "DetectMessageEnd", detectionMode: "Regular" },
    { ringTimeout: 5_000, timeLimit: 30_000 },
    { ringTimeout: 120_000, timeLimit: 14_400_000 },
  ] as const)("Telnyx, %j", async (options) => {
    const { client } = telnyx({ applicationId: "1773070540731319841", ...options });
    const check = (body: string) => bodies.telnyx(JSON.parse(body));
    none(await problemsOf(client, "KEY0123456789", [undefined, true, false], check));
  });

  test("the tables find what they forbid", () => {
    const form = "To=%2B12025550100&From=%2B12025550199&Url=https%3A%2F%2Fapp.example%2F";
    expect(bodies.twilio(formOf(form))).toBeUndefined();
    expect(bodies.twilio(formOf(`${form}&Timeout=601`))).toContain("Timeout");
    expect(bodies.twilio(formOf(`${form}&Timeout=1.5`))).toContain("Timeout");
    expect(bodies.twilio(formOf(`${form}&StatusCallbackEvent=busy`))).toContain("busy");
    expect(bodies.twilio(formOf(`${form}&status=1`))).toBe("status: is in no table");
    expect(bodies.twilio(formOf("To=%2B12025550100"))).toBe("From is missing");
    expect(bodies.twilio(formOf(`${form}&Twiml=x`))).toBe("one of Url,Twiml is needed");
    const call = {
      to: [{ type: "phone", number: "12025550100" }],
      answer_url: ["https://a.test/"],
    };
    expect(bodies.vonage(call)).toBeUndefined();
    expect(bodies.vonage({ ...call, to: [{ type: "phone", number: "12" }] })).toContain("E.164");
    expect(bodies.vonage({ ...call, answer_url: ["https://a.test/ü"] })).toContain("URI");
    expect(bodies.vonage({ ...call, ringing_timer: 0 })).toContain("ringing_timer");
    const talking = { to: call.to, ncco: [{ action: "talk", text: "x".repeat(1_501) }] };
    expect(bodies.vonage(talking)).toContain("ncco: text");
    expect(bodies.vonage({ to: call.to, ncco: [{ action: "input" }] })).toContain("no such action");
    const texml = { To: "+12025550100", From: "+12025550199", Texml: "<Response/>" };
    expect(bodies.telnyx({ ...texml, Timeout: 121 })).toContain("Timeout");
    expect(bodies.telnyx({ ...texml, StatusCallbackEvent: "ringing,answered" })).toContain("Event");
  });
});
