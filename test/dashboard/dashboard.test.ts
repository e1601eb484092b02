import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { sampleCall } from "../../src/cli/emulator/application.ts";
import { tryingAt } from "../../src/cli/emulator/carrier.ts";
import { Attendant } from "../../src/emulator/dashboard/attendant.ts";
import type { Placing } from "../../src/emulator/dashboard/placing.ts";
import { dashboard } from "../../src/emulator/dashboard/routes.ts";
import { updates } from "../../src/emulator/dashboard/updates.ts";
import { createEmulator, type Emulator } from "../../src/emulator/index.ts";
import { headOf } from "../../src/http/response.ts";

const origin = "http://127.0.0.1:4010";
/** An application whose flow plays something that lasts a while. */
const app = (request: Request): Response =>
  request.url.endsWith("/flow")
    ? Response.json({ action: "play", media_url: "https://app.test/media" })
    : new Response("fine");

const emulators: Emulator[] = [];
afterEach(async () => {
  for (const emulator of emulators.splice(0)) await emulator.close();
});

/**
 * An emulator with a dashboard, and a browser's cookie for it.
 *
 * @param placingAt - how its page places calls
 */
const stage = async (placingAt?: (emulator: Emulator) => Promise<Placing>) => {
  const attendant = new Attendant();
  const emulator = createEmulator({ fetch: app, onCall: attendant.onCall });
  emulators.push(emulator);
  const isHost = (host: string) => host === "127.0.0.1:4010";
  const placing = await placingAt?.(emulator);
  const { fetch, token } = dashboard(emulator, { isHost, attendant, placing });
  const welcome = await fetch(`${origin}/?token=${token}`);
  const setCookie = welcome.headers.get("set-cookie") ?? "";
  const [cookie = ""] = setCookie.split(";");
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(`${origin}${path}`, { ...init, headers: { cookie, ...init.headers } });
  const write = (path: string, body: string | null = null) =>
    ask(path, { method: "POST", headers: { origin }, body });
  const place = async (to_number: string) => {
    const response = await fetch(`${origin}/api/v1/calls/initiate`, {
      method: "POST",
      headers: { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" },
      body: JSON.stringify({
        from_number: "+12025550199",
        to_number,
        flow_url: "https://app.test/flow",
        status_callback_url: "https://app.test/status",
      }),
    });
    const { data } = await response.json();
    return data.id as string;
  };
  return { emulator, attendant, fetch, token, setCookie, cookie, ask, write, place };
};

const never = "+12025550102";

describe("signing in", () => {
  it("gives a strict cookie that no script can read, without the token in it", async () => {
    const { token, setCookie } = await stage();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(setCookie).toMatch(/^outdial_4010=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(setCookie).not.toContain(token);
  });

  it("is another cookie for each run, named for its port, and secure over https", async () => {
    const one = await stage();
    const other = await stage();
    expect(one.cookie).not.toBe(other.cookie);
    const { fetch, token } = dashboard(one.emulator, { isHost: () => true });
    const response = await fetch(`https://emulator.test/?token=${token}`);
    expect(response.headers.get("set-cookie")).toMatch(/^outdial_https=.*; Secure$/);
  });

  it("leads on to an address without the token", async () => {
    const { fetch, token } = await stage();
    const html = await (await fetch(`${origin}/?token=${token}`)).text();
    expect(html).toContain('content="0;url=/"');
    expect(html).not.toContain(token);
  });

  it.each(["", "x", "x".repeat(43)])("refuses the token %j", async (token) => {
    const { fetch } = await stage();
    const response = await fetch(`${origin}/?token=${token}`);
    expect(response.status).toBe(403);
    expect(response.headers.get("set-cookie")).toBe(null);
  });

  const paths = ["/dashboard/key", "/dashboard/events", "/dashboard/calls/cs_1", "/dashboard/x"];
  it.each(paths)("is needed for %s", async (path) => {
    const { fetch, ask } = await stage();
    for (const cookie of ["", "outdial_4010=", "outdial_4010=x", "other=1"]) {
      for (const method of ["GET", "POST"]) {
        const headers = { cookie, origin };
        expect((await fetch(`${origin}${path}`, { method, headers })).status).toBe(401);
      }
    }
    const { status, body } = await ask(path);
    expect(status).not.toBe(401);
    await body?.cancel();
  });

  it("is all that an unknown visitor sees", async () => {
    const { fetch, emulator } = await stage();
    const html = await (await fetch(origin)).text();
    expect(html).toContain("Sign in");
    expect(html).not.toContain(emulator.accountId);
  });
});

describe("a request", () => {
  it.each(["/", "/dashboard/key", "/api/v1/calls/initiate", "/recordings/cs_1.wav"])(
    "to another host is refused: %s",
    async (path) => {
      const { ask, emulator } = await stage();
      const headers = { host: "evil.test:4010", origin, "X-API-Key": emulator.apiKey };
      for (const method of ["GET", "POST"]) {
        expect((await ask(path, { method, headers })).status).toBe(403);
      }
    },
  );

  it.each([
    undefined,
    "null",
    "http://localhost:4010",
    "http://127.0.0.1:3000",
    "https://evil.test",
  ])("that writes is refused from the origin %s", async (from) => {
    const { ask, emulator, attendant, place } = await stage();
    const id = await place(never);
    const before = emulator.apiKey;
    const headers = from ? { origin: from } : {};
    const paths = [
      "/dashboard/key",
      "/dashboard/calls",
      "/dashboard/command",
      "/dashboard/attendant/present",
      `/dashboard/calls/${id}/reject`,
    ];
    for (const path of paths) {
      expect((await ask(path, { method: "POST", headers })).status).toBe(403);
    }
    expect([emulator.apiKey, emulator.call(id)?.state]).toEqual([before, "ringing"]);
    expect([emulator.calls.length, attendant.isPresent]).toEqual([1, false]);
  });

  it("is answered for this origin alone, and never kept", async () => {
    const { ask, write } = await stage();
    for (const response of [
      await ask("/"),
      await ask("/dashboard/key"),
      await write("/dashboard/x"),
    ]) {
      const { headers } = response;
      expect(headers.get("access-control-allow-origin")).toBe(null);
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
    }
  });

  it("for a page gets one whose scripts and styles are its own, by a nonce of its own", async () => {
    const { ask } = await stage();
    const pages = [await ask("/"), await ask("/")];
    const nonces = pages.map(({ headers }) => {
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toMatch(/^default-src 'none'; .*frame-ancestors 'none'/);
      expect(policy).not.toMatch(/unsafe/);
      return /script-src 'nonce-([\w-]+)';/.exec(policy)?.[1];
    });
    expect(nonces[0]).not.toBe(nonces[1]);
    const html = await pages[0]?.text();
    expect(html?.match(/<script[^>]*>/g)).toEqual([`<script type="module" nonce="${nonces[0]}">`]);
    expect(html?.match(/<style[^>]*>/g)).toEqual([`<style nonce="${nonces[0]}">`]);
    expect(html).not.toMatch(/ on\w+=| style=|https?:\/\/(?!127\.0\.0\.1:4010|www\.w3\.org)/);
  });

  it("for anything else is the emulator's", async () => {
    const { emulator, fetch } = await stage();
    for (const path of ["/api/v1/calls/initiate", "/elsewhere", "/dashboard"]) {
      const response = await fetch(`${origin}${path}`, { method: "POST" });
      const expected = await emulator.fetch(`${origin}${path}`, { method: "POST" });
      expect([response.status, await response.text()]).toEqual([
        expected.status,
        await expected.text(),
      ]);
    }
  });

  it("of any kind gets an answer, and none that says the dashboard failed", async () => {
    const { ask } = await stage();
    const paths = fc.oneof(
      fc.constantFrom(
        "/",
        "/?token=x",
        "/dashboard/key",
        "/dashboard/calls/",
        "/dashboard/calls/a/hangup",
      ),
      fc.webPath().map((path) => `/dashboard/${path}`),
    );
    const methods = fc.constantFrom("GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH");
    const bodies = fc.option(fc.string());
    const origins = fc.constantFrom(origin, "null", "https://evil.test");
    const cookies = fc.constantFrom({}, { cookie: "outdial_4010=%%%; ;=;" });
    await fc.assert(
      fc.asyncProperty(
        paths,
        methods,
        bodies,
        origins,
        cookies,
        async (path, method, body, from, cookie) => {
          const takesBody = method !== "GET" && method !== "HEAD";
          const headers = { origin: from, ...cookie };
          const response = await ask(path, { method, headers, body: takesBody ? body : null });
          expect([200, 401, 403, 404, 409]).toContain(response.status);
          await response.body?.cancel();
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

describe("the key", () => {
  it("is shown, and regenerated", async () => {
    const { emulator, ask, write } = await stage();
    const before = emulator.apiKey;
    expect(await (await ask("/dashboard/key")).json()).toEqual({ key: before });
    const { key } = await (await write("/dashboard/key")).json();
    expect(key).not.toBe(before);
    expect(emulator.apiKey).toBe(key);
  });
});

describe("a call", () => {
  it("is shown with its history", async () => {
    const { emulator, ask, place } = await stage();
    const id = await place("+12025550101");
    await emulator.ended(id);
    expect(await (await ask(`/dashboard/calls/${id}`)).json()).toEqual(emulator.call(id));
    expect((await ask("/dashboard/calls/cs_none")).status).toBe(404);
  });

  it("obeys the attendant, when its state lets it", async () => {
    const { emulator, write, place } = await stage();
    const answered = await place(never);
    const statusOf = async (id: string, deed: string) =>
      (await write(`/dashboard/calls/${id}/${deed}`)).status;
    expect(await statusOf(answered, "answer")).toBe(200);
    expect(await statusOf(answered, "answer")).toBe(409);
    expect(await statusOf(answered, "reject")).toBe(409);
    expect(await statusOf(answered, "hangup")).toBe(200);
    expect(emulator.call(answered)).toMatchObject({ state: "completed", reason: "normal" });
    const rejected = await place(never);
    expect(await statusOf(rejected, "reject")).toBe(200);
    expect(emulator.call(rejected)).toMatchObject({ state: "failed", reason: "rejected" });
    expect(await statusOf("cs_none", "hangup")).toBe(409);
  });

  it("gets the keys of an answered call, from the dashboard's own page alone", async () => {
    const { emulator, ask, write, place, fetch } = await stage();
    const id = await place(never);
    const path = (digits: string) => `/dashboard/calls/${id}/press/${encodeURIComponent(digits)}`;
    expect((await write(path("1"))).status).toBe(409);
    emulator.answer(id);
    expect((await write(path("1"))).status).toBe(200);
    expect((await write(path("#*"))).status).toBe(200);
    expect((await write(path("a"))).status).toBe(422);
    const foreign = { method: "POST", headers: { origin: "http://127.0.0.1:3000" } };
    expect((await ask(path("2"), foreign)).status).toBe(403);
    const strange = { method: "POST", headers: { origin } };
    expect((await fetch(`${origin}${path("2")}`, strange)).status).toBe(401);
    const pressed = emulator
      .call(id)
      ?.history.flatMap((entry) => (entry.type === "press" ? [entry.digit] : []));
    expect(pressed).toEqual(["1", "#", "*"]);
  });
});

describe("a call from the page", () => {
  const params = {
    from_number: "+12025550199",
    to_number: never,
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
  };

  const sample = (base: string) => sampleCall(base, params.from_number, undefined);
  const placingAt = async (emulator: Emulator) => ({ ...(await tryingAt(emulator)), sample });

  it("is placed with the key that the page does not have, and tells what the API answered", async () => {
    const { emulator, write } = await stage(placingAt);
    const said = async (body: string) => (await write("/dashboard/calls", body)).text();
    const placed = await said(JSON.stringify(params));
    expect(JSON.parse(placed)).toEqual({
      status: 202,
      id: emulator.calls[0]?.id,
      message: "Call accepted.",
    });
    expect(placed).not.toContain(emulator.apiKey);
    expect(emulator.calls).toMatchObject([params]);
    expect(JSON.parse(await said(JSON.stringify({ ...params, to_number: "1" })))).toMatchObject({
      status: 422,
      message: expect.stringMatching(/^to_number: /),
    });
    expect((await write("/dashboard/calls", "{")).status).toBe(400);
    expect(emulator.calls).toHaveLength(1);
  });

  it("is placed as a service of any name encodes it, which reads the answer, too", async () => {
    const { emulator, write } = await stage(async (own) => {
      const { encodeCall, ...rest } = await placingAt(own);
      const encodeOther: Placing["encodeCall"] = async ({ to_number: _, ...call }, ...where) => ({
        ...(await encodeCall({ ...call, to_number: "+12025550103" }, ...where)),
        headOf: (response, url) => {
          const text = async () => `{"detail":"read ${(await response.json()).message}"}`;
          return { ...headOf(response, url), source: { text } };
        },
      });
      return { ...rest, encodeCall: encodeOther };
    });
    const placed = await write("/dashboard/calls", JSON.stringify(params));
    expect(await placed.json()).toEqual({ status: 202, message: "read Call accepted." });
    expect(emulator.calls).toMatchObject([{ to_number: "+12025550103" }]);
  });

  it("is shown as a command, with the key in it", async () => {
    const { emulator, write } = await stage(placingAt);
    const { command } = await (await write("/dashboard/command", JSON.stringify(params))).json();
    expect(command).toContain(
      `echo 'X-API-Key: ${emulator.apiKey}' | curl '${origin}/api/v1/calls`,
    );
    expect(command).toContain(JSON.stringify(params));
    expect(emulator.calls).toEqual([]);
  });

  it("can't be placed where the dashboard doesn't know how", async () => {
    const { write } = await stage();
    for (const path of ["/dashboard/calls", "/dashboard/command"]) {
      expect((await write(path, JSON.stringify(params))).status).toBe(404);
    }
  });
});

describe("the attendant", () => {
  it("has telephones ring until they decide, but those that never ring", async () => {
    const { attendant, write, place } = await stage();
    expect((await write("/dashboard/attendant/present")).status).toBe(200);
    expect(attendant.isPresent).toBe(true);
    const outcomeOf = (to_number: string) => attendant.onCall({ to_number });
    for (const rings of ["+12025550100", "+12025550102", "+12025550103", "+12025550105"]) {
      expect(outcomeOf(rings), rings).toMatchObject({ outcome: "no_answer" });
    }
    for (const silent of ["+12025550101", "+12025550104"]) {
      expect(outcomeOf(silent), silent).toBe(undefined);
    }
    const id = await place("+12025550103");
    await write("/dashboard/attendant/absent");
    expect(outcomeOf("+12025550102")).toBe(undefined);
    expect((await write(`/dashboard/calls/${id}/answer`)).status).toBe(200);
  });

  it("is nobody where the emulator does not ask them", async () => {
    const emulator = createEmulator();
    emulators.push(emulator);
    const { fetch, token } = dashboard(emulator, { isHost: () => true });
    const welcome = await fetch(`${origin}/?token=${token}`);
    const [cookie = ""] = (welcome.headers.get("set-cookie") ?? "").split(";");
    const headers = { cookie, origin };
    const there = await fetch(`${origin}/dashboard/attendant/present`, { method: "POST", headers });
    expect(there.status).toBe(404);
    expect(await (await fetch(origin, { headers })).text()).not.toContain('role="switch"');
  });
});

describe("what happens", () => {
  const listen = async ({ ask }: { readonly ask: (path: string) => Promise<Response> }) => {
    const { body, headers } = await ask("/dashboard/events");
    expect(headers.get("content-type")).toBe("text/event-stream");
    const reader = body?.getReader();
    const decoder = new TextDecoder();
    const next = async () => {
      const { value, done } = (await reader?.read()) ?? {};
      if (done) return;
      const text = decoder.decode(value);
      expect(text).toMatch(/^data: [^\n]+\n\n$/);
      return JSON.parse(text.slice(6));
    };
    return { next, leave: () => reader?.cancel() };
  };

  it("begins with all calls, and goes on with those that change", async () => {
    const staged = await stage();
    const known = await staged.place("+12025550101");
    await staged.emulator.ended(known);
    const before = Date.now();
    const { next } = await listen(staged);
    const first = await next();
    const calls = [{ id: known, state: "failed", reason: "busy" }];
    expect(first).toMatchObject({ whole: true, key: false, calls });
    expect(first.now).toBeGreaterThanOrEqual(before);
    expect(first.now).toBeLessThanOrEqual(Date.now());
    expect(first.calls[0]).not.toHaveProperty("history");
    const other = await staged.place(never);
    const news = await next();
    expect(news).toMatchObject({ whole: false, key: false });
    expect(news.calls.map(({ id }: { id: string }) => id)).toEqual([other]);
    staged.emulator.reject(other);
    let last = await next();
    while (last.calls[0].state !== "failed") last = await next();
    expect(last.calls).toMatchObject([{ id: other, reason: "rejected" }]);

    await staged.emulator.ended(other);
    staged.emulator.regenerateKey();
    while (!last.key) last = await next();
    const third = await staged.place(never);
    const { calls: changed } = await next();
    expect(changed.map(({ id }: { id: string }) => id)).toEqual([third]);
  });

  it("is gathered while nobody reads", async () => {
    const staged = await stage();
    const { next } = await listen(staged);
    await next();
    const ids = [await staged.place(never), await staged.place(never)];
    for (const id of ids) staged.emulator.reject(id);
    for (const id of ids) await staged.emulator.ended(id);
    const { calls } = await next();
    expect(calls.map(({ id, state }: { id: string; state: string }) => [id, state])).toEqual(
      ids.map((id) => [id, "failed"]),
    );
  });

  it("tells of a new key, without it, and of a reset", async () => {
    const staged = await stage();
    const { next } = await listen(staged);
    await next();
    const key = staged.emulator.regenerateKey();
    const news = await next();
    expect(news).toMatchObject({ whole: false, key: true, calls: [] });
    expect(JSON.stringify(news)).not.toContain(key);
    await staged.place(never);
    staged.emulator.reset();
    let last = await next();
    while (!last.whole) last = await next();
    expect(last.calls).toEqual([]);
  });

  it("tells who decides, and something at least every two seconds", async () => {
    const staged = await stage();
    const { next } = await listen(staged);
    expect(await next()).toMatchObject({ attendant: false });
    staged.attendant.isPresent = true;
    expect(await next()).toMatchObject({ attendant: true, whole: false, calls: [] });
    const { now } = await next();
    expect(await next()).toMatchObject({ attendant: true, whole: false, calls: [] });
    expect(Date.now()).toBeGreaterThan(now);
  });

  it("tells of notifications that fail, and when the next try is", async () => {
    const emulator = createEmulator({ fetch: () => new Response(null, { status: 500 }) });
    emulators.push(emulator);
    const dashboarded = dashboard(emulator, { isHost: () => true });
    const welcome = await dashboarded.fetch(`${origin}/?token=${dashboarded.token}`);
    const [cookie = ""] = (welcome.headers.get("set-cookie") ?? "").split(";");
    const ask = (path: string) => dashboarded.fetch(`${origin}${path}`, { headers: { cookie } });
    const { next } = await listen({ ask });
    await next();
    await emulator.fetch(`${origin}/api/v1/calls/initiate`, {
      method: "POST",
      headers: { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" },
      body: JSON.stringify({
        from_number: "+12025550199",
        to_number: "+12025550101",
        flow_url: "https://app.test/flow",
        status_callback_url: "https://app.test/status",
      }),
    });
    let news = await next();
    while (!news.calls[0]?.undelivered) news = await next();
    const { givenUp, retrying } = news.calls[0].undelivered;
    expect([givenUp, retrying.event, retrying.tries]).toEqual([0, "call.initiated", 1]);
    expect(retrying.error).toBe("HTTP 500");
    expect(retrying.nextAt - news.now).toBeGreaterThan(0);
    expect(retrying.nextAt - news.now).toBeLessThanOrEqual(1_500);
    emulator.reset();
  });

  it("ends with the emulator", async () => {
    const staged = await stage();
    const { next } = await listen(staged);
    await next();
    await staged.emulator.close();
    expect(await next()).toBe(undefined);
  });

  it("is sent to nobody any more who has left", async () => {
    const emulator = createEmulator();
    emulators.push(emulator);
    let left = 0;
    const watched: Emulator = Object.create(emulator, {
      [Symbol.asyncIterator]: {
        value: () => {
          const events = emulator[Symbol.asyncIterator]();
          const leave = async () => {
            left++;
            return events.return?.();
          };
          return { next: () => events.next(), return: leave };
        },
      },
    });
    const reader = updates(watched, undefined, Date.now).getReader();
    await reader.read();
    const reading = reader.read();
    await reader.cancel();
    expect(await reading).toMatchObject({ done: true });
    expect(left).toBe(1);
  });
});
