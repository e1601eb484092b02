// Why a call failed, on each service's emulator: the whole cause, and what each carrier's own client reads of it.
import { describe, expect, onTestFinished, test } from "vitest";
import { signUrl } from "../../src/callbacks/signed-url.ts";
import { create, type LiveOptions, why } from "../../src/calls/index.ts";
import { createEmulator, type EmulatorOptions } from "../../src/emulator/index.ts";
import { flowHandler, hangup } from "../../src/flows/index.ts";
import type { Service } from "../../src/service.ts";
import { clientFor, startTwilio } from "../twilio/stage.ts";
import { carriers } from "./carriers.ts";
import { answering, from } from "./stage.ts";

interface Stage {
  readonly name: string;
  readonly service?: Service;
  readonly emulated: EmulatorOptions;
}

const secret = "a secret that was made at random";
const pin = "402913";

/** Places a call whose flow is answered by a function, and waits until it is over. */
const place = async (
  { service, emulated }: Stage,
  flow: (request: Request) => Response | Promise<Response>,
  params: { readonly to_number?: string; readonly flow_url?: string } = {},
) => {
  const emulator = createEmulator({
    ...{ ...emulated, clock: "instant" },
    fetch: (request) =>
      request.url.includes("/flow") ? flow(request) : new Response(null, { status: 204 }),
  });
  onTestFinished(() => emulator.close());
  const options: LiveOptions & { service?: never } = {
    ...{ apiKey: emulator.apiKey, baseUrl: "https://emulator.test", fetch: emulator.fetch },
    ...({ service } as object),
  };
  const { id } = await create(
    {
      ...{ from_number: from, to_number: answering },
      ...{ flow_url: `https://app.test/flow?pin=${pin}` },
      ...{ status_callback_url: "https://app.test/status", ...params },
    },
    options,
  );
  await emulator.ended(id);
  return { id, options, emulator };
};

describe.each<Stage>([{ name: "outdial's own interface", emulated: {} }, ...carriers])(
  "$name",
  (stage) => {
    const { name, service } = stage;
    const handler = flowHandler({
      ...(service && { service }),
      secret,
      onAnswer: () => hangup(),
      onError: () => {},
    });

    test("a handler's refusal is named, with its rule", async () => {
      const { id, options } = await place(stage, handler);
      const { state, causes, explanation, complete } = await why(id, options);
      expect([state, complete]).toEqual(["completed", true]);
      expect(causes).toEqual([
        {
          ...(name === "twilio" && {
            ...{ code: "11200", link: "https://www.twilio.com/docs/errors/11200" },
          }),
          text: expect.stringMatching(
            /^step 1: \w+ answered HTTP 401 \(outdial-refused: no_token\)$/,
          ),
          level: "error",
        },
      ]);
      expect(explanation).toMatch(
        /Your own handler refused the request \(no_token\)\. .*signUrl\.$/,
      );
    });

    test("what the flow answered is named, without what is in the URL", async () => {
      const { id, options } = await place(stage, () => new Response("oh", { status: 502 }));
      const found = await why(id, options);
      expect(found.causes).toMatchObject([{ text: expect.stringContaining("answered HTTP 502") }]);
      expect(found.explanation).toMatch(/^The call was answered, but its flow could not/);
      expect(JSON.stringify(found)).not.toMatch(new RegExp(`${pin}|app\\.test|2025550`));
    });

    test("what a function of yours throws is named by its error's name: to the service the call ends as any", async () => {
      const flow_url = await signUrl("https://app.test/flow", { secret });
      const onAnswer = () => Promise.reject(new RangeError(`no row of ${pin}`));
      const throwing = flowHandler({
        ...(service && { service }),
        ...{ secret, onAnswer, onError: () => {} },
      });
      const { id, options, emulator } = await place(stage, throwing, { flow_url });
      const { reason, history = [] } = emulator.call(id) ?? {};
      expect(reason).toBe("normal");
      const text =
        "step 1: flow_url answered hangup, as a function of yours failed (outdial-failed: RangeError)";
      expect(history.filter(({ type }) => type === "flow_error")).toMatchObject([
        { step: 1, field: "flow_url", message: text },
      ]);
      const found = await why(id, options);
      expect(found).toMatchObject({ state: "completed", causes: [{ text, level: "error" }] });
      expect(found.explanation).toMatch(
        /^The call was answered, but its flow could not.* Your own handler hung up, .* onError/,
      );
      expect(JSON.stringify([found, history])).not.toContain("no row");
      const well = await place(stage, handler, { flow_url });
      const entries = well.emulator.call(well.id)?.history.map(({ type }) => type);
      expect(entries).not.toContain("flow_error");
    });

    test.each<[string, unknown, string]>([
      ["an action that breaks a rule", { action: "sing" }, "action must be play, "],
      ["no action", undefined, "action must be "],
    ])("of %s the rule is named", async (_, returned, rule) => {
      const flow_url = await signUrl("https://app.test/flow", { secret });
      const wrong = flowHandler({
        ...(service && { service }),
        ...{ secret, onAnswer: () => returned as never, onError: () => {} },
      });
      const { id, options } = await place(stage, wrong, { flow_url });
      const { causes } = await why(id, options);
      expect(causes).toMatchObject([{ text: expect.stringContaining(`(outdial-failed: ${rule}`) }]);
    });

    test.each([
      ["+12025550101", "busy"],
      ["+12025550102", "no_answer"],
    ])("a call to %s failed: %s", async (to_number, reason) => {
      const { id, options } = await place(stage, handler, { to_number });
      const found = await why(id, options);
      expect(found).toMatchObject({ id, state: "failed", reason, complete: true });
      expect(found.causes.map(({ level }) => level)).toEqual(service ? ["error"] : []);
    });

    test("a call that went well has no cause", async () => {
      const flow_url = await signUrl("https://app.test/flow", { secret });
      const { id, options } = await place(stage, handler, { flow_url });
      const found = await why(id, options);
      expect(found).toMatchObject({ state: "completed", causes: [], complete: true });
      expect(found.explanation).toMatch(/^The call was answered, and ended as a call does/);
    });
  },
);

test("Twilio's own client lists the notifications of a call: all fields of the list, by their level", async () => {
  const { emulator, client, baseUrl } = await startTwilio();
  const url = "https://nowhere.invalid/flow?token=signed";
  const { sid } = await client.calls.create({ from, to: answering, url });
  await emulator.ended(sid);
  const all = await client.calls(sid).notifications.list();
  expect(all).toMatchObject([
    {
      ...{ callSid: sid, errorCode: "11200", log: "0", requestMethod: "POST", requestUrl: url },
      moreInfo: "https://www.twilio.com/docs/errors/11200",
      sid: expect.stringMatching(/^NO[\da-f]{32}$/),
    },
  ]);
  const [{ messageText = "", dateCreated } = {}] = all;
  expect(new URLSearchParams(messageText).get("Msg")).toMatch(/^step 1: Url /);
  expect(dateCreated).toBeInstanceOf(Date);
  expect(await client.calls(sid).notifications.list({ log: 0 })).toHaveLength(1);
  expect(await client.calls(sid).notifications.list({ log: 1 })).toEqual([]);
  const other = `CA${"f".repeat(32)}`;
  await expect(client.calls(other).notifications.list()).rejects.toMatchObject({ status: 404 });
  const stranger = clientFor(baseUrl, undefined, "f".repeat(32));
  await expect(stranger.calls(sid).notifications.list()).rejects.toMatchObject({ status: 401 });
});
