import twilio from "twilio";
import { describe, expect, it } from "vitest";
import { answering, from } from "../carriers/stage.ts";
import { accountSid, authToken, clientFor, startApplication, startTwilio } from "./stage.ts";

const twiml = "<Response><Pause length='3'/></Response>";

/** What Twilio's client throws. */
const refusal = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof twilio.RestException)) throw new Error(`no RestException: ${error}`);
  const { status, code, moreInfo } = error;
  return { status, code, moreInfo };
};

const more = (code: number) => `https://www.twilio.com/docs/errors/${code}`;

describe("Twilio's own client", () => {
  it("places a call and reads it once it is over", async () => {
    const { emulator, client } = await startTwilio();
    const created = await client.calls.create({ from, to: answering, twiml });
    expect(created).toMatchObject({
      sid: expect.stringMatching(/^CA[\da-f]{32}$/),
      accountSid,
      status: "queued",
      direction: "outbound-api",
      from,
      to: answering,
      answeredBy: null,
    });
    await emulator.ended(created.sid);
    const { status, duration, startTime, endTime } = await client.calls(created.sid).fetch();
    expect([status, duration]).toEqual(["completed", "3"]);
    expect(endTime.getTime() - startTime.getTime()).toBeGreaterThanOrEqual(3_000);
  });

  it.each([
    ["+12025550101", "busy"],
    ["+12025550102", "no-answer"],
    ["+12025550103", "no-answer"],
    ["+12025550104", "failed"],
  ])("reads how a call to %s ended: %s", async (to, status) => {
    const { emulator, client } = await startTwilio();
    const { sid } = await client.calls.create({ from, to, twiml });
    await emulator.ended(sid);
    expect(await client.calls(sid).fetch()).toMatchObject({ status, duration: "0" });
  });

  it("lists calls page by page, the newest first, and by their fields", async () => {
    const { emulator, client } = await startTwilio();
    const sids: string[] = [];
    for (const to of [answering, "+12025550101", answering]) {
      const { sid } = await client.calls.create({ from, to, twiml });
      sids.unshift(sid);
      await emulator.ended(sid);
    }
    const listed = async (options: object) =>
      (await client.calls.list(options)).map(({ sid }) => sid);
    expect(await listed({ pageSize: 1 })).toEqual(sids);
    expect(await listed({ status: "busy" })).toEqual([sids[1]]);
    expect(await listed({ to: answering, limit: 1 })).toEqual([sids[0]]);
  });

  it("lists calls by their times, and refuses a filter that is not emulated by name", async () => {
    const { emulator, client, baseUrl } = await startTwilio();
    const { sid } = await client.calls.create({ from, to: answering, twiml });
    await emulator.ended(sid);
    const { startTime, endTime } = await client.calls(sid).fetch();
    const listed = async (options: object) => (await client.calls.list(options)).length;
    const before = new Date(startTime.getTime() - 1_000);
    const after = new Date(endTime.getTime() + 1_000);
    const counts = [
      [{ startTime, endTime }, 1],
      [{ startTimeAfter: startTime, endTimeBefore: endTime }, 1],
      [{ startTime: before }, 0],
      [{ startTimeAfter: after }, 0],
      [{ startTimeBefore: before }, 0],
      [{ endTimeAfter: after }, 0],
    ] as const;
    for (const [options, count] of counts) {
      expect(await listed(options), Object.keys(options).join()).toBe(count);
    }
    expect(await refusal(client.calls.list({ parentCallSid: sid }))).toMatchObject({ status: 400 });
    const path = `${baseUrl}/2010-04-01/Accounts/${accountSid}/Calls.json`;
    const headers = { Authorization: `Basic ${btoa(`${accountSid}:${authToken}`)}` };
    const ask = async (query: string) => (await fetch(`${path}?${query}`, { headers })).json();
    const today = endTime.toISOString().slice(0, 10);
    expect(await ask(`EndTime=${today}`)).toMatchObject({ calls: [{ sid }] });
    expect(await ask("StartTime>=2000-01-01")).toMatchObject({ calls: [{ sid }] });
    expect(await ask("StartTime<=2000-01-01")).toMatchObject({ calls: [] });
    const message = "StartTime must be a date, such as 2026-01-31, or a time in ISO 8601";
    expect(await ask("StartTime=yesterday")).toMatchObject({ status: 400, message });
    expect(await ask("Trunk=1")).toMatchObject({ status: 400, message: "Trunk is not emulated" });
  });

  it("names no resource of a call that is a 404", async () => {
    const { baseUrl, client } = await startTwilio();
    const { subresourceUris } = await client.calls.create({ from, to: answering, twiml });
    const headers = { Authorization: `Basic ${btoa(`${accountSid}:${authToken}`)}` };
    for (const uri of Object.values(subresourceUris)) {
      expect((await fetch(`${baseUrl}${uri}`, { headers })).status, uri).toBe(200);
    }
  });

  it.each([
    ["From", "12025550199", "is not in E.164, and no other form is emulated"],
    ["To", "(202) 555-0100", "is not in E.164, and no other form is emulated"],
    ["To", "client:alice", "is an address of a kind that is not emulated"],
    ["From", "sip:desk@pbx.example", "is an address of a kind that is not emulated"],
    ["To", "client:alice", "is an address of a kind that is not emulated: client:"],
    ["To", "whatsapp:+12025550100", "is an address of a kind that is not emulated: whatsapp:"],
    ["ApplicationSid", `AP${"0".repeat(32)}`, "is not emulated"],
  ])("is refused with %s=%s, which is not emulated", async (name, value, rule) => {
    const { client, emulator } = await startTwilio();
    const field = `${name.charAt(0).toLowerCase()}${name.slice(1)}`;
    const call = client.calls.create({ from, to: answering, twiml, [field]: value });
    expect(await refusal(call)).toMatchObject({ status: 400, code: 20001 });
    expect(emulator.refused[0]?.detail).toContain(`${name} ${rule}`);
  });

  it("names what isn't emulated of a call to SIP: the name of a user as From", async () => {
    const { client, emulator } = await startTwilio();
    const to = "sip:bob@pbx.example";
    const call = client.calls.create({ from: "alice", to, twiml });
    expect(await refusal(call)).toMatchObject({ status: 400, code: 20001 });
    expect(emulator.refused[0]?.detail).toMatch(/^From is the name of a SIP user/);
    const wrong = client.calls.create({ from, to: "sip:bob smith@pbx.example", twiml });
    expect(await refusal(wrong)).toMatchObject({ code: 21211 });
  });

  it("ends a call: a ringing one is canceled, an answered one completed", async () => {
    const { emulator, client } = await startTwilio({
      clock: "real",
      ringDuration: 600_000,
      answerTimeout: 600_000,
    });
    const { sid } = await client.calls.create({ from, to: answering, twiml });
    expect((await client.calls(sid).update({ status: "canceled" })).status).toBe("canceled");
    const other = await client.calls.create({
      from,
      to: answering,
      twiml: "<Response><Pause length='600'/></Response>",
    });
    emulator.answer(other.sid);
    expect((await client.calls(other.sid).fetch()).status).toBe("in-progress");
    expect((await client.calls(other.sid).update({ status: "canceled" })).status).toBe(
      "in-progress",
    );
    expect((await client.calls(other.sid).update({ status: "completed" })).status).toBe(
      "completed",
    );
  });

  it("sends an answered call elsewhere, and no other", async () => {
    const application = await startApplication({
      "/other": "<Response><Say>Moved</Say></Response>",
    });
    const { emulator, client } = await startTwilio({
      clock: "real",
      ringDuration: 600_000,
      answerTimeout: 600_000,
      speed: 100,
    });
    const { sid } = await client.calls.create({
      from,
      to: answering,
      twiml: "<Response><Dial>+12025550102</Dial></Response>",
    });
    const elsewhere = { url: `${application.origin}/other` };
    expect(await refusal(client.calls(sid).update(elsewhere))).toMatchObject({
      status: 400,
      code: 21220,
    });
    emulator.answer(sid);
    for await (const event of emulator)
      if (event.type === "leg" && event.state === "ringing") break;
    await client.calls(sid).update(elsewhere);
    const { history, reason } = await emulator.ended(sid);
    expect(reason).toBe("normal");
    const steps = history.flatMap((entry) =>
      entry.type === "verb"
        ? [entry.verb]
        : entry.type === "leg"
          ? [entry.reason ?? entry.state]
          : [],
    );
    expect(steps).toEqual(["Dial", "initiated", "ringing", "canceled", "Say"]);
    expect(application.at("/other")).toHaveLength(1);
    expect(await refusal(client.calls(sid).update(elsewhere))).toMatchObject({
      status: 400,
      code: 21220,
    });
  });

  it("signs in with the token, or with an API key whose secret is the token", async () => {
    const { baseUrl } = await startTwilio();
    const { sid } = await clientFor(baseUrl, "SK0123456789abcdef0123456789abcdef").calls.create({
      from,
      to: answering,
      twiml,
    });
    expect(sid).toMatch(/^CA/);
    const wrong = clientFor(baseUrl, accountSid, "wrong").calls.create({
      from,
      to: answering,
      twiml,
    });
    expect(await refusal(wrong)).toEqual({ status: 401, code: 20003, moreInfo: more(20003) });
    const stranger = twilio("AC".padEnd(34, "0"), authToken);
    stranger.api.baseUrl = baseUrl;
    expect(await refusal(stranger.calls.list())).toMatchObject({ status: 401, code: 20003 });
  });

  it("is refused once the token was regenerated", async () => {
    const { baseUrl, client, emulator } = await startTwilio();
    const token = emulator.regenerateKey();
    expect(token).toMatch(/^[\da-f]{32}$/);
    expect(emulator.webhookSecret).toBe(token);
    expect(await refusal(client.calls.list())).toMatchObject({ code: 20003 });
    expect(await clientFor(baseUrl, accountSid, token).calls.list()).toEqual([]);
  });

  it.each([
    [
      "a call that isn't known",
      (client: twilio.Twilio) => client.calls(`CA${"0".repeat(32)}`).fetch(),
    ],
    [
      "another account",
      (client: twilio.Twilio) => client.api.v2010.accounts(`AC${"1".repeat(32)}`).calls.list(),
    ],
    [
      "what isn't emulated",
      (client: twilio.Twilio) => client.messages.create({ from, to: answering, body: "Hi" }),
    ],
  ])("gets 20404 for %s", async (_, ask) => {
    const { client } = await startTwilio();
    expect(await refusal(ask(client))).toMatchObject({ status: 404, code: 20404 });
  });

  it("is told the path that isn't emulated, without a number in it", async () => {
    const { client, emulator } = await startTwilio();
    expect(await refusal(client.conferences.list())).toMatchObject({ status: 404 });
    expect(emulator.refused[0]?.detail).toContain(`/Conferences.json is not emulated`);
    await emulator.fetch(`https://api.test/v1/PhoneNumbers/%2B12025550100`);
    expect(emulator.refused[1]?.detail).toBe("/v1/PhoneNumbers/… is not emulated");
  });

  it.each([
    ["to", { to: "" }, 21201],
    ["to", { to: "12345" }, 21211],
    ["from", { from: "" }, 21213],
    ["from", { from: "nobody" }, 21212],
    ["url", { twiml: "" }, 21205],
    ["url", { twiml: "", url: "ftp://app.example/voice" }, 21205],
    ["statusCallback", { statusCallback: "not a URL" }, 21609],
    ["method", { url: "https://app.example/", method: "PUT" }, 21209],
    ["twiml", { twiml: `<Response>${" ".repeat(4_000)}</Response>` }, 32018],
    ["timeout", { timeout: 601 }, 21208],
  ])("refuses a wrong %s: %j is %i", async (_, fields, code) => {
    const { client, emulator } = await startTwilio();
    const call = client.calls.create({ from, to: answering, twiml, ...fields });
    expect(await refusal(call)).toEqual({ status: 400, code, moreInfo: more(code) });
    expect(emulator.calls).toEqual([]);
  });

  it("may call only from the account's numbers", async () => {
    const { client } = await startTwilio({ numbers: ["+12025550188"] });
    const call = client.calls.create({ from, to: answering, twiml });
    expect(await refusal(call)).toMatchObject({ code: 21210 });
  });

  it.each([
    ["+12025550110", 503, 20503],
    ["+12025550111", 429, 20429],
  ])("gets the outage of %s: HTTP %i, %i", async (to, status, code) => {
    const { client, emulator } = await startTwilio();
    expect(await refusal(client.calls.create({ from, to, twiml }))).toMatchObject({ status, code });
    expect(emulator.posts.get(to)).toBe(1);
  });

  it("reads its account", async () => {
    const { client } = await startTwilio();
    const { sid, status } = await client.api.v2010.accounts(accountSid).fetch();
    expect([sid, status]).toEqual([accountSid, "active"]);
  });
});
