import { Client } from "outdial";
import { createEmulator } from "outdial/emulator";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { announce } from "../output.ts";
import { missingPython, type PythonServer, startPython } from "./python.ts";

if (missingPython) announce(`not run: the receiver in Python: ${missingPython}`);

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

describe.skipIf(missingPython)("the receiver in Python", () => {
  let receiver: PythonServer;
  beforeAll(async () => {
    receiver = await startPython("receiver.py", { WEBHOOK_SECRET: webhookSecret });
  });
  afterAll(() => receiver.stop());

  const events = () => receiver.lines.map((line) => JSON.parse(line));

  test("verifies every notification that the emulator sends, and takes each once", async () => {
    await using emulator = createEmulator({
      webhookSecret,
      clock: "instant",
      notifications: { doubled: 1 },
    });
    const client = new Client(emulator.apiKey, {
      baseUrl: "http://127.0.0.1:4010",
      fetch: emulator.fetch,
    });
    const sent: string[] = [];
    for (const last of [100, 101, 102, 103, 104, 105]) {
      const { id } = await client.calls.create({
        from_number: "+12025550199",
        to_number: `+12025550${last}`,
        flow_url: `${receiver.url}/flow`,
        status_callback_url: `${receiver.url}/status`,
      });
      const { history, state } = await emulator.ended(id);
      expect(state).toBe(last === 100 || last === 105 ? "completed" : "failed");
      const deliveries = history.filter((entry) => entry.type === "notification");
      expect(deliveries.every(({ outcome }) => outcome === "delivered")).toBe(true);
      const ids = [...new Set(deliveries.map((entry) => entry.id))];
      expect(deliveries).toHaveLength(2 * ids.length);
      sent.push(...ids);
    }
    await vi.waitFor(() => expect(events()).toHaveLength(sent.length), 600_000);
    expect(
      events()
        .map(({ id }) => id)
        .sort(),
    ).toEqual(sent.sort());
    expect(new Set(events().map(({ type }) => type)).size).toBe(5);
  });

  test("answers a flow request, and prints the keys of an answer", async () => {
    const call = { call_id: "cs_9", account_id: "ac_1", direction: "outbound" };
    const ask = async (more: object) => {
      const body = JSON.stringify({ ...call, ...more });
      return (await fetch(`${receiver.url}/flow`, { method: "POST", body })).text();
    };
    expect(await ask({})).toBe('{"action":"hangup"}');
    expect(await ask({ digits: "42" })).toBe('{"action":"hangup"}');
    await vi.waitFor(() => expect(events().at(-1)).toEqual({ call_id: "cs_9", digits: "42" }));
    const broken = await fetch(`${receiver.url}/flow`, { method: "POST", body: "[1" });
    expect(broken.status).toBe(400);
  });

  const webhook = new Webhook(webhookSecret);
  const post = (
    id: string,
    body: string,
    more: Readonly<Record<string, string>> = {},
    at = new Date(),
  ) =>
    fetch(`${receiver.url}/status`, {
      method: "POST",
      body,
      headers: {
        "webhook-id": id,
        "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
        "webhook-signature": webhook.sign(id, at, body),
        ...more,
      },
    });

  test("reads the older form, and types that it does not know", async () => {
    const older = { event: "call.ringing", account_id: "ac_1", data: { call_id: "cs_1" } };
    const other = { id: "evt_b", type: "stream.started", call_id: null, data: null };
    expect((await post("evt_a", JSON.stringify(older))).status).toBe(204);
    expect((await post("evt_b", JSON.stringify(other))).status).toBe(204);
    await vi.waitFor(() => {
      expect(events().at(-2)).toMatchObject({ type: "call.ringing", call_id: "cs_1" });
      expect(events().at(-1)).toMatchObject({ type: "stream.started", call_id: null });
    }, 600_000);
  });

  test("accepts one valid signature of several, while a secret is rotated", async () => {
    const body = JSON.stringify({ type: "call.ringing", data: null });
    const valid = webhook.sign("evt_r", new Date(), body);
    const both = { "webhook-signature": `v1,${"A".repeat(43)}= ${valid}` };
    expect((await post("evt_r", body, both)).status).toBe(204);
  });

  test("refuses what is not signed, changed, signed with another secret, or old", async () => {
    const body = JSON.stringify({ type: "call.failed", call_id: "cs_2", data: {} });
    const before = receiver.lines.length;
    const changed = { "webhook-signature": webhook.sign("evt_x", new Date(), `${body} `) };
    const foreign = {
      "webhook-signature": new Webhook(`whsec_${btoa("x".repeat(24))}`).sign(
        "evt_x",
        new Date(),
        body,
      ),
    };
    const minutes = (count: number) => new Date(Date.now() + count * 60_000);
    for (const response of await Promise.all([
      fetch(`${receiver.url}/status`, { method: "POST", body }),
      post("evt_x", body, changed),
      post("evt_x", body, foreign),
      post("evt_x", body, { "webhook-id": "evt_y" }),
      post("evt_x", body, { "webhook-timestamp": "soon" }),
      post("evt_x", body, {}, minutes(-6)),
      post("evt_x", body, {}, minutes(6)),
    ])) {
      expect(response.status).toBe(401);
    }
    expect((await post("evt_x", "{")).status).toBe(400);
    expect((await post("evt_x", "{}")).status).toBe(400);
    expect((await post("evt_x", " ".repeat(65_537))).status).toBe(413);
    expect((await fetch(`${receiver.url}/other`, { method: "POST", body })).status).toBe(404);
    expect(receiver.lines.length).toBe(before);
  });
});
