// Functions about a call that was placed, against services that answer what nobody expects.
import { getEventListeners } from "node:events";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  end,
  get,
  type LiveOptions,
  press,
  recording,
  redirect,
} from "../../../src/calls/index.ts";
import { telnyx } from "../../../src/carriers/telnyx/index.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import { vonage } from "../../../src/carriers/vonage/index.ts";
import type { Service } from "../../../src/service.ts";
import { pem } from "../vonage/keys.ts";

const apiKey = "a-key-of-the-account";
const baseUrl = "https://voice.test";
const numbers = { from_number: "+12025550199", to_number: "+12025550100" };

/** Options whose requests are answered by a function. */
const answering = (fetch: (url: string, init: RequestInit) => Response | Promise<Response>) => {
  const sent: string[] = [];
  const options = {
    ...{ apiKey, baseUrl },
    fetch: async (url: string, init: RequestInit) => {
      sent.push(`${init.method} ${url}`);
      return fetch(url, init);
    },
  };
  return { options, sent };
};

const json = (body: object, status = 200) => Response.json(body, { status });

const id = "cs_1";
const page = "<!doctype html><title>Log in</title>";

/** What something else than the service answers in its place. */
const strange: Readonly<Record<string, ConstructorParameters<typeof Response>[0]>> = {
  "a page": page,
  "a page above the most that is read": page.padEnd(2 ** 20 + 1),
  "JSON above the most that is read": "{}".padEnd(2 ** 20 + 1),
  "a page in UTF-16": Uint8Array.from([0xff, 0xfe, ...Buffer.from(page, "utf16le")]),
  "a page after a NUL byte": `\0${page}`,
  "a page after a text": `Please log in. ${page}`,
  "a text": "OK",
  "a list": "[{}]",
  null: "null",
  nothing: "",
};

/** How each service says that a call is over. */
const rows: readonly (readonly [
  name: string,
  service: Service | undefined,
  key: string,
  over: (id: string) => object,
])[] = [
  ["outdial's own interface", undefined, apiKey, (id) => ({ id, state: "completed" })],
  [
    "twilio",
    twilio({ accountSid: "AC00000000000000000000000000000000" }),
    apiKey,
    (sid) => ({ sid, status: "completed" }),
  ],
  [
    "telnyx",
    telnyx({ applicationId: "1", accountSid: "f5586561-8ff0-4291-a51b-c7dfe4139ff9" }),
    apiKey,
    (sid) => ({ sid, status: "completed" }),
  ],
  [
    "vonage",
    vonage({ applicationId: "aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab" }),
    pem,
    (uuid) => ({ uuid, status: "completed", duration: "1" }),
  ],
];

describe.each(rows)("%s", (_, service, key, over) => {
  const given = (fetch: Parameters<typeof answering>[0]) =>
    ({ ...answering(fetch).options, apiKey: key, service }) as LiveOptions;

  test("another call's state is no answer", async () => {
    const wrong = given(() => json(over("cs_2")));
    await expect(get(id, wrong)).rejects.toMatchObject({ name: "ServiceException", code: 200 });
    const spelled = given(() => json(over("CS_1")));
    expect(await get(id, spelled)).toMatchObject({ state: "completed" });
  });

  test("a call is not over because another one is", async () => {
    const other = given((_, { method }) =>
      method === "GET" ? json(over("cs_2")) : json({ code: "busy" }, 409),
    );
    await expect(end(id, other)).rejects.toMatchObject({ code: 409 });
    const same = given((_, { method }) =>
      method === "GET" ? json(over(id)) : json({ code: "busy" }, 409),
    );
    await end(id, same);
  });

  test.each(Object.entries(strange))("%s has ended no call", async (name, body) => {
    for (const status of name === "nothing" ? [200] : [200, 202]) {
      const asked = end(
        id,
        given(() => new Response(body, { status })),
      );
      await expect(asked).rejects.toThrow(
        /^HTTP 20[02] without the service's answer, .* \(the call may have been ended\)$/,
      );
    }
  });

  test("an object ends a call, and so does an empty answer whose status says that it is one", async () => {
    await end(
      id,
      given(() => json({}, 202)),
    );
    for (const status of [202, 204]) {
      await end(
        id,
        given(() => new Response(null, { status })),
      );
    }
  });

  test("a duration of more seconds than a number has is left out", async () => {
    const long = given(() => json({ ...over(id), duration: "9".repeat(400) }));
    expect((await get(id, long)).duration).toBeUndefined();
  });

  test("fields of any kind are no call, and no failed connection", async () => {
    const strange = { toString: 1, valueOf: 1 };
    const call = { ...over(id), duration: strange, answered_at: strange, ended_at: strange };
    const strangeCall = given(() => json(call));
    const { name, code } = await get(id, strangeCall).catch((error) => error);
    expect([name, code]).toEqual(["ServiceException", 200]);
  });
});

test.each([
  [
    "outdial's own interface",
    undefined,
    (of: string) => ({ id: of, legs: [{ recordings: [{ url: `${baseUrl}/RE1` }] }] }),
  ],
  [
    "twilio",
    twilio({ accountSid: "AC00000000000000000000000000000000" }),
    (call_sid: string) => ({ recordings: [{ call_sid, sid: "RE1", status: "completed" }] }),
  ],
  [
    "telnyx",
    telnyx({ applicationId: "1", accountSid: "acc_1" }),
    (call_sid: string) => ({ recordings: [{ call_sid, sid: "1", media_url: `${baseUrl}/RE1` }] }),
  ],
])("%s: another call's recording is none of this one", async (_, service, listOf) => {
  const found = (of: string) => {
    const { options } = answering((url) =>
      url.endsWith("/RE1") ? new Response("RIFF") : json(listOf(of)),
    );
    return recording(id, { ...options, service } as LiveOptions);
  };
  await expect(found("cs_2")).rejects.toThrow(/^HTTP 200 without a recording of this call/);
  expect(await (await found("CS_1")).text()).toBe("RIFF");
});

describe("the cost of a call is the text that the carrier reports", () => {
  const named = [
    [
      { price: "-0.00750", price_unit: "USD" },
      { cost: "-0.00750", currency: "USD" },
    ],
    [{ price: "0.005" }, { cost: "0.005" }],
    [{ price: null, price_unit: "USD" }, {}],
    [{ price: "", price_unit: "USD" }, {}],
    [{ price: 1, price_unit: "USD" }, {}],
  ] as const;
  const ofVonage = [
    [{ price: "0.00834000", rate: "0.05" }, { cost: "0.00834000" }],
    [{ price: null, rate: null }, {}],
  ] as const;
  const [, ...carriers] = rows;
  const cases = carriers.flatMap(([name, service, key, over]) =>
    (name === "vonage" ? ofVonage : named).map(
      ([fields, cost]) => [name, fields, cost, { service, key, over }] as const,
    ),
  );
  test.each(cases)("%s: %j is %j", async (_, fields, expected, { service, key, over }) => {
    const { options } = answering(() => json({ ...over(id), ...fields }));
    const call = await get(id, { ...options, apiKey: key, service } as LiveOptions);
    expect({ cost: call.cost, currency: call.currency }).toEqual(expected);
  });
});

test.each(Object.entries(strange))(
  "%s has redirected no call, and pressed no key",
  async (_, body) => {
    const service = twilio({ accountSid: "AC00000000000000000000000000000000" });
    const { options } = answering(() => new Response(body));
    const moved = redirect({ id, ...numbers }, "https://app.test/flow", { ...options, service });
    await expect(moved).rejects.toThrow(
      /^HTTP 200 without the service's answer, .* \(the call may have been redirected\)$/,
    );
    await expect(press(id, "1", options)).rejects.toThrow(
      /^HTTP 200 without the service's answer, .* \(the keys may have been pressed\)$/,
    );
  },
);

test("a state that can't be read is named by what was asked for", async () => {
  const { options } = answering(() => json({}));
  await expect(get(id, options)).rejects.toThrow(/^HTTP 200 without this call: /);
});

test("two ends at once both resolve", async () => {
  let isOver = false;
  const { options } = answering(() => {
    if (isOver) return json({ code: "call_not_live" }, 409);
    isOver = true;
    return json({}, 202);
  });
  await Promise.all([end(id, options), end(id, options)]);
});

test("of a number that a service quotes nothing stays, but the status does", async () => {
  const { options } = answering(() => json({ detail: "(202) 555-0100 is busy" }, 400));
  await expect(end(id, options)).rejects.toThrow("HTTP 400 (*** is busy (the call was not ended)");
});

const unreadable = {
  get baseUrl(): string {
    throw new Error("the key");
  },
};

test.each([undefined, null, 1, unreadable])(
  "options that are none (%#) are refused by name, and nothing is thrown at once",
  async (given) => {
    const options = given as never;
    const asks = [
      get(id, options),
      end(id, options),
      redirect({ id, ...numbers }, "https://app.test/flow", options),
      recording("https://voice.test/1", options),
    ];
    for (const ask of asks) {
      await expect(ask).rejects.toMatchObject({ name: "BadParametersException" });
      await expect(ask).rejects.not.toThrow("the key");
    }
  },
);

test("a call whose fields can't be read is refused by name", async () => {
  const service = twilio({ accountSid: "AC00000000000000000000000000000000" });
  const call = {
    get id(): never {
      throw new Error("the key");
    },
  };
  const moved = redirect(call as never, "https://app.test/flow", { apiKey, service });
  await expect(moved).rejects.toMatchObject({ name: "BadParametersException" });
});

describe("recording", () => {
  const url = "https://voice.test/r.wav?x=1";
  /** A response as a platform's `fetch` returns it: with its URL. */
  const located = (response: Response, at: string) =>
    Object.defineProperty(response, "url", { value: at });

  test("a URL with a query is asked for again, as retries say", async () => {
    const answers = [json({}, 429), new Response("sound")];
    answers[0]?.headers.set("retry-after", "0");
    const { options, sent } = answering((at) => located(answers.shift() ?? Response.error(), at));
    const response = await recording(url, { ...options, retries: 1 });
    expect(await response.text()).toBe("sound");
    expect(sent).toEqual([`GET ${url}`, `GET ${url}`]);
  });

  test("no part of a query is in an exception, however short it is", async () => {
    const echo = (at: string) => json({ detail: `No ${at}, x=1, ${new URL(at).search}` }, 404);
    const error = await recording(url, answering(echo).options).catch((reason) => reason);
    expect(error).toMatchObject({ code: 404 });
    expect(`${error}${JSON.stringify(error)}`).not.toMatch(/x=1/);
  });

  test.each([null, "voice.test", ["*"], [".com"], ["voice.test:443"], ["127.0.0.1"]])(
    "hosts can't be %j",
    async (hosts) => {
      const { options, sent } = answering(() => new Response("sound"));
      const asked = recording(url, { ...options, hosts: hosts as never });
      await expect(asked).rejects.toMatchObject({ param: "hosts" });
      expect(sent).toEqual([]);
    },
  );

  test("a redirect that leads nowhere is the answer", async () => {
    const { options, sent } = answering(() => new Response(null, { status: 302 }));
    await expect(recording(url, options)).rejects.toMatchObject({ code: 302 });
    expect(sent).toHaveLength(1);
  });

  test.each([
    "https://user:password@voice.test/",
    "http://voice.test/",
    "javascript:1",
    "http://[",
  ])("a redirect to %s is not followed", async (location) => {
    const found = () => new Response(null, { status: 302, headers: { location } });
    const { options, sent } = answering(found);
    await expect(recording(url, options)).rejects.toThrow(/^HTTP 302 leads to a host/);
    expect(sent).toHaveLength(1);
  });

  test.each(["the%20key=1", btoa("the key=1"), "the+key=1"])(
    "a redirect to a URL with the key in it, as %s, is not followed",
    async (spelled) => {
      const location = `https://voice.test/stored?at=${spelled}&signature=0123456789`;
      const found = () => new Response(null, { status: 302, headers: { location } });
      const { options, sent } = answering(found);
      const refused = recording(url, { ...options, apiKey: "the key=1" });
      await expect(refused).rejects.toThrow("HTTP 302 leads to a URL that has the key in it");
      expect(sent).toHaveLength(1);
    },
  );

  test("a redirect whose query was seen before a retry is followed again", async () => {
    const location = "https://voice.test/stored?signature=0123456789";
    const answers = [
      new Response(null, { status: 302, headers: { location } }),
      json({}, 429),
      new Response(null, { status: 302, headers: { location } }),
      new Response("sound"),
    ];
    answers[1]?.headers.set("retry-after", "0");
    const { options } = answering(() => answers.shift() ?? Response.error());
    const response = await recording(url, { ...options, retries: 1 });
    expect(await response.text()).toBe("sound");
  });

  test("at Telnyx' storage only its own bucket is fetched, without the key", async () => {
    const service = telnyx({ applicationId: "1" });
    const s3 = "s3.amazonaws.com";
    for (const at of [`${s3}/telephony-recorder-prod`, `telephony-recorder-prod.${s3}`]) {
      const { options, sent } = answering((_, { headers }) => json(headers ?? {}));
      const { baseUrl: _, ...given } = { ...options, service };
      const response = await recording(`https://${at}/a/1.mp3?X-Amz-Signature=1`, given);
      expect(Object.keys(await response.json())).not.toContain("Authorization");
      expect(sent).toEqual([`GET https://${at}/a/1.mp3?X-Amz-Signature=1`]);
    }
    for (const at of [
      `${s3}/anyones-bucket/1.mp3`,
      `${s3}/telephony-recorder-prod`,
      `${s3}/telephony-recorder-prod-2/1.mp3`,
      `${s3}/telephony-recorder-prod/../anyones-bucket/1.mp3`,
      `${s3}/telephony-recorder-prod/%2e%2e/anyones-bucket/1.mp3`,
      `${s3}//telephony-recorder-prod/1.mp3`,
      `${s3}/telephony-recorder-prod%2F1.mp3`,
      `anyones-bucket.${s3}/telephony-recorder-prod/1.mp3`,
    ]) {
      const { options, sent } = answering(() => new Response("sound"));
      const { baseUrl: _, ...given } = { ...options, service };
      const refused = recording(`https://${at}`, given);
      await expect(refused, at).rejects.toMatchObject({ param: "hosts" });
      expect(sent).toEqual([]);
    }
  });

  test("what comes too late, from a fetch that ignores its signal, is dropped without a trace", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const cancel = vi.fn();
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<Response>();
    const { signal } = new AbortController();
    const { options } = answering(() => {
      asked.resolve();
      return answer.promise;
    });
    const late = expect(
      recording(url, { ...options, timeout: 60_000, signal }),
    ).rejects.toMatchObject({ name: "TimeoutException" });
    await asked.promise;
    await vi.advanceTimersByTimeAsync(60_000);
    await late;
    answer.resolve(new Response(new ReadableStream({ cancel })));
    await vi.advanceTimersByTimeAsync(0);
    expect(cancel).toHaveBeenCalledOnce();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  test.each([
    "https://api.twilio.com.evil.test/",
    "https://evil-twilio.com/",
    "https://evilapi.twilio.com/",
    "https://us1.twilio.com/",
    "https://evilus1.twilio.com/",
    "https://api.twilio.com@evil.test/",
    "https://evil.test\\@api.twilio.com/",
    "https://api.twilio.com:8443/",
    "https://api.twilio.com./",
    "https://api.twilio.com%2eevil.test/",
    "https://\u0430pi.twilio.com/",
    "https://[::ffff:127.0.0.1]/",
    "https://0x7f000001/",
    "http://api.twilio.com/",
    "https://user:password@api.twilio.com/",
    "blob:https://api.twilio.com/1",
  ])("nothing is sent to %s", async (like) => {
    const service = twilio({ accountSid: "AC00000000000000000000000000000000" });
    const fetch = vi.fn();
    const asked = recording(like, { apiKey, service, fetch });
    await expect(asked).rejects.toMatchObject({ name: "BadParametersException" });
    expect(fetch).not.toHaveBeenCalled();
  });
});
