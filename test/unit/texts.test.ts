import { describe, expect, test } from "vitest";
import { callbackHandler } from "../../src/callbacks/index.ts";
import { telnyxCalls } from "../../src/carriers/telnyx/index.ts";
import { twilio, twilioCalls } from "../../src/carriers/twilio/index.ts";
import { vonageCalls } from "../../src/carriers/vonage/index.ts";
import { flowHandler, hangup, play, streamSession } from "../../src/flows/index.ts";
import { calls } from "../../src/index.ts";

const params = {
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
};

/** Places a call with options that no type would take. */
const create = (options: object, more: object = {}) =>
  calls.create(
    { ...params, ...more },
    Object({ apiKey: "abcdefgh", baseUrl: "https://voice.test", ...options }),
  );

const secret = "a".repeat(32);
const accountSid = `AC${"0".repeat(32)}`;

describe("the key of a carrier that an environment variable should have had", () => {
  const services = {
    twilio: twilioCalls({ accountSid }),
    vonage: vonageCalls({ applicationId: "78d335fa-323d-4114-9c3d-d6f0d48968cf" }),
    telnyx: telnyxCalls({ applicationId: "1234567890" }),
  };
  test.each(Object.entries(services))(
    "%s: unset, empty or with its line break",
    async (_, service) => {
      for (const apiKey of [undefined, "", `${secret}\n`]) {
        const call = create({ apiKey, service, baseUrl: undefined });
        await expect(call).rejects.toThrow("apiKey must be");
        await expect(call).rejects.toThrow(": is the environment variable set?");
      }
    },
  );
});

const handlers = {
  flowHandler: (options: object) => flowHandler(Object({ onAnswer: () => hangup(), ...options })),
  callbackHandler: (options: object) => callbackHandler(Object({ onEvent: () => {}, ...options })),
};

const notAService = "service must be made by twilio() or the like";

describe.each(Object.entries(handlers))("%s", (_, handler) => {
  test("a service that is no carrier is refused with the next step", () => {
    for (const service of [twilio, "twilio", {}, null, twilioCalls({ accountSid })]) {
      expect(() => handler({ secret, service })).toThrow(notAService);
    }
  });

  test("a service that is undefined counts as left out", () => {
    expect(handler({ secret, service: undefined })).toBeTypeOf("function");
    expect(() => handler({ service: undefined })).toThrow("secret is missing");
  });

  test.each(["secret", "webhookSecret", "verify", "publicUrl"])(
    "%s that is undefined is refused: an unset variable must not switch a check off",
    (name) => {
      const refused = `${name} is undefined: leave it out, as an unset variable must not switch a check off`;
      expect(() => handler({ secret, [name]: undefined })).toThrow(refused);
    },
  );
});

test("calls.create refuses a service that is no carrier with the next step", async () => {
  for (const service of [twilio, "twilio", {}]) {
    await expect(create({ service })).rejects.toThrow(notAService);
  }
});

test("an unknown name has a hint where a known one is near, and only there", async () => {
  const hints = {
    ...{ baseURL: "baseUrl", url: "baseUrl", timeoutMs: "timeout", retires: "retries" },
    ...{ key: "apiKey", abortSignal: "signal", header: "headers" },
  };
  for (const [name, meant] of Object.entries(hints)) {
    await expect(create({ [name]: 1 })).rejects.toThrow(
      `${name} is unknown: did you mean ${meant}?`,
    );
  }
  await expect(create({}, { callbackUrl: "" })).rejects.toThrow(
    "did you mean status_callback_url?",
  );
  for (const name of ["connectionId", "callsPerSecond", "region", "from"]) {
    await expect(create({ [name]: 1 })).rejects.toThrow(`${name} is unknown (`);
  }
  const given = { accountSid, connectionId: "1" };
  expect(() => twilio(given)).toThrow(/^connectionId is unknown$/);
});

test("a path in the place of a URL: the host is missing, too", () => {
  expect(() => play("/hello.wav")).toThrow(
    'media_url must be an absolute URL: add "https://" and the host',
  );
  expect(() => play("app.test/hello.wav")).toThrow(/: add "https:\/\/"$/);
});

test("streamSession with its options among the handlers names the right argument", () => {
  const socket = Object.assign(new EventTarget(), { readyState: 1, send() {}, close() {} });
  const service = twilio({ accountSid, authToken: secret });
  expect(() => streamSession(socket, Object({ service }))).toThrow(
    "service is a field of the third argument: streamSession(socket, handlers, { service })",
  );
});
