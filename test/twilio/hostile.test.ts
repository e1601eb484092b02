import fc from "fast-check";
import { expect, it } from "vitest";
import { createEmulator } from "../../src/emulator/index.ts";
import { answering, from } from "../carriers/stage.ts";
import { accountSid, authToken } from "./stage.ts";

const origin = "https://emulator.test/2010-04-01/Accounts";
const Authorization = `Basic ${btoa(`${accountSid}:${authToken}`)}`;

/** An emulator in this process, whose application answers every request in the same way. */
const emulate = (answer: () => Response) =>
  createEmulator({
    service: { name: "twilio", account: accountSid },
    apiKey: authToken,
    clock: "instant",
    fetch: answer,
  });

const names = [
  "To",
  "From",
  "Url",
  "Twiml",
  "Method",
  "StatusCallback",
  "StatusCallbackEvent",
  "Timeout",
  "TimeLimit",
  "Record",
  "Status",
];
const value = fc.oneof(
  fc.constantFrom(
    from,
    answering,
    "",
    "https://app.test/voice",
    "https://[",
    "//a",
    "<Response/>",
    "completed",
  ),
  fc.string({ unit: "binary" }),
);

it("any form is answered in Twilio's form, with no status of a crash, and signed in or not", async () => {
  const emulator = emulate(
    () => new Response("<Response/>", { headers: { "Content-Type": "text/xml" } }),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.constantFrom(...names), value)),
      fc.constantFrom(
        "Calls.json",
        `Calls/CA${"0".repeat(32)}.json`,
        "Calls/.json",
        "Recordings/RE",
        "",
      ),
      fc.oneof(
        fc.constant(Authorization),
        fc.constantFrom("Basic", "Basic !", "Basic YQ==", "Bearer a", ""),
      ),
      async (fields, path, authorization) => {
        const response = await emulator.fetch(`${origin}/${accountSid}/${path}`, {
          method: "POST",
          headers: { Authorization: authorization },
          body: new URLSearchParams(fields.map(([name, text]) => [name, text])),
        });
        const body = await response.json();
        expect([201, 400, 401, 404]).toContain(response.status);
        if (response.status === 201) expect(body.sid).toMatch(/^CA[\da-f]{32}$/);
        else expect(body).toMatchObject({ code: expect.any(Number), status: response.status });
        if (authorization !== Authorization) expect([401, 404]).toContain(response.status);
      },
    ),
  );
  await emulator.close();
});

const elements = [
  "Say",
  "Play",
  "Gather",
  "Dial",
  "Connect",
  "Start",
  "Stop",
  "Stream",
  "Redirect",
  "Pause",
  "Number",
  "Reject",
  "a",
];
const attributes = [
  "url",
  "action",
  "loop",
  "length",
  "numDigits",
  "timeout",
  "track",
  "finishOnKey",
  "name",
  "digits",
];

const { document } = fc.letrec((tie) => ({
  element: fc
    .tuple(
      fc.constantFrom(...elements),
      fc.dictionary(
        fc.constantFrom(...attributes),
        fc.constantFrom("", "0", "1", "999", "-1", "wss://a.test/", "//", "both_tracks"),
      ),
      fc.array(
        fc.oneof(
          { depthSize: "small" },
          fc.constantFrom("", "text", "+12025550101", "https://app.test/a", "&amp;", "]]>", "&x;"),
          tie("element"),
        ),
        { maxLength: 3 },
      ),
    )
    .map(([name, given, children]) => {
      const text = Object.entries(given).map(([key, each]) => ` ${key}="${each}"`);
      return `<${name}${text.join("")}>${children.join("")}</${name}>`;
    }),
  document: fc
    .array(tie("element"), { maxLength: 4 })
    .map((children) => `<Response>${children.join("")}</Response>`),
}));

it("any document ends the call, with a state that Twilio knows and no error of the emulator's own", async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(document, fc.string({ unit: "binary" })), async (twiml) => {
      const emulator = emulate(() => new Response(null, { status: 404 }));
      const response = await emulator.fetch(`${origin}/${accountSid}/Calls.json`, {
        method: "POST",
        headers: { Authorization },
        body: new URLSearchParams({ To: answering, From: from, Twiml: String(twiml) || "-" }),
      });
      const { sid } = await response.json();
      const { state, reason, flow_error = "" } = await emulator.ended(sid);
      expect(state).toBe("completed");
      expect(["normal", "flow_error", "max_duration"]).toContain(reason);
      expect(flow_error).not.toContain("flow_url");
      await emulator.close();
    }),
  );
});
