import { describe, expect, test } from "vitest";
import { creator } from "../../../src/calls/create.ts";
import { type LiveOptions, press } from "../../../src/calls/index.ts";
import { telnyx } from "../../../src/carriers/telnyx/index.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import { vonage } from "../../../src/carriers/vonage/index.ts";
import { createEmulator } from "../../../src/emulator/index.ts";
import { straight } from "../../../src/http/post.ts";
import type { Service } from "../../../src/service.ts";
import { pem } from "../vonage/keys.ts";

const applicationId = "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab";
const onVonage = vonage({ applicationId });

/** Presses keys, and returns what was sent. */
const sent = async (keys: string, service: Service | undefined, apiKey: string) => {
  const requests: unknown[] = [];
  const fetch = async (url: string, { method, body }: RequestInit) => {
    requests.push([method, url, body]);
    return Response.json({});
  };
  await press("cs_1", keys, { apiKey, baseUrl: "https://v.test", fetch, service } as LiveOptions);
  return requests;
};

test("each service gets the keys in its own words", async () => {
  expect(await sent("12w#", onVonage, pem)).toEqual([
    ["PUT", "https://v.test/v1/calls/cs_1/dtmf", '{"digits":"12p#"}'],
  ]);
  expect(await sent("12#", undefined, "key")).toEqual([
    ["POST", "https://v.test/api/v1/voice/calls/cs_1/dtmf", '{"digits":"12#"}'],
  ]);
});

test.each<[string, Service | undefined, string, string]>([
  ["1", twilio({ accountSid: "AC00000000000000000000000000000000" }), "key", "service"],
  ["1", telnyx({ applicationId: "1" }), "key", "service"],
  ["A", onVonage, pem, "keys"],
  ["1w", undefined, "key", "keys"],
  ["", undefined, "key", "keys"],
  ["1".repeat(33), undefined, "key", "keys"],
  ["12 3", undefined, "key", "keys"],
])("%j is refused before any request", async (keys, service, apiKey, param) => {
  const refused = sent(keys, service, apiKey);
  await expect(refused).rejects.toMatchObject({ name: "BadParametersException", param });
});

describe.each([
  ["outdial's own interface", undefined],
  ["vonage", onVonage],
] as const)("%s", (_, service) => {
  test("an emulated menu hears them, and nobody does once the call is over", async () => {
    const app = (request: Request) => {
      const isFlow = new URL(request.url).pathname === "/flow";
      if (!isFlow) return new Response(null, { status: 204 });
      const streamUrl = ["https://app.test/long.wav"];
      return Response.json(
        service
          ? [{ action: "stream", streamUrl, loop: 0 }]
          : { action: "play", media_url: streamUrl[0] },
      );
    };
    await using emulator = createEmulator({
      service,
      fetch: app,
      callee: [{ type: "until-keys", keys: "2#", timeout: 60_000 }, { type: "hangup" }],
      onCall: () => ({ outcome: "answer", ringDuration: 0 }),
    });
    const { apiKey, fetch } = emulator;
    const options = { apiKey, fetch, baseUrl: "https://emulator.test", service } as LiveOptions;
    const { id } = await creator(straight)(
      {
        ...{ from_number: "+12025550199", to_number: "+12025550100" },
        ...{ flow_url: "https://app.test/flow", status_callback_url: "https://app.test/s" },
      },
      options,
    );
    await expect.poll(() => emulator.call(id)?.state).toBe("answered");
    await press(id, "12#", options);
    expect((await emulator.ended(id)).reason).toBe("normal");
    await expect(press(id, "1", options)).rejects.toMatchObject({ name: "ServiceException" });
  });
});
