import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { applicationId } from "../unit/vonage/service.ts";
import { callOf, from, place, startApplication, startVonage, to } from "./stage.ts";

const waiting = [{ action: "wait", timeout: 3 }];

/** A call to its end, and what came to `/events`. */
const called = async ({
  to: number = to,
  more = {},
  answers = {},
  ...options
}: Parameters<typeof startVonage>[0] & {
  to?: string;
  more?: object;
  answers?: Parameters<typeof startApplication>[0];
} = {}) => {
  const application = await startApplication({ "/answer": waiting, ...answers });
  const { emulator, client, baseUrl } = await startVonage(options);
  const uuid = await place(client, callOf(application.origin, more, number));
  return { ...application, emulator, client, baseUrl, uuid, call: await emulator.ended(uuid) };
};

const iso = (time = 0) => new Date(time).toISOString();

describe("events, each of which Vonage's own verifier accepts", () => {
  it("are those of a call in order, with all that Vonage documents", async () => {
    const { at, uuid, call } = await called();
    const { initiated_at, answered_at, ended_at } = call;
    const common = {
      from,
      to,
      uuid,
      conversation_uuid: expect.stringMatching(/^CON-/),
      direction: "outbound",
    };
    expect(at("/events")).toEqual([
      { ...common, status: "started", timestamp: iso(initiated_at) },
      { ...common, status: "ringing", timestamp: iso(initiated_at) },
      { ...common, status: "answered", timestamp: iso(answered_at) },
      {
        ...common,
        status: "completed",
        timestamp: iso(ended_at),
        start_time: iso(answered_at),
        end_time: iso(ended_at),
        duration: "3",
        rate: expect.any(String),
        price: expect.any(String),
        network: expect.any(String),
        disconnected_by: "platform",
      },
    ]);
    const conversations = at("/events").map(({ conversation_uuid }) => conversation_uuid);
    expect(new Set(conversations).size).toBe(1);
  });

  it("have a token with the hash of the body, which jsonwebtoken made the same way", async () => {
    const tokens: unknown[] = [];
    const bodies: string[] = [];
    const { call } = await called();
    for (const entry of call.history) {
      if (entry.type !== "notification") continue;
      const [, claims = ""] = entry.request.headers.Authorization?.split(".") ?? [];
      tokens.push(JSON.parse(atob(claims.replaceAll("-", "+").replaceAll("_", "/"))));
      bodies.push(entry.request.body);
    }
    expect(tokens).toEqual(
      bodies.map((body) => ({
        iat: expect.any(Number),
        jti: expect.stringMatching(/^[\da-f-]{36}$/),
        iss: "Vonage",
        payload_hash: createHash("sha256").update(body).digest("hex"),
        api_key: expect.any(String),
        application_id: applicationId,
      })),
    );
    expect(tokens).toHaveLength(4);
  });

  it.each([
    ["12025550101", "busy", undefined],
    ["12025550102", "timeout", undefined],
    ["12025550104", "failed", "cannot_route"],
  ])(
    "of %s: %s, and then completed, as one that was never answered",
    async (to, status, detail) => {
      const { at } = await called({ to });
      const [event, completed, ...none] = at("/events").slice(-2);
      expect(event).toMatchObject({ status, ...(detail && { detail }) });
      expect(completed).toMatchObject({ status: "completed", start_time: null, duration: "0" });
      expect(none).toEqual([]);
    },
  );

  it("of a rejected call end with rejected", async () => {
    const { at } = await called({ to: "12025550103" });
    expect(at("/events").map(({ status }) => status)).toEqual(["started", "ringing", "rejected"]);
  });

  it("say who ended the call", async () => {
    const by = async (options: Parameters<typeof called>[0]) =>
      (await called(options)).at("/events").at(-1)?.disconnected_by;
    expect(await by({ callee: [{ type: "hangup" }] })).toBe("user");
    expect(await by({ more: { lengthTimer: 1 } })).toBe("platform");
  });

  it("come by GET with the same fields in the query", async () => {
    const { received } = await called({ more: { eventMethod: "GET" } });
    const events = received.filter(({ path }) => path === "/events");
    expect(events.map(({ method, fields }) => [method, fields.status])).toEqual([
      ["GET", "started"],
      ["GET", "ringing"],
      ["GET", "answered"],
      ["GET", "completed"],
    ]);
  });

  it.each([
    ["human", { behavior: "continue" }, true, [[undefined, 2_000]]],
    ["machine", { behavior: "continue" }, true, [[undefined, 2_000]]],
    ["human", { behavior: "continue", mode: "detect_beep" }, true, [[undefined, 2_000]]],
    [
      "machine",
      { behavior: "continue", mode: "detect_beep" },
      true,
      [
        [undefined, 2_000],
        ["beep_start", 6_500],
      ],
    ],
    [
      "machine",
      { behavior: "continue", mode: "detect_beep", beep_timeout: 50 },
      false,
      [
        [undefined, 2_000],
        ["beep_timeout", 50_000],
      ],
    ],
  ] as const)(
    "tell that a %s answered: %j, beep %s",
    async (answeredBy, detection, beep, states) => {
      const { at, uuid, call } = await called({
        more: { advancedMachineDetection: detection },
        answers: { "/answer": [{ action: "wait", timeout: 60 }] },
        onCall: () => ({ outcome: "answer", answeredBy, greeting: 6_000, beep }),
      });
      const events = at("/events").filter(({ call_uuid }) => call_uuid === uuid);
      const times = events.map(({ status, sub_state, timestamp, ...others }) => {
        expect([status, "uuid" in others]).toEqual([answeredBy, false]);
        return [sub_state, Date.parse(String(timestamp)) - (call.answered_at ?? 0)];
      });
      expect(times).toEqual(states);
    },
  );

  it("machine_detection hangup ends a call that a machine answers", async () => {
    const { call } = await called({
      more: { machineDetection: "hangup" },
      onCall: () => ({ outcome: "answer", answeredBy: "machine" }),
    });
    expect(call.duration).toBe(2);
  });
});

describe("an event is sent", () => {
  /** How often `started` came, to an application that answers its first attempt with a status. */
  const attempts = async (status: number) => {
    const { at } = await called({
      answers: {
        "/events": (_, response, count) =>
          void response.writeHead(count === 1 ? status : 204).end(),
      },
    });
    return at("/events").filter((event) => event.status === "started").length;
  };

  it.each([429, 502, 503, 504])("once more after %i", async (status) => {
    expect(await attempts(status)).toBe(2);
  });

  it.each([500, 501, 400, 401, 404])("no more after %i", async (status) => {
    expect(await attempts(status)).toBe(1);
  });

  it("once more after a connection that failed, and no third time", async () => {
    const { at, call } = await called({
      answers: { "/events": (request) => void request.socket.destroy() },
    });
    expect(at("/events").map(({ status }) => status)).toEqual(
      ["started", "ringing", "answered", "completed"].flatMap((status) => [status, status]),
    );
    const given = call.history.flatMap((entry) =>
      entry.type === "notification" ? [entry.outcome] : [],
    );
    expect(given).toEqual(Array.from({ length: 4 }, () => ["retrying", "given_up"]).flat());
  });
});

describe("the answer webhook", () => {
  it("comes by GET with the call in the query, and by POST with the same as JSON", async () => {
    const body = (uuid: string) => ({
      from,
      to,
      uuid,
      conversation_uuid: expect.stringMatching(/^CON-/),
      endpoint_type: "phone",
      region_url: expect.any(String),
    });
    const get = await called({ more: { answer_method: undefined } });
    expect(get.received.filter(({ path }) => path === "/answer")).toEqual([
      { path: "/answer", method: "GET", fields: body(get.uuid) },
    ]);
    const post = await called();
    expect(post.received.filter(({ path }) => path === "/answer")).toEqual([
      { path: "/answer", method: "POST", fields: body(post.uuid) },
    ]);
  });

  it.each([
    [429, 2],
    [503, 2],
    [504, 2],
    [500, 1],
    [502, 1],
    [404, 1],
  ])("with %i for an answer is sent %i times, and ends the call", async (status, times) => {
    const { at, call } = await called({ answers: { "/answer": status } });
    expect(at("/answer")).toHaveLength(times);
    expect(call).toMatchObject({ reason: "flow_error" });
    expect(call.flow_error).toContain(`answered HTTP ${status}`);
    // The error goes to the event URL, too.
    expect(at("/events").find(({ reason }) => reason)).toMatchObject({
      reason: expect.stringContaining(String(status)),
    });
  });

  it.each<[string, object, string]>([
    ["no list", { action: "talk" }, "must be a list of actions"],
    ["an action without a name", [{ text: "Hello" }], "must be an object with an action"],
    [
      "an action that isn't emulated",
      [
        { action: "talk", text: "A" },
        { action: "transfer", conversation_id: "CON-1" },
      ],
      "[1].action transfer is not emulated",
    ],
  ])("with %s ends the call with an error that names it", async (_, ncco, message) => {
    const { call, at } = await called({ answers: { "/answer": ncco } });
    expect(call.flow_error).toContain(message);
    expect(at("/events").find(({ reason }) => reason)?.reason).toBe(call.flow_error);
    expect(call.history.some(({ type }) => type === "verb")).toBe(false);
  });

  it("with nothing to do ends the call", async () => {
    const { call } = await called({ answers: { "/answer": [] } });
    expect(call).toMatchObject({ reason: "normal", duration: 0 });
  });
});
