import { describe, expect, it } from "vitest";
import { type CallRecord, createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";
import { startTwilio } from "../twilio/stage.ts";
import { callOf, place as placeByVonage, startVonage } from "../vonage/stage.ts";
import { markupCarriers } from "./carriers.ts";
import { answering, from, startEmulator } from "./stage.ts";

/** An application that is reached by any URL, and lists those. */
const anywhere = (answers: Readonly<Record<string, string>>) => {
  const urls: string[] = [];
  const fetch: EmulatorOptions["fetch"] = ({ method, url }) => {
    urls.push(`${method} ${url}`);
    const answer = answers[new URL(url).pathname];
    const type = answer?.startsWith("[") ? "application/json" : "text/xml";
    return answer === undefined
      ? new Response(null, { status: 204 })
      : new Response(answer, { headers: { "Content-Type": type } });
  };
  return { urls, fetch };
};

const notesOf = ({ history }: CallRecord) =>
  history.flatMap((entry) => (entry.type === "note" ? [entry.text] : []));

const warning = (host: string) => expect.stringContaining(`${host} is asked by plain http`);

describe("plain http", () => {
  it("is accepted as in Twilio's own snippets, with one warning for each host", async () => {
    const { urls, fetch } = anywhere({
      "/docs/voice.xml": "<Response><Play>http://demo.twilio.com/docs/a.mp3</Play></Response>",
      "/docs/a.mp3": "sound",
    });
    const { emulator, client } = await startTwilio({ fetch });
    const { sid } = await client.calls.create({
      ...{ from, to: answering, url: "http://demo.twilio.com/docs/voice.xml" },
      statusCallback: "http://www.myapp.com/events",
    });
    const call = await emulator.ended(sid);
    expect(call.reason).toBe("normal");
    expect(urls).toEqual([
      "POST http://demo.twilio.com/docs/voice.xml",
      "GET http://demo.twilio.com/docs/a.mp3",
      "POST http://www.myapp.com/events",
    ]);
    expect(notesOf(call)).toEqual([warning("demo.twilio.com"), warning("www.myapp.com")]);
  });

  it.each(markupCarriers)("is accepted by $name in a document, too", async (carrier) => {
    const { urls, fetch } = anywhere({
      "/next": "<Response><Redirect>http://app.test/last</Redirect></Response>",
      "/last": "<Response/>",
    });
    const { emulator, baseUrl } = await startEmulator({ ...carrier.emulated, fetch });
    const document = "<Response><Redirect>http://app.test/next</Redirect></Response>";
    const call = await emulator.ended(await carrier.place(baseUrl, { document }));
    expect(call.reason).toBe("normal");
    expect(urls).toEqual(["POST http://app.test/next", "POST http://app.test/last"]);
    expect(notesOf(call)).toEqual([warning("app.test")]);
  });

  it("is accepted by Vonage, whose guides have it", async () => {
    const { urls, fetch } = anywhere({
      "/answer": '[{"action":"stream","streamUrl":["http://media.test/a.mp3"]}]',
    });
    const { emulator, client } = await startVonage({ fetch });
    const uuid = await placeByVonage(client, callOf("http://app.test"));
    const call = await emulator.ended(uuid);
    expect(call.reason).toBe("normal");
    expect(urls).toContain("GET http://media.test/a.mp3");
    expect(notesOf(call)).toEqual([warning("app.test"), warning("media.test")]);
  });

  it("is followed to TLS on the same host", async () => {
    const { emulator, client } = await startTwilio({
      fetch: ({ url }) =>
        url.startsWith("http:")
          ? new Response(null, { status: 301, headers: { Location: url.replace("http", "https") } })
          : new Response("<Response/>", { headers: { "Content-Type": "text/xml" } }),
    });
    const { sid } = await client.calls.create({ from, to: answering, url: "http://app.test/flow" });
    expect(await emulator.ended(sid)).toMatchObject({ reason: "normal" });
  });

  it("leads an emulator that others reach to no private host", async () => {
    const [{ emulated, place }] = markupCarriers as [(typeof markupCarriers)[0]];
    for (const [host, isAccepted] of [
      ["app.test", true],
      ["169.254.169.254", false],
      ["10.0.0.7", false],
      ["[fd00::1]", false],
      ["localhost", false],
      ["intranet", false],
      ["db.internal", false],
    ] as const) {
      const { fetch } = anywhere({ "/flow": "<Response/>" });
      const { emulator, baseUrl } = await startEmulator({ ...emulated, fetch, host: "0.0.0.0" });
      const work = place(baseUrl, { Url: `http://${host}/flow` });
      expect(await work.then(() => true).catch(() => false), host).toBe(isAccepted);
      if (!isAccepted) expect(emulator.refused).toHaveLength(1);
    }
  });

  it("stays refused by outdial's own interface", async () => {
    await using emulator = createEmulator({ fetch: () => new Response() });
    const response = await emulator.fetch("https://emulator.test/api/v1/calls/initiate", {
      ...{ method: "POST", headers: { "X-API-Key": emulator.apiKey } },
      body: JSON.stringify({
        ...{ from_number: from, to_number: answering },
        ...{ flow_url: "http://app.test/flow", status_callback_url: "https://app.test/status" },
      }),
    });
    expect(response.status).not.toBe(202);
  });
});
