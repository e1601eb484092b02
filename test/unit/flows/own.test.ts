import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { signUrl } from "../../../src/callbacks/signed-url.ts";
import { type CallFlow, requestFlowOf } from "../../../src/calls/params.ts";
import {
  type AnyAction,
  basicSchemas,
  type Dial,
  dial,
  hangup,
  play,
  stream,
} from "../../../src/flows/actions.ts";
import { flowHandler } from "../../../src/flows/handler.ts";
import { inRequest } from "../../../src/flows/in-request.ts";
import { record } from "../../../src/flows/record.ts";
import { gather, say } from "../../../src/flows/say.ts";
import { announceable, basicActions } from "../../../src/flows/wire.ts";

const secret = "a secret that was made at random";
const flow_url = "https://app.test/flow";

/** Each action: a new one doesn't compile until it is here. */
const actions: { readonly [Name in AnyAction["action"]]: Extract<AnyAction, { action: Name }> } = {
  play: play("https://app.test/hello.wav"),
  stream: stream("wss://app.test/media"),
  dial: dial("+12025550123"),
  hangup: hangup(),
  say: say("Hello."),
  gather: gather("Press 1.", { digits: 1, flow_url }),
  record: record("Tell us why."),
};

/** What a service gets whose request announces some actions. */
const answerTo = async (action: AnyAction, announced: readonly string[] | undefined) => {
  const errors: unknown[] = [];
  const handler = flowHandler<string>({
    secret,
    onAnswer: () => action,
    steps: { a: () => hangup() },
    onError: (error) => errors.push(error),
  });
  const body = JSON.stringify({
    ...{ call_id: "cs_1", account_id: "acc_1", direction: "outbound" },
    ...{ from_number: "+12025550199", to_number: "+12025550100", actions: announced },
  });
  const response = await handler(
    new Request(await signUrl(flow_url, { secret }), { method: "POST", body }),
  );
  return { answer: await response.json(), errors: errors.map(String) };
};

describe.each(Object.values(actions))("$action", (action) => {
  const { action: name } = action;
  const isBasic = Object.hasOwn(basicSchemas, name);

  test("is sent without being announced only if every service has it", async () => {
    for (const announced of [undefined, [], announceable.filter((other) => other !== name)]) {
      const { answer, errors } = await answerTo(action, announced);
      expect(answer).toMatchObject({ action: isBasic ? name : "hangup" });
      expect(errors).toEqual(
        isBasic
          ? []
          : [expect.stringContaining(`must not be ${name}: this service has not announced it`)],
      );
    }
  });

  test("is sent to a service that announces it", async () => {
    expect((await answerTo(action, announceable)).answer).toMatchObject({ action: name });
  });
});

/** Which actions the request for a call may have, as the type of it says. */
const isInRequest: {
  readonly [Name in AnyAction["action"]]: Name extends CallFlow["action"] ? true : false;
} = {
  ...{ play: true, stream: true, dial: true, hangup: true, say: true },
  ...{ gather: false, record: false },
};

test.each(Object.values(actions))(
  "the request for a call may have a $action by its type and by its rule",
  (action) => {
    const { action: name } = action;
    const { flow_url: _, ...plain }: { flow_url?: string | undefined } & object = action;
    // As JavaScript may: the type of a request refuses some of them.
    const flow = inRequest({ ...plain, action: name }) as CallFlow;
    const flowOf = () => requestFlowOf({ flow });
    if (isInRequest[name]) expect(flowOf()).toBeDefined();
    else expect(flowOf).toThrow(`flow must not be a ${name} in the request`);
  },
);

test("docs/flows.md has each action in the table of builders", () => {
  const page = readFileSync(new URL("../../../docs/flows.md", import.meta.url), "utf8");
  const [, table = ""] = /\| builder \|.*\n((?:\|.*\n)+)/.exec(page) ?? [];
  expect(Array.from(table.matchAll(/^\| `(\w+)\(/gm), ([, name]) => name).sort()).toEqual(
    Object.keys(actions).sort(),
  );
});

test("the basic actions are those with a basic schema, and a service may announce all others", () => {
  expect(basicActions).toEqual(Object.keys(basicSchemas));
  expect([...announceable].sort()).toEqual([...Object.keys(actions), "dialed"].sort());
});

describe("what follows a dial", () => {
  const sorry = "https://app.test/sorry.wav";
  const basic = [...basicActions];

  test.each<[string, Dial<string>, string]>([
    [
      "next",
      dial("+12025550123", { next: "a" }),
      "next must be left out: this service has not announced dialed",
    ],
    [
      "another action",
      dial("+12025550123", { on_failure: hangup(), on_busy: say("Busy.") }),
      "on_busy must be a play or a hangup: this service has not announced dialed",
    ],
    [
      "a play with next",
      dial("+12025550123", { on_no_answer: play(sorry, { next: "a" }) }),
      "on_no_answer must be a play or a hangup: this service has not announced dialed",
    ],
  ])("is refused by name without dialed: %s", async (_, action, message) => {
    const { answer, errors } = await answerTo(action, basic);
    expect(answer).toEqual({ action: "hangup" });
    expect(errors).toEqual([expect.stringContaining(message)]);
  });

  test("is nested where it can be, on every service", async () => {
    const action = dial("+12025550123", { on_busy: play(sorry), on_failure: hangup(), flow_url });
    for (const announced of [undefined, announceable]) {
      expect((await answerTo(action, announced)).answer).toEqual(action);
    }
  });

  test("is refused beside flow_url, which the service would follow", async () => {
    const action = dial("+12025550123", { on_busy: say("Busy."), flow_url });
    const { errors } = await answerTo(action, announceable);
    expect(errors).toEqual([
      expect.stringContaining("on_busy must be a play or a hangup beside flow_url"),
    ]);
  });
});
