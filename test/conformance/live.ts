import { assert } from "chai";
import { end, get, type LiveOptions, recording, redirect, why } from "outdial/calls";
import { createEmulator } from "outdial/emulator";
import { twilio, twilioCalls } from "outdial/twilio";
import { type Answer, answering } from "../stub-server/answer.ts";
import type { Case } from "./case.ts";
import { apiKey, exceptionOf, from_number, options, params, to_number } from "./fixtures.ts";

const call = { id: "cs_1", from_number, to_number };
const { flow_url } = params;
const echo = `sent ${apiKey} from ${from_number} to ${encodeURIComponent(to_number)}`;

/** Every function about a call that was placed, with its options. */
type Ask = (options: LiveOptions) => Promise<unknown>;
const asks: Readonly<Record<string, Ask>> = {
  get: (given) => get("cs_1", given),
  why: (given) => why("cs_1", given),
  end: (given) => end("cs_1", given),
  recording: (given) =>
    recording(`${given.baseUrl}/recordings/cs_1.wav?signature=SECRETsig`, given),
};

const service = twilio({ accountSid: "AC00000000000000000000000000000001" });
const redirected: Ask = (given) =>
  redirect({ ...call, id: "CA1" }, flow_url, { ...given, service, path: undefined });

/** @param isSigned - whether the query of a recording's URL was sent */
const assertClean = (text: string, isSigned = true) => {
  for (const secret of [
    apiKey,
    btoa(apiKey),
    ...(isSigned ? ["SECRETsig"] : []),
    from_number.slice(1),
    to_number.slice(1),
  ])
    assert.isFalse(text.includes(secret), text.replaceAll(secret, "[SECRET]").slice(0, 500));
};

/** A recording at one part of the peer, which leads to another one. */
const leading = (peer: string, status: number, to: string): Answer => ({
  status,
  headers: { location: to.startsWith("http") ? to : `${peer}${to}` },
});

export const cases: readonly Case[] = [
  {
    name: "live: what why shows of a service's text has neither key, numbers, query nor markup",
    run: async ({ peer }) => {
      const text = `step 1: flow_url answered HTTP 500 ${echo} at https://app.test/flow?signature=SECRETsig <b>`;
      const json = { ...call, state: "completed", reason: "flow_error", flow_error: text };
      const { baseUrl } = answering(peer, { json });
      const found = await why("cs_1", { ...options, baseUrl });
      assertClean(JSON.stringify(found));
      assert.equal(
        found.causes[0]?.text,
        "step 1: flow_url answered HTTP 500 sent *** from *** to *** at https://app.test",
      );
      assert.notMatch(found.explanation, /[<>]|app\.test\//);
    },
  },
  {
    name: "live: the key is in one header, and in no URL and no body",
    run: async ({ peer }) => {
      for (const ask of [...Object.values(asks), redirected]) {
        const { baseUrl, seen } = answering(peer, { json: { id: "cs_1", state: "ringing" } });
        await ask({ ...options, baseUrl });
        const requests = await seen();
        assert.lengthOf(requests, 1);
        for (const { path, body, headers } of requests) {
          assert.isFalse(`${path}${body}`.includes(apiKey));
          const holders = Object.entries(headers).filter(([, value]) =>
            [apiKey, btoa(`${service.account}:${apiKey}`)].some((form) =>
              `${value}`.includes(form),
            ),
          );
          assert.lengthOf(holders, 1);
        }
      }
    },
  },
  {
    name: "live: neither key, numbers nor query are in an exception, and it has no word of placing",
    run: async ({ peer, inspect }) => {
      const answers: readonly Answer[] = [
        ...[400, 401, 403, 404, 409, 422, 429, 500, 503].map((status) => ({
          status,
          json: { detail: `${echo} SECRETsig`, code: apiKey },
        })),
        { instead: "drop" },
        { instead: "silence" },
        { status: 200, body: echo },
      ];
      for (const answer of answers) {
        for (const [name, ask] of Object.entries({ ...asks, redirected })) {
          if (answer.body && name !== "get") continue;
          const { baseUrl } = answering(peer, answer, answer);
          const timeout = answer.instead === "silence" ? 50 : 3_000;
          const error = await exceptionOf(ask({ ...options, baseUrl, timeout }));
          assert.notProperty(error, "placed");
          assert.notMatch(`${error.message}${error.stack}`, /placed/);
          const text = `${inspect(error)}${error.message}${error.stack}${JSON.stringify(error)}`;
          assertClean(text, name === "recording");
        }
      }
    },
  },
  {
    name: "live: one deadline holds for the key, the request and the response",
    run: async ({ peer }) => {
      for (const [name, ask] of Object.entries(asks)) {
        const { baseUrl } = answering(peer, { instead: "silence" });
        const late = await exceptionOf(ask({ ...options, baseUrl, timeout: 30 }));
        assert.equal(late.name, "TimeoutException", name);
        const never = () => new Promise<string>(() => {});
        const keyless = await exceptionOf(ask({ ...options, apiKey: never, baseUrl, timeout: 30 }));
        assert.equal(keyless.name, "TimeoutException", name);
      }
    },
  },
  {
    name: "live: the caller's signal rejects with its own reason",
    run: async ({ peer }) => {
      for (const ask of Object.values(asks)) {
        const { baseUrl } = answering(peer, { instead: "silence" });
        const controller = new AbortController();
        const asked = ask({ ...options, baseUrl, signal: controller.signal }).catch(
          (reason: unknown) => reason,
        );
        controller.abort("enough");
        assert.equal(await asked, "enough");
      }
    },
  },
  {
    name: "live: a recording is followed by three redirects at most, and only to hosts that are allowed",
    run: async ({ peer, runtime }) => {
      // A page can't read where a redirect leads.
      if (runtime === "chromium" || runtime === "happy-dom") return;
      const { baseUrl, seen } = answering(
        peer,
        leading(peer, 302, "https://evil.test/x?SECRETsig"),
      );
      const given = { ...options, baseUrl };
      const refused = await exceptionOf(recording(`${baseUrl}/a.wav`, given));
      assert.deepEqual([refused.name, refused.code], ["ServiceException", 302]);
      assert.match(refused.message, /in hosts$/);
      assertClean(refused.message);
      assert.lengthOf(await seen(), 1);
      const around = Array.from({ length: 5 }, () => leading("", 307, `${baseUrl}/b.wav`));
      const circle = answering(
        peer,
        ...around.map((each) => ({ ...each, headers: { location: "b.wav" } })),
      );
      const endless = await exceptionOf(
        recording(`${circle.baseUrl}/a.wav`, { ...options, baseUrl: circle.baseUrl }),
      );
      assert.equal(endless.code, 307);
      assert.lengthOf(await circle.seen(), 4);
    },
  },
  {
    name: "live: a recording's credentials go to the service's own hosts alone, and are dropped across origins",
    run: async () => {
      const sent: { readonly url: string; readonly headers: Headers }[] = [];
      const fetch = async (url: string, init: RequestInit): Promise<Response> => {
        sent.push({ url, headers: new Headers(init.headers) });
        const location = {
          "https://voice.test/1": "https://store.test/2",
          "https://store.test/2": "https://voice.test/3",
        }[url];
        return location
          ? new Response(null, { status: 302, headers: { location } })
          : new Response("sound");
      };
      const given = {
        ...{ ...options, baseUrl: "https://voice.test", fetch, hosts: ["store.test"] },
        headers: { "X-Gateway": "also a secret" },
      };
      assert.equal(await (await recording("https://voice.test/1", given)).text(), "sound");
      assert.deepEqual(
        sent.map(({ url, headers }) => [url, headers.get("x-api-key"), headers.get("x-gateway")]),
        [
          ["https://voice.test/1", apiKey, "also a secret"],
          ["https://store.test/2", null, null],
          ["https://voice.test/3", null, null],
        ],
      );
      const refusals = [
        ["https://evil.test/", "hosts"],
        ["https://voice.test.evil.test/", "hosts"],
        ["https://voice.test:444/", "hosts"],
        ["http://voice.test/", "url"],
        ["https://user:password@voice.test/", "url"],
        ["http://127.0.0.1/", "hosts"],
        ["file:///etc/passwd", "url"],
        ["/recordings/1", "url"],
      ] as const;
      for (const [url, param] of refusals) {
        const refused = await exceptionOf(recording(url, given));
        assert.equal(refused.name, "BadParametersException", url);
        assert.propertyVal(refused, "param", param, url);
      }
      assert.lengthOf(sent, 3);
    },
  },
  {
    name: "live: a carrier's recording gets credentials at its API, none at other hosts, and never the headers of a gateway",
    run: async () => {
      const seen: (string | null)[] = [];
      const fetch = async (_: string, init: RequestInit): Promise<Response> => {
        const headers = new Headers(init.headers);
        seen.push(headers.get("authorization"), headers.get("x-gateway"));
        return new Response("sound");
      };
      const given = {
        ...{ ...options, service, fetch, hosts: [".store.test"] },
        ...{ baseUrl: "https://gateway.test", headers: { "X-Gateway": "also a secret" } },
      };
      const basic = `Basic ${btoa(`${service.account}:${apiKey}`)}`;
      await recording("https://api.twilio.com/2010-04-01/Accounts/AC1/Recordings/RE1", given);
      await recording("https://api.dublin.ie1.twilio.com/Recordings/RE1.mp3", given);
      await recording("https://a.store.test/RE1?signature=SECRETsig", given);
      await recording("https://gateway.test/RE1", given);
      assert.deepEqual(seen, [basic, null, basic, null, null, null, basic, "also a secret"]);
    },
  },
  {
    name: "live: a service that only places calls is refused by name, before anything is sent",
    run: async () => {
      const { account: accountSid } = service;
      const calls = twilioCalls({ accountSid });
      const fetch = () => assert.fail("sent");
      for (const ask of [
        ...Object.values(asks),
        (given: LiveOptions) => redirect(call, flow_url, given),
      ]) {
        const given = { ...options, service: calls, fetch, baseUrl: "https://voice.test" };
        const error = await exceptionOf(ask(given as never));
        assert.equal(
          error.message,
          "service must be the whole twilio(…): twilioCalls(…) only places calls",
        );
      }
    },
  },
  {
    name: "live: end resolves for a call that is over, and of all 409s only for call_not_live",
    run: async ({ peer }) => {
      const ended = { status: 409, json: { code: "call_not_live", detail: "over" } };
      const one = answering(peer, ended);
      await end("cs_1", { ...options, baseUrl: one.baseUrl });
      assert.lengthOf(await one.seen(), 1);
      const busy = { status: 409, json: { code: "call_not_controllable", detail: "wait" } };
      const live = { json: { id: "cs_1", state: "answered" } };
      const two = answering(peer, busy, live);
      const error = await exceptionOf(end("cs_1", { ...options, baseUrl: two.baseUrl }));
      assert.equal(error.code, 409);
      assert.propertyVal(error, "reason", "call_not_controllable");
      assert.deepEqual(
        (await two.seen()).map(({ method }) => method),
        ["POST", "GET"],
      );
      const over = { json: { id: "cs_1", state: "completed" } };
      await end("cs_1", { ...options, baseUrl: answering(peer, busy, over).baseUrl });
    },
  },
  {
    name: "live: a call on the emulator is read and ended",
    run: async () => {
      const emulator = createEmulator({ fetch: async () => new Response(null, { status: 204 }) });
      const given = {
        ...{ dangerouslyAllowBrowser: true, apiKey: emulator.apiKey, fetch: emulator.fetch },
        baseUrl: "https://emulator.test",
      };
      const { create } = await import("outdial/calls");
      const { id } = await create(params, given);
      assert.propertyVal(await get(id, given), "state", "ringing");
      await end(id, given);
      await emulator.ended(id);
      const { state, reason } = await get(id, given);
      assert.deepEqual([state, reason], ["failed", "canceled"]);
      await emulator.close();
    },
  },
];
