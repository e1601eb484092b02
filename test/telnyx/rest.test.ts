import type Telnyx from "telnyx";
import { APIError } from "telnyx";
import { describe, expect, it } from "vitest";
import { create, ended, get } from "../../src/calls/index.ts";
import { telnyx } from "../../src/carriers/telnyx/index.ts";
import { createEmulator } from "../../src/emulator/index.ts";
import { say } from "../../src/flows/index.ts";
import { answering, from } from "../carriers/stage.ts";
import {
  accountSid,
  apiKey,
  applicationId,
  clientFor,
  place,
  startApplication,
  startTelnyx,
} from "./stage.ts";

const Texml = "<Response><Pause length='3'/></Response>";

/** What Telnyx's client throws. */
const refusal = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof APIError)) throw new Error(`no APIError: ${error}`);
  const { errors } = error.error as { errors: { code: string; source?: { pointer: string } }[] };
  return { status: error.status, code: errors[0]?.code, pointer: errors[0]?.source?.pointer };
};

const callOf = (client: Telnyx, sid: string) =>
  client.texml.accounts.calls.retrieve(sid, { account_sid: accountSid });

describe("Telnyx's own client", () => {
  it("places a call by its application, and reads it once it is over", async () => {
    const { emulator, client } = await startTelnyx();
    const body = { From: from, To: answering, Texml };
    const created = await client.texml.calls.create(applicationId, body);
    expect(created).toEqual({
      call_sid: expect.stringMatching(/^v3:[\da-f]{32}$/),
      // Applications that came from Twilio read this one.
      sid: expect.stringMatching(/^v3:[\da-f]{32}$/),
      from,
      to: answering,
      status: "queued",
    });
    await emulator.ended(created.call_sid);
    const call = await callOf(client, created.call_sid);
    expect(call).toMatchObject({
      sid: created.call_sid,
      status: "completed",
      direction: "outbound",
      duration: "3",
      from,
      to: answering,
      uri: `/v2/texml/Accounts/${call.account_sid}/Calls/${created.call_sid}.json`,
    });
    expect(Object.values(call)).not.toContain(null);
    const talked = Date.parse(call.end_time ?? "") - Date.parse(call.start_time ?? "");
    expect(talked).toBeGreaterThanOrEqual(3_000);
  });

  it("places a call of its account, by JSON, with the application in the body", async () => {
    const { origin, at } = await startApplication();
    const { emulator, client } = await startTelnyx();
    const { calls } = client.texml.accounts;
    const Url = `${origin}/voice`;
    const body = { From: from, To: answering, Url, ApplicationSid: applicationId };
    const placed = await calls.calls(accountSid, { body: { ...body, UrlMethod: "GET" } });
    expect(placed).toMatchObject({ from, to: answering, status: "queued" });
    const [known] = emulator.calls;
    if (!known) throw new Error("no call");
    await emulator.ended(known.id);
    expect(at("/voice")).toMatchObject([{ AccountSid: accountSid, CallSid: known.id }]);
    expect(await callOf(client, known.id)).toMatchObject({ account_sid: accountSid });
    const other = { ...body, ApplicationSid: "1" };
    expect(await refusal(calls.calls(accountSid, { body: other }))).toMatchObject({
      status: 422,
      pointer: "/ApplicationSid",
    });
  });

  it("takes the same fields as a form", async () => {
    const { emulator, baseUrl } = await startTelnyx();
    const body = new URLSearchParams({ From: from, To: answering, Texml, Timeout: "9" });
    const headers = { Authorization: `Bearer ${apiKey}` };
    const url = `${baseUrl}/v2/texml/calls/${applicationId}`;
    const response = await fetch(url, { method: "POST", headers, body });
    const { call_sid } = await response.json();
    expect(await emulator.ended(call_sid)).toMatchObject({ state: "completed", duration: 3 });
  });

  it.each([
    ["+12025550101", "busy"],
    ["+12025550102", "no-answer"],
    ["+12025550103", "failed"],
    ["+12025550104", "failed"],
  ])("reads how a call to %s ended: %s", async (To, status) => {
    const { emulator, client } = await startTelnyx();
    const sid = await place(client, { To, Texml });
    await emulator.ended(sid);
    expect(await callOf(client, sid)).toMatchObject({ status, duration: "0" });
  });

  it("lists calls page by page, the newest first, and by their fields", async () => {
    const { emulator, client, baseUrl } = await startTelnyx();
    const sids: string[] = [];
    for (const To of [answering, "+12025550101", answering]) {
      sids.unshift(await place(client, { To, Texml }));
      await emulator.ended(sids[0] ?? "");
    }
    const listed = async (query: Telnyx.Texml.Accounts.CallRetrieveCallsParams) => {
      const { calls = [] } = await client.texml.accounts.calls.retrieveCalls(accountSid, query);
      return calls.map(({ sid }) => sid);
    };
    expect(await listed({})).toEqual(sids);
    expect(await listed({ PageSize: 2, Page: 1 })).toEqual([sids[2]]);
    expect(await listed({ Status: "busy" })).toEqual([sids[1]]);
    const later = { StartTime_gt: "2099-01-01" } as const;
    expect(await listed(later)).toEqual([]);
    expect(await listed({ StartTime_lt: "2099-01-01", EndTime_gt: "2000-01-01" })).toEqual(sids);
    const url = `${baseUrl}/v2/texml/Accounts/${accountSid}/Calls.json?StartTime_gt=2099-01-01`;
    const headers = { Authorization: `Bearer ${apiKey}` };
    expect(await (await fetch(url, { headers })).json()).toMatchObject({ calls: [] });
    const { calls } = client.texml.accounts;
    const unknown = calls.retrieveCalls(accountSid, { ParentCallSid: "1" } as object);
    expect(await refusal(unknown)).toMatchObject({ status: 400, pointer: "/ParentCallSid" });
  });

  it("ends a call: a ringing one is canceled, an answered one completed, an ended one refused", async () => {
    const { origin, at } = await startApplication();
    const { emulator, client } = await startTelnyx({
      clock: "real",
      ringDuration: 600_000,
      answerTimeout: 600_000,
    });
    const end = (sid: string) =>
      client.texml.accounts.calls.update(sid, { account_sid: accountSid, Status: "completed" });
    const ringing = await place(client, { Texml });
    expect(await end(ringing)).toMatchObject({ sid: ringing, status: "canceled" });
    const answered = await place(client, {
      Texml: "<Response><Pause length='180'/></Response>",
      StatusCallback: `${origin}/status`,
    });
    emulator.answer(answered);
    const current = await callOf(client, answered);
    expect(current).toMatchObject({ status: "in-progress" });
    expect(Object.values(current)).not.toContain(null);
    expect(await end(answered)).toMatchObject({ status: "completed" });
    expect(await refusal(end(answered))).toMatchObject({ status: 422, code: "90018" });
    await emulator.ended(answered);
    const last = { CallStatus: "completed", HangupSource: "caller" };
    expect(at("/status")).toMatchObject([last]);
  });

  it("sends an answered call elsewhere, and no other", async () => {
    const { origin, at } = await startApplication({
      "/other": "<Response><Say>Moved</Say></Response>",
    });
    const { emulator, client } = await startTelnyx({
      clock: "real",
      speed: 100,
      ringDuration: 600_000,
      answerTimeout: 600_000,
    });
    const move = (sid: string) =>
      client.texml.accounts.calls.update(sid, {
        account_sid: accountSid,
        Url: `${origin}/other`,
      });
    const sid = await place(client, { Texml: "<Response><Dial>+12025550102</Dial></Response>" });
    expect(await refusal(move(sid))).toMatchObject({ status: 422, code: "10027" });
    emulator.answer(sid);
    for await (const event of emulator)
      if (event.type === "leg" && event.state === "ringing") break;
    await move(sid);
    const { reason, history } = await emulator.ended(sid);
    const verbs = history.flatMap((entry) => (entry.type === "verb" ? [entry.verb] : []));
    expect([reason, ...verbs]).toEqual(["normal", "Dial", "Say"]);
    expect(at("/other")).toHaveLength(1);
  });

  it("reads, ends and redirects a call of another account nowhere", async () => {
    const { client } = await startTelnyx({ clock: "real", ringDuration: 600_000 });
    const sid = await place(client, { Texml });
    const account_sid = "61bf923e-5e4d-4595-a110-56190ea18a1b";
    const { calls } = client.texml.accounts;
    const unknown = { status: 404, code: "10005" };
    expect(await refusal(calls.retrieve(sid, { account_sid }))).toMatchObject(unknown);
    const update = calls.update(sid, { account_sid, Status: "completed" });
    expect(await refusal(update)).toMatchObject(unknown);
    const recordings = calls.recordingsJson.retrieveRecordingsJson(sid, { account_sid });
    expect(await refusal(recordings)).toMatchObject(unknown);
    expect(await callOf(client, sid)).toMatchObject({ status: "ringing" });
  });

  it("has the account of the service that it stands for", async () => {
    const accountSid = "61bf923e-5e4d-4595-a110-56190ea18a1b";
    const service = telnyx({ applicationId, accountSid });
    await using emulator = createEmulator({
      ...{ service, clock: "instant" },
      fetch: () => new Response(null, { status: 204 }),
    });
    const options = {
      apiKey: emulator.apiKey,
      service,
      baseUrl: "https://api.test",
      fetch: emulator.fetch,
    };
    const { id } = await create(
      { from_number: from, to_number: answering, flow: say("Hello.") },
      options,
    );
    expect(await ended(id, options)).toMatchObject({ id, state: "completed" });
    const other = { ...options, service: telnyx({ applicationId, accountSid: "other" }) };
    await expect(get(id, other)).rejects.toMatchObject({ code: 404 });
  });

  it("ends a call without its account at the path that is deprecated", async () => {
    const { client, baseUrl } = await startTelnyx({ clock: "real", ringDuration: 600_000 });
    const sid = await place(client, { Texml });
    const end = () =>
      fetch(`${baseUrl}/v2/texml/calls/${sid}/update`, {
        method: "POST",
        headers: { Authorization: `Bearer ${apiKey}`, "Content-Type": "application/json" },
        body: JSON.stringify({ Status: "completed" }),
      });
    const response = await end();
    expect([response.status, await response.json()]).toEqual([
      200,
      { data: { sid, status: "accepted" } },
    ]);
    expect(await callOf(client, sid)).toMatchObject({ status: "canceled" });
    expect((await end()).status).toBe(422);
  });

  it("is refused with another key, and with the old one once it was regenerated", async () => {
    const { baseUrl, client, emulator } = await startTelnyx();
    const wrong = clientFor(baseUrl, "wrong");
    expect(await refusal(callOf(wrong, "v3:1"))).toMatchObject({ status: 401, code: "10009" });
    const key = emulator.regenerateKey();
    expect(await refusal(callOf(client, "v3:1"))).toMatchObject({ status: 401 });
    expect(await refusal(callOf(clientFor(baseUrl, key), "v3:1"))).toMatchObject({ status: 404 });
  });

  it.each([
    ["a call that isn't known", (client: Telnyx) => callOf(client, "v3:0")],
    [
      "another application",
      (client: Telnyx) => client.texml.calls.create("1", { From: from, To: answering, Texml }),
    ],
  ])("gets 10005 for %s", async (_, ask) => {
    const { client, emulator } = await startTelnyx();
    expect(await refusal(ask(client))).toMatchObject({ status: 404, code: "10005" });
    expect(emulator.refused).toMatchObject([{ status: 404, detail: "Resource not found" }]);
  });

  it("gets 10005 for what isn't emulated, with the path", async () => {
    const { client, emulator } = await startTelnyx();
    const ask = client.texml.accounts.queues.list(accountSid);
    expect(await refusal(ask)).toMatchObject({ status: 404, code: "10005" });
    const detail = `/v2/texml/Accounts/${accountSid}/Queues is not emulated`;
    expect(emulator.refused).toMatchObject([{ status: 404, detail }]);
  });

  it.each([
    [{ To: "" }, "10004", "To"],
    [{ To: "12345" }, "10002", "To"],
    [{ From: "nobody" }, "10002", "From"],
    [{ Texml: "" }, "10004", "Url"],
    [{ Url: "ftp://app.example/voice" }, "10003", "Url"],
    [{ Url: "https://app.example/", UrlMethod: "PUT" }, "10027", "UrlMethod"],
    [{ StatusCallback: "not a URL" }, "10003", "StatusCallback"],
    [{ Timeout: 4 }, "90002", "Timeout"],
    [{ TimeLimit: 29 }, "90002", "TimeLimit"],
  ])("is refused with %j: %s at %s", async (fields, code, field) => {
    const { client, emulator } = await startTelnyx();
    const refused = await refusal(place(client, { Texml, ...fields }));
    expect(refused).toEqual({ status: 422, code, pointer: `/${field}` });
    expect(emulator.calls).toEqual([]);
  });

  it.each([
    ["no JSON", "{", "application/json", 400],
    ["another type", "<a/>", "text/xml", 415],
  ])("is refused with %s", async (_, body, type, status) => {
    const { baseUrl } = await startTelnyx();
    const headers = { Authorization: `Bearer ${apiKey}`, "Content-Type": type };
    const url = `${baseUrl}/v2/texml/calls/${applicationId}`;
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(status);
  });

  it("may call only from the account's numbers", async () => {
    const { client } = await startTelnyx({ numbers: ["+12025550188"] });
    expect(await refusal(place(client, { Texml }))).toMatchObject({ status: 403, code: "10010" });
  });

  it.each([
    ["+12025550110", 503, "10007"],
    ["+12025550111", 429, "10011"],
  ])("gets the outage of %s: HTTP %i, %s", async (To, status, code) => {
    const { client, emulator } = await startTelnyx();
    expect(await refusal(place(client, { To, Texml }))).toMatchObject({ status, code });
    expect(emulator.posts.get(To)).toBe(1);
  });
});

it.each([
  ["account", { service: { name: "telnyx", account: "my-app" } }, "service.account"],
  ["webhookSecret", { webhookSecret: "whsec_1" }, "webhookSecret"],
])("an emulator with a wrong %s isn't made", async (_, options, words) => {
  await expect(startTelnyx(options)).rejects.toThrow(words);
});
