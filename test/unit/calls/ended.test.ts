import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ended, get, recording } from "../../../src/calls/index.ts";
import { telnyx } from "../../../src/carriers/telnyx/index.ts";
import { twilio } from "../../../src/carriers/twilio/index.ts";
import { vonage } from "../../../src/carriers/vonage/index.ts";
import { Client, isException } from "../../../src/index.ts";

const apiKey = "ak_MARKEDkey0123456789";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

const inState = (state: string) => () => Response.json({ id: "cs_1", state });
const refusing = (status: number, headers?: Record<string, string>) => () =>
  Response.json({ detail: "no" }, { status, ...(headers && { headers }) });
const lost = () => Promise.reject(new TypeError("lost"));
const silent = (init: RequestInit) =>
  new Promise<Response>((_, reject) => {
    init.signal?.addEventListener("abort", () => reject(init.signal?.reason));
  });

type Answer = (init: RequestInit) => Response | Promise<Response>;

/** Gives the answers in order, the last one for ever; and when each was asked for, in milliseconds. */
const serve = (...answers: readonly [Answer, ...Answer[]]) => {
  const times: number[] = [];
  let open = 0;
  let most = 0;
  const began = performance.now();
  const fetch = async (_: string, init: RequestInit): Promise<Response> => {
    times.push(Math.round(performance.now() - began));
    most = Math.max(most, ++open);
    try {
      const answer = answers[Math.min(times.length, answers.length) - 1] ?? answers[0];
      return await answer(init);
    } finally {
      open--;
    }
  };
  const options = { apiKey, baseUrl: "https://voice.test", path: "calls", fetch } as const;
  return { options, times, most: () => most };
};

const settle = async (promise: Promise<unknown>) => {
  const settled = promise.then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  );
  await vi.runAllTimersAsync();
  return settled;
};

const errorOf = async (promise: Promise<unknown>) => {
  const { error } = await settle(promise);
  if (!isException(error)) throw error;
  return error;
};

test.each(["completed", "failed"])("a call that is %s is returned at once", async (state) => {
  const { options, times } = serve(inState(state));
  const { value } = await settle(ended("cs_1", options));
  expect(value).toMatchObject({ id: "cs_1", state });
  expect(times).toEqual([0]);
});

test("the interval grows from 1 s to 5 s, and one request is under way", async () => {
  const live = inState("ringing");
  const { options, times, most } = serve(live, live, live, live, live, live, inState("completed"));
  await settle(ended("cs_1", options));
  const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0));
  expect(waits).toEqual([1_000, 1_500, 2_250, 3_375, 5_000, 5_000]);
  expect(most()).toBe(1);
});

test("a longer Retry-After is waited for, and no shorter one", async () => {
  const busy = refusing(429, { "retry-after": "7" });
  const soon = refusing(503, { "retry-after": "0" });
  const { options, times } = serve(busy, soon, inState("completed"));
  await settle(ended("cs_1", options));
  expect(times).toEqual([0, 7_000, 8_500]);
});

test("a Retry-After of years ends with endTimeout, and asks nothing before", async () => {
  const { options, times } = serve(refusing(429, { "retry-after": "99999999" }));
  const error = await errorOf(ended("cs_1", options, { endTimeout: 60_000 }));
  expect([error.name, times.length]).toEqual(["TimeoutException", 1]);
});

test.each([
  ["429", refusing(429)],
  ["500", refusing(500)],
  ["503", refusing(503)],
  ["a lost connection", lost],
  ["a request that times out", silent],
  ["404 in the first 10 s", refusing(404)],
] as const)("%s is asked again", async (_, answer) => {
  const { options, times } = serve(answer, answer, inState("completed"));
  const { value } = await settle(ended("cs_1", { ...options, timeout: 3_000 }));
  expect(value).toMatchObject({ state: "completed" });
  expect(times).toHaveLength(3);
});

test("404 after 10 s ends it", async () => {
  const { options, times } = serve(refusing(404));
  const error = await errorOf(ended("cs_1", options));
  expect(error.code).toBe(404);
  expect(error.message).toMatch(/^HTTP 404.*no such call: it may be of another account or service/);
  expect(error).not.toHaveProperty("placed");
  expect(times.at(-1)).toBeGreaterThanOrEqual(10_000);
  expect(times.at(-2)).toBeLessThan(10_000);
});

test.each([400, 401, 403, 408, 409, 410, 422, 301])("%d ends it", async (status) => {
  const { options, times } = serve(refusing(status));
  const error = await errorOf(ended("cs_1", options));
  expect(error.code).toBe(status);
  expect(times).toHaveLength(1);
  expect(error).not.toHaveProperty("placed");
});

test("what is no call ends it", async () => {
  const { options } = serve(() => new Response("<html>"));
  expect((await errorOf(ended("cs_1", options))).message).toMatch(/^HTTP 200 without this call/);
});

describe("endTimeout", () => {
  test.each([
    [inState("answered"), "the call was last answered", "answered"],
    [refusing(503), "the call could not be read", undefined],
    [silent, "the call could not be read", undefined],
  ] as const)("ends the wait with the last state: %#", async (answer, message, state) => {
    const { options } = serve(answer);
    const error = await errorOf(
      ended("cs_1", { ...options, timeout: false }, { endTimeout: 20_000 }),
    );
    expect(error.name).toBe("TimeoutException");
    expect(error.message).toBe(`No end within 20000 ms: ${message}`);
    expect("state" in error ? error.state : undefined).toBe(state);
    expect(error).not.toHaveProperty("placed");
  });

  test("is ten minutes by default", async () => {
    const { options, times } = serve(inState("ringing"));
    await errorOf(ended("cs_1", options));
    expect(times.at(-1)).toBeGreaterThan(590_000);
    expect(times.at(-1)).toBeLessThan(600_000);
  });

  test.each([0, -1, Number.NaN, 2 ** 31, Infinity, "60000", false, null])(
    "%s is refused by name",
    async (endTimeout) => {
      const { options, times } = serve(inState("ringing"));
      const error = await errorOf(ended("cs_1", options, { endTimeout } as never));
      expect(error.message).toMatch(/^endTimeout must be above 0 ms and below 2 \*\* 31 ms/);
      expect(times).toEqual([]);
    },
  );
});

test.each([
  ["a number", 5_000],
  ["null", null],
  ["a list", []],
  ["a Map", new Map([["endTimeout", 5_000]])],
  ["a signal", AbortSignal.abort()],
  ["a function", () => {}],
])("what is no object of options is refused by name: %s", async (_, wait) => {
  const { options, times } = serve(inState("ringing"));
  const error = await errorOf(ended("cs_1", options, wait as never));
  expect(error.message).toBe("wait must be { endTimeout, signal }");
  expect(times).toEqual([]);
});

test("an option that is unknown is refused", async () => {
  const { options } = serve(inState("ringing"));
  const error = await errorOf(ended("cs_1", options, { timeout: 5_000 } as never));
  expect(error.message).toBe("wait must have nothing but endTimeout and signal");
});

describe("a signal", () => {
  test.each(["of the wait", "of the options"] as const)(
    "%s ends it with its reason, while it waits and while it asks",
    async (whose) => {
      for (const answer of [inState("ringing"), silent]) {
        const { options } = serve(answer);
        const controller = new AbortController();
        const { signal } = controller;
        const removed = vi.spyOn(signal, "removeEventListener");
        const added = vi.spyOn(signal, "addEventListener");
        const isWait = whose === "of the wait";
        const wait = ended(
          "cs_1",
          isWait ? options : { ...options, signal },
          isWait ? { signal } : {},
        );
        const caught = wait.catch((reason: unknown) => reason);
        await vi.advanceTimersByTimeAsync(500);
        controller.abort("enough");
        expect(await caught).toBe("enough");
        expect(removed.mock.calls.length).toBeGreaterThanOrEqual(added.mock.calls.length);
      }
    },
  );

  test("that has aborted asks nothing", async () => {
    const { options, times } = serve(inState("ringing"));
    const { error } = await settle(ended("cs_1", options, { signal: AbortSignal.abort("over") }));
    expect(error).toBe("over");
    expect(times).toEqual([]);
  });

  test("that aborts just after an answer leaves no timer", async () => {
    for (let ticks = 0; ticks < 30; ticks++) {
      const { options } = serve(refusing(503, { "Retry-After": "3600" }));
      const controller = new AbortController();
      const abortAfter = async () => {
        for (let tick = 0; tick < ticks; tick++) await undefined;
        controller.abort("enough");
      };
      const { signal } = controller;
      const caught = ended("cs_1", { ...options, onAttempt: () => void abortAfter() }, { signal });
      expect(await caught.catch((reason: unknown) => reason)).toBe("enough");
      expect(vi.getTimerCount()).toBe(0);
    }
  });

  test("that is none is refused by name", async () => {
    const { options } = serve(inState("ringing"));
    const error = await errorOf(ended("cs_1", options, { signal: {} } as never));
    expect(error.message).toBe("signal must be an AbortSignal");
  });
});

describe("a client in the place of options", () => {
  const clientOf = (answer: Answer) => {
    const { options, times } = serve(answer);
    const { apiKey: key, ...others } = options;
    return { client: new Client(key, others), times };
  };

  test("is used with its key and options", async () => {
    const { client, times } = clientOf(inState("completed"));
    expect(await get("cs_1", client)).toMatchObject({ state: "completed" });
    const { value } = await settle(ended("cs_1", client));
    expect(value).toMatchObject({ state: "completed" });
    expect(times).toHaveLength(2);
  });

  test("shows its key nowhere", async () => {
    const { client } = clientOf(inState("completed"));
    const { inspect } = await import("node:util");
    const shown = inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client);
    expect(shown).not.toContain("MARKED");
    expect(Reflect.ownKeys(client)).toEqual(["calls"]);
  });

  test("that was disposed of is refused, and so is a copy", async () => {
    const { client, times } = clientOf(inState("completed"));
    expect((await errorOf(get("cs_1", { ...client } as never))).message).toMatch(
      /^apiKey is missing/,
    );
    client[Symbol.dispose]();
    expect((await errorOf(get("cs_1", client))).message).toBe("client was disposed of");
    expect((await errorOf(ended("cs_1", client))).message).toBe("client was disposed of");
    expect(times).toEqual([]);
  });
});

test("a client that is disposed of while ended waits asks nothing more", async () => {
  const { options, times } = serve(inState("ringing"));
  const { apiKey: key, ...others } = options;
  const client = new Client(key, others);
  const error = errorOf(ended("cs_1", client));
  client[Symbol.dispose]();
  expect((await error).message).toBe("client was disposed of");
  expect(times).toEqual([0]);
});

describe("recording(id) finds the recording where the service lists it", () => {
  const accountSid = `AC${"0".repeat(32)}`;
  const baseUrl = "https://voice.test";
  const recordings = {
    own: [
      undefined,
      {
        id: "CA1",
        legs: [{ recordings: [{ url: `${baseUrl}/1.wav` }, { url: `${baseUrl}/2.wav` }] }],
      },
      `${baseUrl}/2.wav`,
    ],
    twilio: [
      twilio({ accountSid }),
      {
        recordings: [
          { sid: "RE3", status: "processing" },
          { sid: "RE2", status: "completed" },
        ],
      },
      `${baseUrl}/2010-04-01/Accounts/${accountSid}/Recordings/RE2`,
    ],
    telnyx: [
      telnyx({ applicationId: "1", accountSid: "a" }),
      {
        recordings: [
          { media_url: `${baseUrl}/1.wav`, date_created: "Sat, 28 Nov 2026 01:00:00 +0000" },
          { media_url: `${baseUrl}/2.wav`, date_created: "Sat, 28 Nov 2026 02:00:00 +0000" },
        ],
      },
      `${baseUrl}/2.wav`,
    ],
  } as const;

  test.each(Object.entries(recordings))("%s", async (_, [service, list, url]) => {
    const asked: string[] = [];
    const fetch = async (given: string) => {
      asked.push(given);
      return given === url ? new Response("sound") : Response.json(list);
    };
    const options = { apiKey, baseUrl, fetch, ...(service ? { service } : {}) };
    const response = await recording("CA1", options as never);
    expect(await response.text()).toBe("sound");
    expect(asked).toHaveLength(2);
    expect(asked[1]).toBe(url);
  });

  test.each([
    [
      "twilio",
      twilio({ accountSid }),
      [
        { sid: "RE2", status: "completed" },
        { sid: "RE1", status: "completed" },
      ],
      `${baseUrl}/2010-04-01/Accounts/${accountSid}/Recordings/RE1`,
    ],
    [
      "telnyx",
      telnyx({ applicationId: "1", accountSid: "a" }),
      [
        { sid: "RE1", media_url: `${baseUrl}/1.wav`, date_created: "Sat, 28 Nov 2026 01:00:00" },
        { sid: "RE2", media_url: `${baseUrl}/2.wav`, date_created: "Sat, 28 Nov 2026 02:00:00" },
      ],
      `${baseUrl}/1.wav`,
    ],
  ] as const)("%s: recordingId chooses another than the latest", async (_, service, list, url) => {
    const fetch = async (given: string) =>
      given === url ? new Response("sound") : Response.json({ recordings: list });
    const options = { apiKey, baseUrl, fetch, service };
    const response = await recording("CA1", { ...options, recordingId: "RE1" });
    expect(await response.text()).toBe("sound");
    const none = await errorOf(recording("CA1", { ...options, recordingId: "RE9" }));
    expect(none.message).toBe("HTTP 200 without the recording of this call with that recordingId");
  });

  test.each<[string, unknown]>([
    [`${baseUrl}/1.wav`, "RE1"],
    ["CA1", ""],
    ["CA1", 1],
    ["CA1", null],
  ])(
    "recordingId beside %s as %j is refused by name before any request",
    async (id, recordingId) => {
      const fetch = vi.fn();
      const options = { apiKey, baseUrl, fetch, service: twilio({ accountSid }), recordingId };
      const error = await errorOf(recording(id, options as never));
      expect(error.message).toMatch(/^recordingId must be the id of a recording, beside/);
      expect(fetch).not.toHaveBeenCalled();
    },
  );

  test("outdial's own interface lists no ids", async () => {
    const [, list] = recordings.own;
    const fetch = async () => Response.json(list);
    const options = { apiKey, baseUrl, fetch, recordingId: "CA1-1" };
    const error = await errorOf(recording("CA1", options));
    expect(error.message).toMatch(/without the recording of this call with that recordingId$/);
  });

  test("a call without one, or without one yet, is refused in words", async () => {
    const fetch = async () => Response.json({ recordings: [] });
    const options = { apiKey, fetch, service: twilio({ accountSid }) };
    const error = await errorOf(recording("CA1", options));
    expect(error.message).toBe(
      "HTTP 200 without a recording of this call: it has none, or none yet",
    );
  });

  test("Vonage lists none, and says what to give", async () => {
    const applicationId = "78d335fa-323d-0114-9c3d-d6f0d48968cf";
    const fetch = vi.fn();
    const options = { apiKey: () => "x", fetch, service: vonage({ applicationId }) };
    const error = await errorOf(recording("63f61863-4a51-4f6b-86e1-46edebcf9356", options));
    expect(error.message).toMatch(/^id must be the recording_url of a notification/);
    expect(fetch).not.toHaveBeenCalled();
  });

  test("a URL that the list has at another host is not fetched", async () => {
    const list = { recordings: [{ media_url: "https://evil.test/1.wav" }] };
    const fetch = vi.fn(async () => Response.json(list));
    const options = { apiKey, fetch, service: telnyx({ applicationId: "1", accountSid: "a" }) };
    const error = await errorOf(recording("v3:1", options));
    expect(error.message).toMatch(/^hosts must have the URL's host/);
    expect(fetch).toHaveBeenCalledTimes(1);
  });
});
