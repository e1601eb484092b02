import { expect, it, onTestFinished } from "vitest";
import type { ServerEvent } from "../../../src/exchange/log.ts";
import { Metrics } from "../../../src/exchange/metrics.ts";
import { openPages, type PagesParts } from "../../../src/exchange/page/routes.ts";
import { callOf, failedOf, fakeService, rang } from "./fake-service.ts";

const origin = "http://127.0.0.1:4020";
const password = "the operator's own";

/** The pages of a service, and a browser that keeps the cookie. */
const stage = (options: Partial<PagesParts> = {}) => {
  let time = 1_000_000;
  const service = fakeService();
  service.live.push(callOf("live"));
  service.over.push(callOf("over", { state: "completed", reason: "normal" }));
  service.failedNotifications.push(failedOf("evt_1"));
  const events: ServerEvent[] = [];
  const pages = openPages({
    service,
    metrics: new Metrics(),
    limits: () => [{ name: "calls at once", used: 1, most: 10 }],
    isHost: (host) => host === "127.0.0.1:4020",
    password,
    controlToken: "control",
    apiUrl: "https://calls.example",
    onEvent: (event) => events.push(event),
    now: () => time,
    ...options,
  });
  onTestFinished(() => pages.close());
  const send = (path: string, init: RequestInit = {}) =>
    pages.fetch(new Request(origin + path, init));
  const cookieOf = (response: Response) => response.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  const signIn = async () => cookieOf(await send(`/?token=${pages.token}`));
  const post = (path: string, cookie: string, headers: Record<string, string> = {}) =>
    send(path, { method: "POST", headers: { Cookie: cookie, Origin: origin, ...headers } });
  const get = (path: string, cookie: string) => send(path, { headers: { Cookie: cookie } });
  const enter = (secret: string, headers: Record<string, string> = { Origin: origin }) =>
    send("/", { method: "POST", headers, body: new URLSearchParams({ secret }) });
  const pass = (ms: number) => {
    time += ms;
  };
  return { service, pages, events, send, post, get, enter, signIn, cookieOf, pass };
};

type Stage = ReturnType<typeof stage>;

const hour = 3_600_000;

/** What is tried, and what it may not do: each answers a status that refuses. */
const attacks: Readonly<Record<string, (on: Stage) => Promise<Response>>> = {
  "no cookie": ({ send }) => send("/dashboard/state"),
  "no cookie, a call": ({ send }) => send("/dashboard/calls/live"),
  "no cookie, a recording": ({ send }) => send("/dashboard/recordings/live"),
  "no cookie, the stream of events": ({ send }) => send("/dashboard/events"),
  "no cookie, the key": ({ post }) => post("/dashboard/key", ""),
  "a guessed cookie": ({ get }) => get("/dashboard/state", `outdial_4020=${"A".repeat(43)}`),
  "the token as a cookie": ({ get, pages }) =>
    get("/dashboard/state", `outdial_4020=${pages.token}`),
  "a guessed token": ({ send }) => send(`/?token=${"A".repeat(43)}`),
  "an empty token": ({ send }) => send("/?token="),
  "a guessed password": ({ enter }) => enter("secret"),
  "no password": ({ enter }) => enter(""),
  "an expired token": ({ send, pages, pass }) => {
    pass(24 * hour);
    return send(`/?token=${pages.token}`);
  },
  "an expired cookie": async ({ get, signIn, pass }) => {
    const cookie = await signIn();
    pass(12 * hour);
    return get("/dashboard/state", cookie);
  },
  "a revoked cookie": async ({ get, post, signIn }) => {
    const cookie = await signIn();
    await post("/dashboard/sign-out", cookie);
    return get("/dashboard/state", cookie);
  },
  "another browser's cookie after all were signed out": async ({ get, post, signIn }) => {
    const stolen = await signIn();
    await post("/dashboard/sign-out", await signIn());
    return get("/dashboard/state", stolen);
  },
  "a revoked token": async ({ send, post, signIn, pages }) => {
    await post("/dashboard/sign-out", await signIn());
    return send(`/?token=${pages.token}`);
  },
  "a page of another origin": async ({ post, signIn }) =>
    post("/dashboard/key", await signIn(), { Origin: "https://evil.example" }),
  "a page on another port of this machine": async ({ post, signIn }) =>
    post("/dashboard/key", await signIn(), { Origin: "http://127.0.0.1:3000" }),
  "a sandboxed page": async ({ post, signIn }) =>
    post("/dashboard/key", await signIn(), { Origin: "null" }),
  "a form without an origin": async ({ send, signIn }) =>
    send("/dashboard/key", { method: "POST", headers: { Cookie: await signIn() } }),
  "a link that changes something": async ({ get, signIn }) =>
    get("/dashboard/notifications/evt_1/resend", await signIn()),
  "a form of another origin that signs in": ({ enter }) =>
    enter(password, { Origin: "https://evil.example" }),
  "a name that leads to this machine": async ({ send, signIn }) =>
    send("/dashboard/state", {
      headers: { Cookie: await signIn(), Host: "evil.example:4020" },
    }),
  "metrics by a name that leads to this machine": ({ send }) =>
    send("/metrics", { headers: { Host: "evil.example" } }),
  "an erasure without the control token": ({ send }) =>
    send("/control/erase", { method: "POST", body: "number=%2B12025550100" }),
  "an erasure with a guessed control token": ({ send }) =>
    send("/control/erase", {
      method: "POST",
      headers: { Authorization: "Bearer contro1" },
      body: "number=%2B12025550100",
    }),
  "an erasure with the page's cookie": async ({ post, signIn }) =>
    post("/control/erase", await signIn()),
  "a path out of the recordings": async ({ get, signIn }) =>
    get("/dashboard/recordings/..%2F..%2Fstore", await signIn()),
};

it.each(Object.entries(attacks))("refuses %s", async (_, attack) => {
  const on = stage();
  const response = await attack(on);
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(response.headers.get("Set-Cookie")).toBeNull();
  expect(await response.text()).not.toMatch(/\+1202555|ak_/);
  expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
  expect([on.service.keys, on.service.resent, on.service.erased]).toEqual([0, [], []]);
});

it("compares ten wrong passwords in a minute, and then none", async () => {
  const { enter, events, pass } = stage();
  for (let count = 0; count < 10; count++) expect((await enter("wrong")).status).toBe(403);
  expect((await enter(password)).status).toBe(429);
  pass(60_000);
  expect((await enter(password)).status).toBe(200);
  expect(events.map((event) => "outcome" in event && event.outcome)).toEqual([
    ...new Array(10).fill("refused"),
    "limited",
    "accepted",
  ]);
});

it("signs in by the token and by the password, with a cookie that no script and no other site has", async () => {
  const { enter, signIn, get, send, pages, cookieOf } = stage();
  const response = await send(`/?token=${pages.token}`);
  expect(response.headers.get("Set-Cookie")).toMatch(
    /^outdial_4020=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
  );
  expect(cookieOf(response)).not.toContain(pages.token);
  for (const cookie of [await signIn(), cookieOf(await enter(password))]) {
    expect((await get("/dashboard/state", cookie)).status).toBe(200);
  }
});

it("needs no password to be set", async () => {
  const { enter, signIn, get } = stage({ password: undefined });
  expect((await enter("undefined")).status).toBe(403);
  expect((await get("/dashboard/state", await signIn())).status).toBe(200);
});

it("shows limits, failed notifications and calls to who is signed in", async () => {
  const { signIn, get } = stage();
  const cookie = await signIn();
  expect(await (await get("/dashboard/state", cookie)).json()).toMatchObject({
    isReady: true,
    notifications: [{ id: "evt_1", response: "the receiver is <b>broken</b>" }],
    limits: [{ name: "calls at once", used: 1, most: 10 }],
  });
  expect(await (await get("/dashboard/calls/over", cookie)).json()).toMatchObject({ id: "over" });
  expect((await get("/dashboard/calls/none", cookie)).status).toBe(404);
  const page = await (await get("/", cookie)).text();
  expect(page).toContain("https://calls.example");
});

it("sends a notification again, and regenerates the key, which it shows once", async () => {
  const { service, signIn, post, get, events } = stage();
  const cookie = await signIn();
  expect((await post("/dashboard/notifications/evt_1/resend", cookie)).status).toBe(200);
  expect((await post("/dashboard/notifications/evt_2/resend", cookie)).status).toBe(409);
  expect(service.resent).toEqual(["evt_1"]);
  expect(await (await post("/dashboard/key", cookie)).json()).toEqual({ key: "ak_key-number-1" });
  for (const path of ["/", "/dashboard/state"]) {
    expect(await (await get(path, cookie)).text()).not.toContain("ak_key");
  }
  expect(events.at(-1)).toEqual({ type: "key_regenerated" });
});

it("streams changes to who is signed in, and ends the stream when browsers are signed out", async () => {
  const { service, pages, signIn, get, post } = stage();
  const cookie = await signIn();
  const stream = (await get("/dashboard/events", cookie)).body?.pipeThrough(
    new TextDecoderStream(),
  );
  const reader = stream?.getReader();
  const first = (await reader?.read())?.value ?? "";
  expect(JSON.parse(first.slice(6))).toMatchObject({
    whole: true,
    calls: [{ id: "over" }, { id: "live" }],
  });
  service.live[0] = callOf("live", { state: "completed", reason: "normal" });
  pages.onEvent(rang("live"));
  const second = (await reader?.read())?.value ?? "";
  expect(JSON.parse(second.slice(6)).calls).toMatchObject([{ id: "live", state: "completed" }]);
  await post("/dashboard/sign-out", cookie);
  expect((await reader?.read())?.done).toBe(true);
});

it("says that it is alive, whether it is ready, and the metrics, without a sign-in", async () => {
  const { service, send } = stage();
  expect(await (await send("/healthz")).text()).toBe("ok\n");
  expect((await send("/readyz")).status).toBe(200);
  service.isReady = false;
  expect((await send("/readyz")).status).toBe(503);
  expect((await send("/healthz")).status).toBe(200);
  const metrics = await send("/metrics");
  expect(metrics.headers.get("Content-Type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  expect(await metrics.text()).toContain("outdial_asterisk_up 0\n");
});

it("erases a number for who has the control token", async () => {
  const { service, send } = stage();
  const response = await send("/control/erase", {
    method: "POST",
    headers: { Authorization: "Bearer control" },
    body: new URLSearchParams({ number: "+12025550100" }),
  });
  expect(await response.json()).toEqual({ erased: 1, live: 1 });
  expect(service.erased).toEqual(["+12025550100"]);
});
