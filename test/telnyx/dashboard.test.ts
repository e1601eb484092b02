import { expect, it } from "vitest";
import { sampleCall } from "../../src/cli/emulator/application.ts";
import { tryingAt } from "../../src/cli/emulator/carrier.ts";
import { dashboard } from "../../src/emulator/dashboard/routes.ts";
import { answering, from } from "../carriers/stage.ts";
import { apiKey, applicationId, startTelnyx } from "./stage.ts";

const texml = "<Response><Pause length='3'/></Response>";

it("the dashboard has the service's name, and places calls as Telnyx takes them", async () => {
  const answer = { headers: { "Content-Type": "application/xml" } };
  const { emulator, baseUrl } = await startTelnyx({ fetch: () => new Response(texml, answer) });
  const placing = {
    ...(await tryingAt(emulator)),
    sample: () => sampleCall(baseUrl, from, undefined),
  };
  const { fetch, token } = dashboard(emulator, { isHost: () => true, placing });
  const signedIn = await fetch(`${baseUrl}/?token=${token}`);
  const [cookie = ""] = signedIn.headers.get("set-cookie")?.split(";") ?? [];
  const headers = { cookie, origin: baseUrl };
  const page = await (await fetch(baseUrl, { headers })).text();
  expect(page).toContain("<title>outdial emulator · telnyx</title>");
  expect(page).toContain(`The only key of account <bdi>${applicationId}</bdi>`);
  expect(page).toContain("API key");
  expect(page).not.toContain(apiKey);
  const place = async (to_number: string) => {
    const urls = { flow_url: `${baseUrl}/flow`, status_callback_url: `${baseUrl}/status` };
    const body = JSON.stringify({ from_number: from, to_number, ...urls });
    return (await fetch(`${baseUrl}/dashboard/calls`, { method: "POST", headers, body })).json();
  };
  expect(await place(answering)).toEqual({
    id: expect.any(String),
    status: 200,
    message: "queued",
  });
  const [call] = emulator.calls;
  const { history, record } = await emulator.ended(call?.id ?? "");
  const bodies = history.flatMap((entry) =>
    entry.type === "notification" ? [new URLSearchParams(entry.request.body)] : [],
  );
  const statuses = ["initiated", "ringing", "in-progress", "completed"];
  expect(bodies.map((body) => body.get("CallStatus"))).toEqual(statuses);
  expect(record).toBe(true);
  const message = "To is not a valid phone number";
  expect(await place("nobody")).toEqual({ status: 422, message });
});
