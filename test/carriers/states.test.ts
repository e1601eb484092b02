import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { telnyx } from "../../src/carriers/telnyx/index.ts";
import { twilio } from "../../src/carriers/twilio/index.ts";
import { vonage } from "../../src/carriers/vonage/index.ts";
import { dial, play } from "../../src/flows/actions.ts";
import { flowHandler } from "../../src/flows/handler.ts";
import { gather, say } from "../../src/flows/say.ts";
import type { Service } from "../../src/service.ts";
import { converse, key, type Program, secret, services, spokenIn } from "./conversations.ts";

afterEach(() => void vi.useRealTimers());

/** The same service without its own signatures: what is tested is the state alone. */
const unsigned = ({ name, account }: Service): Service => {
  if (name === "twilio") return twilio({ accountSid: account });
  return name === "telnyx"
    ? telnyx({ applicationId: account })
    : vonage({ applicationId: account });
};

const program = (ran: string[] = []): Program<"next" | "thanks"> => ({
  onAnswer: () => gather("One?", { digits: 1, as: "first", next: "next", tries: 2 }),
  steps: {
    next: ({ answers }) => {
      ran.push(`next ${answers.first}`);
      return gather("Two?", { digits: 4, as: "second", next: "thanks" });
    },
    thanks: ({ answers }) => {
      ran.push(`thanks ${answers.second}`);
      return say("Thank you.");
    },
  },
});

describe.each(services)("$name: a state", (talking) => {
  const service = talking.service && unsigned(talking.service);

  /** The requests of a call that answers 7 and 4242, and a handler of the same program. */
  const recorded = async () => {
    const { requests } = await converse(talking, program(), [...key("7"), ...key("4242")]);
    const ran: string[] = [];
    const refused: unknown[] = [];
    const handler = flowHandler({
      ...(service && { service }),
      ...{ secret, ...program(ran) },
      onError: (error) => refused.push(Object(error).reason ?? error),
    });
    const [, second, third] = requests;
    if (!second || !third) throw new Error("the call has asked twice");
    const send = async (from: Request, url: string) =>
      (
        await handler(
          new Request(url, {
            method: "POST",
            body: await from.clone().text(),
            headers: from.headers,
          }),
        )
      ).status;
    return { second, third, ran, refused, send };
  };

  test("is answered as often as it comes", async () => {
    const { second, ran, refused, send } = await recorded();
    expect(await send(second, second.url)).toBe(200);
    expect(await send(second, second.url)).toBe(200);
    expect([ran, refused]).toEqual([["next 7", "next 7"], []]);
  });

  test("that was altered is refused, wherever it was, and nothing runs", async () => {
    const { second, ran, refused, send } = await recorded();
    const { url } = second;
    const start = url.indexOf("outdial=") + "outdial=".length;
    const places = Array.from({ length: url.length - start }, (_, at) => start + at).filter(
      (at, index) => url[at] !== "." && index % 11 === 0,
    );
    for (const at of [...places, url.length - 1]) {
      const other = url[at] === "1" ? "2" : "1";
      expect(await send(second, url.slice(0, at) + other + url.slice(at + 1))).toBe(401);
    }
    // A dot that is gone, or another one, makes it no token at all.
    expect(new Set(refused.filter((reason) => reason !== "no_token"))).toEqual(
      new Set(["wrong_token"]),
    );
    expect(ran).toEqual([]);
  });

  test("that was moved to another path or query is refused", async () => {
    const { second, ran, refused, send } = await recorded();
    expect(await send(second, second.url.replace("/flow", "/other"))).toBe(401);
    expect(await send(second, second.url.replace("a=1", "a=2"))).toBe(401);
    expect(await send(second, second.url.replace("a=1&", ""))).toBe(401);
    expect(refused).toEqual(["wrong_token", "wrong_token", "wrong_token"]);
    expect(ran).toEqual([]);
  });

  test("of one call is refused in another", async () => {
    const [one, other] = [await recorded(), await recorded()];
    expect(await one.send(other.second, one.second.url)).toBe(401);
    expect([one.refused, one.ran]).toEqual([["wrong_call"], []]);
  });

  test("that has expired is refused", async () => {
    const { second, ran, refused, send } = await recorded();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 86_401_000 });
    expect(await send(second, second.url)).toBe(401);
    expect([refused, ran]).toEqual([["expired_token"], []]);
  });

  test("names no step that is gone: the error is reported, and the call is hung up", async () => {
    const { second } = await recorded();
    const errors: unknown[] = [];
    const handler = flowHandler({
      ...(service && { service }),
      ...{ secret, onAnswer: () => say("Hello."), steps: { other: () => say("Other.") } },
      onError: (error) => errors.push(error),
    });
    expect((await handler(second.clone())).status).toBe(200);
    expect(String(errors)).toContain("steps lacks the step of this URL");
  });

  test("shows no answer, no name and no step in any URL", async () => {
    const { second, third } = await recorded();
    for (const { url } of [second, third]) {
      const [, , encoded = ""] = /outdial=(\d+)\.([\w-]+)\./.exec(url) ?? [];
      const texts = [
        url,
        decodeURIComponent(url),
        Buffer.from(encoded, "base64url").toString("latin1"),
      ];
      for (const text of texts) expect(text).not.toMatch(/first|second|next|thanks|4242|onAnswer/);
    }
  });

  test("a step that throws is reported, and the call is hung up", async () => {
    const { call, onError } = await converse(
      talking,
      {
        ...program(),
        steps: {
          next: () => {
            throw new Error("the database is away");
          },
          thanks: () => say("Thank you."),
        },
      },
      key("7"),
    );
    expect(call).toMatchObject({ reason: "normal" });
    expect(onError.mock.calls.map(([{ message }]) => message)).toEqual(["the database is away"]);
  });

  test("that doesn't fit into a URL is refused by name, before the question is asked", async () => {
    const context = { note: "x".repeat(700) };
    const steps = Object.fromEntries(
      Array.from({ length: 99 }, (_, at) => [`a step with the number ${at}`, () => say("Hello.")]),
    );
    const on = Object.fromEntries(Object.keys(steps).map((name, at) => [String(at), name]));
    const { call, onError } = await converse(
      talking,
      { onAnswer: () => gather("One?", { digits: 2, on }), steps },
      [],
      { context },
    );
    expect(JSON.stringify(call.history)).not.toContain("One?");
    expect(onError.mock.calls.map(([{ message }]) => message)).toEqual([
      expect.stringMatching(
        /^gather (needs a URL of \d+ characters|is answered at a signed URL, which)/,
      ),
    ]);
  });
});

describe.each(services.filter(({ name }) => name !== "own"))(
  "$name: what follows a dial",
  (talking) => {
    const service = unsigned(talking.service ?? expect.fail());
    const on_busy = play("https://app.test/private.wav", { flow_url: "https://app.test/flow" });

    /** The request by which a carrier asks what follows a callee who is busy. */
    const recorded = async () => {
      const onAnswer = () => dial("+12025550101", { on_busy });
      const { requests } = await converse(talking, { onAnswer }, []);
      for (const request of requests.slice(1)) {
        if ((await request.clone().text()).includes("busy")) return request;
      }
      return expect.fail();
    };

    test("is in the URL, where nobody reads it", async () => {
      const { url } = await recorded();
      const texts = url.match(/[\w-]{8,}/g)?.map((one) => Buffer.from(one, "base64url").toString());
      expect([url, ...(texts ?? [])].join()).not.toMatch(/private|\+1202|on_busy/);
    });

    test("belongs to one call: at the URL of another it is refused", async () => {
      const [one, other] = [await recorded(), await recorded()];
      const onError = vi.fn();
      const handler = flowHandler({ service, secret, onAnswer: () => say("Hello."), onError });
      const send = (url: string, { headers }: Request, body: string) =>
        handler(new Request(url, { method: "POST", headers, body }));
      const body = await other.text();
      expect(await (await send(other.url, other, body)).text()).toContain("private.wav");
      expect(onError).not.toHaveBeenCalled();
      expect((await send(one.url, other, body)).status).toBe(401);
      expect(onError.mock.calls[0]?.[0]).toMatchObject({ reason: "wrong_call" });
    });
  },
);

test.each(services.filter(({ name }) => name === "twilio" || name === "telnyx"))(
  "$name: a request of a call that has ended runs no step",
  async (talking) => {
    const ran: string[] = [];
    const { requests } = await converse(talking, program(), key("7"));
    const handler = flowHandler({
      ...{ service: unsigned(talking.service ?? expect.fail()), secret, ...program(ran) },
      onInput: () => ran.push("onInput"),
    });
    const { url, headers } = requests[1] ?? expect.fail();
    const form = new URLSearchParams(await requests[1]?.text());
    form.set("CallStatus", "completed");
    const response = await handler(new Request(url, { method: "POST", headers, body: `${form}` }));
    expect(await response.text()).toContain("<Response><Hangup/></Response>");
    expect(ran).toEqual([]);
  },
);

test("keys of a prototype are no answers, and texts that are no keys are silence", async () => {
  const own = services[0] ?? expect.fail();
  const ran: string[] = [];
  const { requests } = await converse(own, program(), key("7"));
  const handler = flowHandler({
    ...{ secret, onAnswer: () => say("Hello.") },
    onInput: ({ digits }) => ran.push(digits),
    steps: {},
  });
  const { url, headers } = requests[1] ?? expect.fail();
  const call = await requests[1]?.json();
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        fc.constantFrom("constructor", "__proto__", "toString", "1".repeat(21)),
        fc.string(),
      ),
      async (digits) => {
        fc.pre(!/^[\d*#]{1,20}$/.test(digits));
        const body = JSON.stringify({ ...call, digits });
        await handler(new Request(url, { method: "POST", headers, body }));
      },
    ),
  );
  expect(ran).toEqual([]);
});

test.each(services)(
  "$name: ten answers fit, with a list's context of five variables",
  async (talking) => {
    const count = 10;
    const ask = (at: number) => ({
      ...{
        digits: 1 as const,
        as: `answer_${at}`,
        next: at < count ? `question_${at + 1}` : "thanks",
      },
    });
    const questions = Array.from({ length: count - 1 }, (_, at) => at + 2);
    const variables = { name: "Ann Example", when: "tomorrow at nine", place: "Main Street 17" };
    const context = {
      ...{ campaign: "2026-11 reminders", contact: 12_345, attempt: 2, id: "customer-12345" },
      variables: { ...variables, doctor: "Dr. Example", language: "en-GB" },
    };
    const { call, urls, onError } = await converse<string>(
      talking,
      {
        onAnswer: () => gather("Question 1?", ask(1)),
        steps: {
          ...Object.fromEntries(
            questions.map((at) => [`question_${at}`, () => gather(`Question ${at}?`, ask(at))]),
          ),
          thanks: ({ answers, variables: given }) =>
            say(`Thank you, ${given.name}, for ${Object.keys(answers).length}.`),
        },
      },
      Array.from({ length: count }, () => key("4")).flat(),
      { context },
    );
    expect(onError).not.toHaveBeenCalled();
    expect(spokenIn(call).at(-1)).toBe("Thank you, Ann Example, for 10.");
    expect(Math.max(...urls.map(({ length }) => length))).toBeLessThan(1600);
  },
);
