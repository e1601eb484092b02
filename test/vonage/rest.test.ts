import { generateKeyPairSync } from "node:crypto";
import { tokenGenerate } from "@vonage/jwt";
import type { Voice } from "@vonage/voice";
import jsonwebtoken from "jsonwebtoken";
import { describe, expect, it } from "vitest";
import { createEmulator } from "../../src/emulator/index.ts";
import { applicationId } from "../unit/vonage/service.ts";
import { callOf, clientFor, from, place, startApplication, startVonage, to } from "./stage.ts";

const ncco = [{ action: "wait", timeout: 3 }];
const inline = { answer_url: undefined, answer_method: undefined, event_url: undefined, ncco };
const call = callOf("http://127.0.0.1", inline);

/** The status and the body of a refusal, as Vonage's client reports it. */
const refusal = async (asked: Promise<unknown>): Promise<unknown> => {
  try {
    await asked;
  } catch (error) {
    const { response } = error as { response: Response };
    return { status: response.status, ...(await response.json()) };
  }
  throw new Error("was not refused");
};

describe("Vonage's own client", () => {
  it("places a call, reads it at each stage, and lists it", async () => {
    const { emulator, client } = await startVonage();
    const placed = await client.createOutboundCall(call as never);
    expect(placed).toMatchObject({
      uuid: expect.stringMatching(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/),
      status: "started",
      direction: "outbound",
      conversationUUID: expect.stringMatching(/^CON-[\da-f-]{36}$/),
    });
    const { answered_at = 0, ended_at = 0 } = await emulator.ended(placed.uuid);
    const read = await client.getCall(placed.uuid);
    expect(read).toMatchObject({
      uuid: placed.uuid,
      status: "completed",
      duration: "3",
      to: { type: "phone", number: to },
      from: { type: "phone", number: from },
      startTime: new Date(answered_at).toISOString(),
      endTime: new Date(ended_at).toISOString(),
    });
    const listed = [];
    for await (const one of client.getAllCalls()) listed.push(one.uuid);
    expect(listed).toEqual([placed.uuid]);
    const count = async (query: object) => (await client.getCallsPage(query as never)).count;
    expect(await count({ dateStart: "2099-01-01T00:00:00Z" })).toBe(0);
    expect(await count({ dateEnd: "2099-01-01T00:00:00Z" })).toBe(1);
  });

  it("ends a call that rings, and one that is answered", async () => {
    const { emulator, client } = await startVonage({ clock: "real", ringDuration: 0 });
    const ringing = await place(client, {
      ...call,
      to: [{ type: "phone", number: "12025550102" }],
    });
    const answered = await place(client, { ...call, ncco: [{ action: "wait", timeout: 7200 }] });
    await expect.poll(() => emulator.call(answered)?.state).toBe("answered");
    expect((await client.getCall(answered)).status).toBe("answered");
    await client.hangupCall(ringing);
    await client.hangupCall(answered);
    expect((await emulator.ended(ringing)).reason).toBe("canceled");
    expect((await emulator.ended(answered)).reason).toBe("normal");
    expect(await refusal(client.hangupCall(answered))).toMatchObject({ status: 400 });
  });

  it("transfers an answered call to another NCCO", async () => {
    const application = await startApplication({ "/other": [{ action: "talk", text: "Other" }] });
    const { emulator, client } = await startVonage({ clock: "real", ringDuration: 0, speed: 100 });
    const waiting = { ...call, ncco: [{ action: "wait", timeout: 7200 }] };
    const [first, second] = [await place(client, waiting), await place(client, waiting)];
    for (const uuid of [first, second]) {
      await expect.poll(() => emulator.call(uuid)?.state).toBe("answered");
    }
    await client.transferCallWithURL(first, `${application.origin}/other`);
    await client.transferCallWithNCCO(second, [{ action: "talk", text: "Other" }] as never);
    for (const uuid of [first, second]) {
      const { history, reason } = await emulator.ended(uuid);
      const verbs = history.flatMap((entry) => (entry.type === "verb" ? [entry.verb] : []));
      expect([reason, verbs]).toEqual(["normal", ["wait", "talk"]]);
    }
  });

  it("sends the event of a transfer, which leads into another conversation", async () => {
    const application = await startApplication();
    const { emulator, client } = await startVonage({ clock: "real", ringDuration: 0, speed: 100 });
    const event_url = [`${application.origin}/events`];
    const waiting = { ...call, ncco: [{ action: "wait", timeout: 7200 }], event_url };
    const { uuid, conversationUUID } = await client.createOutboundCall(waiting as never);
    await expect.poll(() => emulator.call(uuid)?.state).toBe("answered");
    await client.transferCallWithNCCO(uuid, [{ action: "talk", text: "Other" }] as never);
    await emulator.ended(uuid);
    const events = application.at("/events");
    const transfer = events.find(({ type }) => type === "transfer");
    expect(transfer).toEqual({
      ...{ type: "transfer", uuid, timestamp: expect.stringMatching(/Z$/) },
      conversation_uuid_from: conversationUUID,
      conversation_uuid_to: expect.stringMatching(/^CON-[\da-f-]{36}$/),
    });
    const { conversation_uuid } = events.find(({ status }) => status === "completed") ?? {};
    expect(conversation_uuid).toBe(transfer?.conversation_uuid_to);
    expect(conversation_uuid).not.toBe(conversationUUID);
  });

  it("refuses a transfer to an NCCO with an unknown action", async () => {
    const { emulator, client } = await startVonage({ clock: "real", ringDuration: 0 });
    const uuid = await place(client, { ...call, ncco: [{ action: "wait", timeout: 7200 }] });
    await expect.poll(() => emulator.call(uuid)?.state).toBe("answered");
    const work = client.transferCallWithNCCO(uuid, [{ action: "sing" }] as never);
    expect(await refusal(work)).toMatchObject({
      status: 400,
      invalid_parameters: [{ name: "destination.ncco[0].action", reason: "sing is not emulated" }],
    });
    expect(emulator.call(uuid)?.state).toBe("answered");
  });

  it("rings no longer than ringing_timer, and talks no longer than length_timer", async () => {
    const { emulator, client } = await startVonage();
    const to = [{ type: "phone", number: "12025550102" }];
    const unanswered = await emulator.ended(await place(client, { ...call, to, ringingTimer: 7 }));
    expect(unanswered.reason).toBe("no_answer");
    expect((unanswered.ended_at ?? 0) - unanswered.initiated_at).toBe(7_000);
    const endless = { ...call, ncco: [{ action: "wait", timeout: 600 }], lengthTimer: 60 };
    const long = await emulator.ended(await place(client, endless));
    expect(long).toMatchObject({ reason: "max_duration", duration: 60 });
  });

  it("calls from a number of the application when it asks for any", async () => {
    const { emulator, client } = await startVonage({ numbers: ["+12025550188"] });
    const random = { ...call, from: undefined, randomFromNumber: true };
    const { from_number } = await emulator.ended(await place(client, random));
    expect(from_number).toBe("+12025550188");
    expect(await refusal(place(client, call))).toMatchObject({
      status: 403,
      invalid_parameters: [{ name: "from.number" }],
    });
  });

  it.each([
    ["12025550110", 503],
    ["12025550111", 429],
  ])("gets the outage of %s: HTTP %i", async (number, status) => {
    const { client, emulator } = await startVonage();
    const asked = place(client, { ...call, to: [{ type: "phone", number }] });
    expect(await refusal(asked)).toMatchObject({ status });
    expect(emulator.posts.get(`+${number}`)).toBe(1);
  });

  it.each<[string, object, string]>([
    ["to that is missing", { to: undefined }, "to"],
    ["to with a +", { to: [{ type: "phone", number: "+12025550100" }] }, "to[0].number"],
    ["to of another type", { to: [{ type: "vbc", extension: "1" }] }, "to[0].type"],
    ["two to", { to: [...call.to, ...call.to] }, "to"],
    ["from that is missing", { from: undefined }, "from.number"],
    ["from twice", { random_from_number: true }, "from"],
    ["neither answer_url nor ncco", { ncco: undefined }, "answer_url"],
    ["both answer_url and ncco", { answer_url: ["https://app.example/"] }, "answer_url"],
    ["answer_url of ftp", { ncco: undefined, answer_url: ["ftp://app.example/"] }, "answer_url"],
    [
      "answer_url that is no list",
      { ncco: undefined, answer_url: "https://app.example/" },
      "answer_url",
    ],
    ["ncco that is no list", { ncco: {} }, "ncco"],
    ["ncco without an action", { ncco: [] }, "ncco"],
    ["ncco with an unknown action", { ncco: [...ncco, { action: "sing" }] }, "ncco[1].action"],
    ["ncco with what isn't emulated", { ncco: [{ action: "pay" }] }, "ncco[0].action"],
    ["ncco with a text", { ncco: ["talk"] }, "ncco[0]"],
    ["event_method", { event_url: ["https://app.example/"], event_method: "PUT" }, "event_method"],
    ["ringing_timer", { ringing_timer: 121 }, "ringing_timer"],
    ["length_timer", { length_timer: 0 }, "length_timer"],
    ["machine_detection", { machine_detection: "wait" }, "machine_detection"],
  ])("is refused with a wrong field: %s", async (_, fields, name) => {
    const { emulator, baseUrl } = await startVonage();
    const response = await fetch(`${baseUrl}/v1/calls`, {
      method: "POST",
      headers: { Authorization: `Bearer ${tokenGenerate(applicationId, emulator.apiKey)}` },
      body: JSON.stringify({ ...call, ...fields }),
    });
    expect(response.status).toBe(400);
    expect(response.headers.get("x-nexmo-trace-id")).toMatch(/^[\da-f-]{36}$/);
    expect(await response.json()).toMatchObject({
      title: "Bad Request",
      invalid_parameters: [{ name, reason: expect.any(String) }],
    });
    expect(emulator.calls).toEqual([]);
  });
});

const another = String(
  generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({
    type: "pkcs8",
    format: "pem",
  }),
);

describe("the token of a request", () => {
  it.each<[string, (baseUrl: string, key: string) => Voice]>([
    ["another key", (baseUrl) => clientFor(baseUrl, another)],
    ["another application", (baseUrl, key) => clientFor(baseUrl, key, crypto.randomUUID())],
  ])("is refused with %s: 401", async (_, make) => {
    const { emulator, baseUrl } = await startVonage();
    expect(await refusal(place(make(baseUrl, emulator.apiKey), call))).toMatchObject({
      status: 401,
      title: "Unauthorized",
    });
    expect(emulator.calls).toEqual([]);
  });

  it.each<[string, (key: string) => Record<string, string>]>([
    ["none", () => ({})],
    ["no JWT", () => ({ Authorization: "Bearer token" })],
    [
      "one that has expired",
      (key) => {
        const now = Math.floor(Date.now() / 1000);
        const claims = { application_id: applicationId, jti: "c0ffee", iat: now - 1_800 };
        const expired = { ...claims, exp: now - 900 };
        const token = jsonwebtoken.sign(expired, key, { algorithm: "RS256" });
        return { Authorization: `Bearer ${token}` };
      },
    ],
    [
      "one whose claims were changed",
      (key) => {
        const [head, claims = "", signature] = tokenGenerate(applicationId, key).split(".");
        const changed = btoa(atob(claims).replace('"exp":1', '"exp":2')).replaceAll("=", "");
        return { Authorization: `Bearer ${head}.${changed}.${signature}` };
      },
    ],
  ])("is refused when it is %s", async (_, headersOf) => {
    const { emulator, baseUrl } = await startVonage();
    const headers = headersOf(emulator.apiKey);
    const init = { method: "POST", headers, body: JSON.stringify(call) };
    expect((await fetch(`${baseUrl}/v1/calls`, init)).status).toBe(401);
    expect(emulator.calls).toEqual([]);
  });

  it("is checked with the new key once the key was regenerated", async () => {
    const { emulator, client, baseUrl } = await startVonage();
    await place(client, call);
    const key = emulator.regenerateKey();
    expect(key).toBe(emulator.apiKey);
    expect(await refusal(place(client, call))).toMatchObject({ status: 401 });
    await place(clientFor(baseUrl, key), call);
    expect(emulator.calls).toHaveLength(2);
  });

  it.each(["pkcs1", "pkcs8"] as const)("is checked with a key of one's own in %s", async (type) => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const apiKey = String(privateKey.export({ type, format: "pem" }));
    const { client, emulator } = await startVonage({ apiKey });
    await place(client, call);
    expect(emulator.calls).toHaveLength(1);
  });
});

it("a call that isn't known, and what isn't emulated, are 404", async () => {
  const { client } = await startVonage();
  const unknown = crypto.randomUUID();
  expect(await refusal(client.getCall(unknown))).toMatchObject({ status: 404 });
  expect(await refusal(client.stopTTS(unknown))).toMatchObject({ status: 404 });
});

it("a path that isn't emulated is named, once the request is signed", async () => {
  const { baseUrl, emulator } = await startVonage();
  const headers = { Authorization: `Bearer ${tokenGenerate(applicationId, emulator.apiKey)}` };
  const response = await fetch(`${baseUrl}/v2/calls`, { headers });
  expect(response.status).toBe(404);
  expect(await response.json()).toMatchObject({ detail: "/v2/calls is not emulated" });
});

it.each<[string, object]>([
  ["service.account", { service: { name: "vonage", account: "AC0123" } }],
  ["apiKey", { service: { name: "vonage", account: applicationId }, apiKey: "a token" }],
  ["webhookSecret", { webhookSecret: "no whsec_" }],
])("createEmulator refuses a wrong %s", (param, options) => {
  expect(() => createEmulator(options)).toThrow(param);
});
