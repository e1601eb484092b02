import { DatabaseSync } from "node:sqlite";
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { signUrl } from "../../../../src/callbacks/signed-url.ts";
import { type Campaign, openCampaign, type Script } from "../../../../src/campaigns/index.ts";
import { vonage } from "../../../../src/carriers/vonage/index.ts";
import { type ListOptions, serveList } from "../../../../src/cli/dial/script.ts";
import { gather, hangup, say } from "../../../../src/flows/index.ts";

const secret = "a secret that was made at random";
const publicUrl = "https://calls.test/survey";
const to_number = "+12025550100";

interface Placed {
  readonly flow_url: string;
  readonly status_callback_url: string;
}

/** A campaign with one call that was placed, and what serves its requests. */
const calling = async (script: Script, options: Partial<ListOptions> = {}) => {
  const placed: Placed[] = [];
  const campaign = await openCampaign(new DatabaseSync(":memory:"), {
    from_number: "+12025550199",
    flow_url: `${publicUrl}/flow`,
    status_callback_url: `${publicUrl}/status`,
    secret,
    window: "always",
    variables: ["name"],
    rate: 10_000,
    concurrency: 100,
    create: async (params, _) => {
      placed.push(params);
      return { id: `cs_${placed.length}` };
    },
  });
  onTestFinished(() => campaign.close());
  await campaign.add([{ to_number, id: "A-1", variables: { name: "Ada" } }]);
  await campaign.step();
  await campaign.idle();
  const onError = vi.fn();
  const handler = serveList({
    script,
    campaign: () => campaign,
    ...{ secret, publicUrl, onError },
    baseUrl: () => publicUrl,
    ...options,
  });
  const post = async (url: string, body: object = {}) => {
    const call = {
      ...{ call_id: "cs_1", account_id: "acc_1", from_number: "+12025550199", to_number },
      ...{ direction: "outbound", actions: ["say", "gather"], ...body },
    };
    const response = await handler(
      new Request(url, { method: "POST", body: JSON.stringify(call) }),
    );
    const text = await response.text();
    return { status: response.status, text };
  };
  const actionAt = async (url: string, body?: object) => JSON.parse((await post(url, body)).text);
  const [{ flow_url, status_callback_url } = expect.fail("no call")] = placed;
  return { campaign, handler, post, actionAt, onError, flow_url, status_callback_url };
};

const asking = (steps: Script["steps"] = { thanks: () => say("Thanks.") }): Script => ({
  onAnswer: () => gather("1?", { digits: 1, as: "visit", on: { 1: "thanks" } }),
  steps,
});

/** The only contact of a campaign. */
const resultOf = (campaign: Campaign) => [...campaign.results()][0];

test("the id of a recording whose contact was erased is handed over: nothing else has it", async () => {
  const onRecording = vi.fn();
  const onErasedRecording = vi.fn();
  const { campaign, post, status_callback_url } = await calling(
    { onAnswer: hangup },
    { onRecording, onErasedRecording },
  );
  const made = (recording_id: string, url = status_callback_url) => {
    const data = { recording_id, recording_url: "https://storage.test/r?signature=MARKED" };
    return post(url, { type: "recording.completed", data });
  };
  await made("rec_1");
  await campaign.erase(to_number);
  await made("rec_2");
  const context = { campaign: "other", contact: 1, attempt: 1 };
  await made("rec_3", await signUrl(`${publicUrl}/status`, { secret, context }));
  expect(onRecording.mock.calls).toMatchObject([[{ recording_id: "rec_1" }]]);
  expect(onErasedRecording.mock.calls).toEqual([["rec_2"]]);
});

describe("a step of a script", () => {
  test("gets contact and campaign, by the ledger and not by the request; its answers are in the ledger before it runs", async () => {
    const given: unknown[] = [];
    const { campaign, actionAt, flow_url } = await calling(
      asking({
        thanks: async ({ contact, campaign: list, answers, variables }) => {
          given.push(contact, answers, variables, resultOf(campaign)?.answers);
          given.push(
            await list.block(contact.to_number),
            await list.callBack(to_number, new Date()),
          );
          return say("Thanks.");
        },
      }),
    );
    // Who knows the signed URL may write another number into the request.
    const question = await actionAt(flow_url, { to_number: "+12025550111" });
    const action = await actionAt(question.flow_url, { to_number: "+12025550111", digits: "1" });
    expect(action).toEqual({ action: "say", prompts: [{ text: "Thanks." }] });
    const contact = { to_number, id: "A-1", variables: { name: "Ada" }, attempt: 1 };
    const answers = { visit: "1" };
    expect(given).toEqual([contact, answers, { name: "Ada" }, answers, 1, false]);
  });

  test("has its numbers in the file of --opt-outs before its answer, and what is no number in neither", async () => {
    const order: unknown[] = [];
    const { campaign, actionAt, flow_url, onError } = await calling(
      {
        onAnswer: async ({ campaign: list }) => {
          await list.block("+12025550111");
          order.push("blocked");
          await list.block("0190 1234");
          return hangup();
        },
      },
      {
        optOut: async (numbers) => {
          order.push(numbers, campaign.progress().waiting);
        },
      },
    );
    expect(await actionAt(flow_url)).toEqual({ action: "hangup" });
    expect(order).toEqual([["+12025550111"], 0, "blocked"]);
    expect(onError.mock.calls).toEqual([
      [expect.objectContaining({ issues: expect.anything() }), "cs_1"],
    ]);
  });

  test("blocks who asks for it in the ledger, also where the file cannot be written", async () => {
    const { campaign, actionAt, flow_url, onError } = await calling(
      {
        onAnswer: async ({ campaign: list }) => {
          await list.block("+12025550111");
          return say("You will not be called again.");
        },
      },
      { optOut: () => Promise.reject(new Error("ENOSPC")) },
    );
    await campaign.add([{ to_number: "+12025550111" }]);
    expect(await actionAt(flow_url)).toEqual({ action: "hangup" });
    expect(campaign.progress().blocked).toBe(1);
    expect(onError).toHaveBeenCalledWith(new Error("ENOSPC"), "cs_1");
  });

  test("runs for no call of another ledger, whatever secret signed its URL", async () => {
    const onAnswer = vi.fn(() => hangup());
    const { actionAt, onError } = await calling({ onAnswer });
    const context = { campaign: "another", contact: 1, attempt: 1 };
    const url = await signUrl(`${publicUrl}/flow`, { secret, context });
    expect(await actionAt(url)).toEqual({ action: "hangup" });
    expect(onAnswer).not.toHaveBeenCalled();
    expect(onError).toHaveBeenCalledOnce();
  });
});

describe("a call whose step failed ends as flow_error:", () => {
  const ended = {
    type: "call.completed",
    call_id: "cs_1",
    data: { duration: 2, reason: "normal" },
  };

  test.each<[string, Script["onAnswer"], string]>([
    [
      "it threw: the message may have a contact's data, so it isn't kept",
      () => Promise.reject(new RangeError("no row of Ada, +1 202 555 0100")),
      "--script failed: RangeError",
    ],
    [
      "it returned no action",
      // @ts-expect-error: JavaScript
      () => undefined,
      "--script failed: action must be play, stream, dial, hangup, say, gather or record",
    ],
  ])("%s", async (_, onAnswer, reason) => {
    const { campaign, actionAt, post, flow_url, status_callback_url } = await calling({ onAnswer });
    expect(await actionAt(flow_url)).toEqual({ action: "hangup" });
    await post(status_callback_url, ended);
    expect(resultOf(campaign)).toMatchObject({ disposition: "flow_error", reason });
  });

  test("but not one whose onInput failed, as the flow goes on", async () => {
    const onInput = () => Promise.reject(new Error("no table"));
    const { campaign, actionAt, post, onError, flow_url, status_callback_url } = await calling({
      ...asking(),
      onInput,
    });
    const { flow_url: next } = await actionAt(flow_url);
    expect(await actionAt(next, { digits: "1" })).toMatchObject({ action: "say" });
    expect(onError).toHaveBeenCalledOnce();
    await post(status_callback_url, ended);
    expect(resultOf(campaign)).toMatchObject({ disposition: "completed", answers: { visit: "1" } });
  });
});

describe("answered calls whose flow is never requested", () => {
  /** Answered and completed calls, one after the other; of some the flow is requested before. */
  const calls = async (requested: readonly boolean[]) => {
    const { campaign, post } = await calling({ onAnswer: () => hangup() });
    const more = requested.map((_, index) => ({ to_number: `+1202556${1_000 + index}` }));
    await campaign.add(more);
    while (campaign.progress().waiting > 0) {
      await campaign.step();
      await campaign.idle();
    }
    const states: string[] = [];
    for (const [index, isRequested] of requested.entries()) {
      const context = { campaign: campaign.id, contact: index + 1, attempt: 1 };
      const url = (path: string) => signUrl(`${publicUrl}/${path}`, { secret, context });
      const notify = async (type: string) => {
        const event = { type, call_id: `cs_${index}`, data: { reason: "normal" } };
        expect((await post(await url("status"), event)).status).toBe(204);
      };
      await notify("call.answered");
      if (isRequested) await post(await url("flow"));
      await notify("call.completed");
      states.push(campaign.progress().state);
    }
    return { states, reason: campaign.progress().reason };
  };

  const none = Array.from({ length: 20 }, () => false);

  test("pause the list, 20 in a row: no carrier says that it can't reach it", async () => {
    const { states, reason } = await calls(none);
    expect(states.slice(0, 19).every((state) => state === "running")).toBe(true);
    expect(states.at(-1)).toBe("paused");
    expect(reason).toMatch(/20 answered calls in a row was never requested/);
  });

  test("do not, where one of them is requested", async () => {
    const { states } = await calls([...none.slice(1), true, ...none.slice(1)]);
    expect(states.at(-1)).toBe("running");
  });
});

describe("the server of a list", () => {
  let served: Awaited<ReturnType<typeof calling>>;
  const onAnswer = vi.fn(() => hangup());
  beforeEach(async () => {
    onAnswer.mockClear();
    served = await calling({ onAnswer });
  });

  test("has /flow and /status, at the public URL's path and without it; everything else is 404 without a body", async () => {
    const { post, handler, flow_url, status_callback_url } = served;
    const answered = { type: "call.answered", call_id: "cs_1", data: {} };
    for (const prefix of ["/survey", ""]) {
      const at = (url: string) => url.replace("/survey", prefix);
      expect((await post(at(flow_url))).text).toBe('{"action":"hangup"}');
      expect(await post(at(status_callback_url), answered)).toEqual({ status: 204, text: "" });
    }
    for (const path of [
      "",
      "/",
      "/Flow",
      "/flow/",
      "/flowx",
      "/x/flow",
      "//flow",
      "/survey/survey/flow",
    ]) {
      for (const method of ["GET", "POST", "OPTIONS", "DELETE"]) {
        const response = await handler(new Request(`https://calls.test${path}`, { method }));
        expect([response.status, await response.text()], `${method} ${path}`).toEqual([404, ""]);
      }
    }
  });

  test("runs no step for what is not signed for this path, nor for what is no POST", async () => {
    const { post, handler, flow_url, status_callback_url } = served;
    const [, token = ""] = status_callback_url.split("?");
    const other = await signUrl(`${publicUrl}/flow`, { secret: "another secret, made at random" });
    const expired = await signUrl(`${publicUrl}/flow`, { secret, expiresIn: 1 });
    vi.useFakeTimers({ now: Date.now() + 5_000, toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
    const urls = [
      `${publicUrl}/flow`,
      `${publicUrl}/flow?${token}`,
      other,
      expired,
      `${flow_url}x`,
      flow_url.replace("?", "?a=1&"),
    ];
    for (const url of urls) expect((await post(url)).status, url).toBe(401);
    for (const method of ["GET", "PUT", "DELETE"]) {
      const response = await handler(new Request(flow_url, { method }));
      expect(response.status, method).toBe(405);
    }
    expect(onAnswer).not.toHaveBeenCalled();
    expect((await post(flow_url)).status).toBe(200);
  });

  test("reads at most 64 KiB, and of what is not signed nothing", async () => {
    const { handler, flow_url } = served;
    let pulled = 0;
    const endless = () =>
      new ReadableStream<Uint8Array>(
        {
          pull: (controller) => {
            pulled++;
            controller.enqueue(new Uint8Array(16_384));
          },
        },
        { highWaterMark: 0 },
      );
    const init = () => ({ method: "POST", body: endless(), duplex: "half" }) as const;
    expect((await handler(new Request(`${publicUrl}/flow`, init()))).status).toBe(401);
    expect(pulled).toBe(0);
    expect((await handler(new Request(flow_url, init()))).status).toBe(413);
    expect(pulled).toBeLessThan(8);
    expect(onAnswer).not.toHaveBeenCalled();
  });

  test("has the service send again what comes before the ledger is open", async () => {
    const closed = await calling({ onAnswer }, { campaign: () => undefined });
    const answered = { type: "call.answered", call_id: "cs_1", data: {} };
    expect((await closed.post(closed.status_callback_url, answered)).status).toBe(500);
    expect((await closed.post(closed.flow_url)).text).toBe('{"action":"hangup"}');
    expect(onAnswer).not.toHaveBeenCalled();
  });

  test("without a script has no /flow", async () => {
    const { post, flow_url } = await calling({ onAnswer }, { script: undefined });
    expect(await post(flow_url)).toEqual({ status: 404, text: "" });
  });
});

describe("Vonage finds out during the flow that a machine has answered", () => {
  const service = vonage({ applicationId: "78d335fa-323d-0114-9c3d-d6f0d48968cf" });
  const uuid = "63f61863-4a51-4f6b-86e1-46edebcf9356";
  const heard = (sub_state?: string) => ({
    ...{ call_uuid: uuid, from: "12025550199", to: "12025550100", status: "machine" },
    ...(sub_state && { sub_state }),
  });
  const script = { ...asking(), onMachine: () => say("Call us.") };

  const vonageCall = async (options: Partial<ListOptions> = {}) => {
    const redirect = vi.fn<NonNullable<ListOptions["redirect"]>>(async () => {});
    const called = await calling(script, { service, redirect, ...options });
    const answer = { uuid, from: "12025550199", to: "12025550100", conversation_uuid: "CON-1" };
    const notify = (body: object) => called.post(called.status_callback_url, body);
    return { ...called, redirect, notify, answer };
  };

  test("so the call is sent to onMachine, once, when its greeting is over", async () => {
    const { notify, redirect, post, answer } = await vonageCall();
    for (const sub_state of [undefined, "beep_start", "beep_start", "beep_timeout"]) {
      expect((await notify(heard(sub_state))).status).toBe(204);
    }
    expect(redirect).toHaveBeenCalledOnce();
    const [call, url] = redirect.mock.calls[0] ?? expect.fail("not redirected");
    expect(call).toEqual({ id: uuid, from_number: "+12025550199", to_number });
    const [first] = JSON.parse((await post(url, answer)).text);
    expect(first).toMatchObject({ action: "talk", text: "Call us." });
  });

  test("but not one whose callee has pressed a key", async () => {
    const { notify, redirect, post, flow_url, answer } = await vonageCall();
    const ncco = JSON.parse((await post(flow_url, answer)).text);
    const [url = ""] = ncco.at(-1).eventUrl;
    await post(url, { ...answer, dtmf: { digits: "1", timed_out: false } });
    expect((await notify(heard("beep_start"))).status).toBe(204);
    expect(redirect).not.toHaveBeenCalled();
  });

  test("a redirect that fails is reported, and the notification is not sent again", async () => {
    const redirect = () => Promise.reject(new Error("the call is over"));
    const { notify, onError } = await vonageCall({ redirect });
    expect((await notify(heard("beep_start"))).status).toBe(204);
    expect(onError.mock.calls).toEqual([[new Error("the call is over"), uuid]]);
  });
});
