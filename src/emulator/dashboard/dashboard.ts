import { Hono } from "hono/tiny";
import type { Emulator } from "../emulator.ts";
import { realClock } from "../line/clock/real-clock.ts";
import type { Attendant } from "./attendant.ts";
import { live } from "./live.ts";
import { page } from "./page/page.ts";
import { signInPage, welcomePage } from "./page/sign-in.ts";
import { place, type Sample } from "./place.ts";
import { eventStream, html, json, refuse } from "./secure.ts";
import { Session } from "./session.ts";
import { voicesOf } from "./voices.ts";

/** What may be configured about a dashboard. */
export interface DashboardOptions {
  /**
   * Whether a request's `Host` is one that the emulator is bound to. Any other is refused, with the
   * API's too: else a page whose own name leads to this machine could read everything here.
   */
  readonly isHost: (host: string) => boolean;
  /** Answers what is none of the emulator's, such as a sample application; the same `Host` rule holds. */
  readonly beside?: ((request: Request) => Response | undefined) | undefined;
  /**
   * What signs a browser in.
   *
   * @defaultValue a new one: 43 base64url characters
   */
  readonly token?: string | undefined;
  /**
   * The emulator's own option, for the durations of the calls that go on.
   *
   * @defaultValue 1
   */
  readonly speed?: number | undefined;
  /**
   * The emulator's own option too, in milliseconds.
   *
   * @defaultValue 30 000
   */
  readonly answerWithin?: number | undefined;
  /**
   * Whose `onCall` is the emulator's: the page has a switch that leaves telephones to them.
   *
   * @defaultValue the page has no such switch
   */
  readonly attendant?: Attendant | undefined;
  /**
   * What a call says at first that is placed on the page.
   *
   * @param origin - the emulator's own
   * @defaultValue the page places none
   */
  readonly sample?: ((origin: string) => Sample) | undefined;
}

/** An emulator with its dashboard. */
export interface Dashboard {
  /** The emulator's `fetch`, which now answers `GET /` too. */
  readonly fetch: Emulator["fetch"];
  /** Signs a browser in, at `/?token=…`. */
  readonly token: string;
}

/** What the callee may do, by the last part of its address. */
const deeds = ["answer", "reject", "hangup"] as const;

const routes = (emulator: Emulator, session: Session, options: DashboardOptions): Hono => {
  const { speed = 1, answerWithin = 30_000, attendant, sample } = options;
  const app = new Hono();
  const { now } = realClock(speed)();

  app.get("/", ({ req }) => {
    const token = req.query("token");
    if (token !== undefined && session.accepts(token)) {
      // A page that leads on, and no redirect: a strict cookie would not come along with one that
      // began at a link on another site.
      return html(200, welcomePage, { "Set-Cookie": session.cookie(new URL(req.url)) });
    }
    if (session.holds(req.raw)) {
      const { accountId } = emulator;
      const { origin } = new URL(req.url);
      const facts = {
        accountId,
        origin,
        speed,
        answerWithin,
        hasAttendant: attendant !== undefined,
      };
      return html(200, (nonce) => page(nonce, { ...facts, sample: sample?.(origin) }));
    }
    return html(token === undefined ? 200 : 403, (nonce) => signInPage(nonce, token !== undefined));
  });

  app.use("/dashboard/*", async ({ req }, next) => {
    if (!session.holds(req.raw)) return refuse(401, "Sign in by the emulator's link.");
    // Another port of this machine is the same site to a browser, so the cookie is not enough.
    if (req.method !== "GET" && req.header("Origin") !== new URL(req.url).origin) {
      return refuse(403, "Only the dashboard's own page may do this.");
    }
    await next();
    return;
  });
  app.get("/dashboard/events", () => eventStream(live(emulator, attendant, now)));
  app.get("/dashboard/key", () => json(200, { key: emulator.apiKey }));
  app.post("/dashboard/key", () => json(200, { key: emulator.regenerateKey() }));
  app.get("/dashboard/calls/:id", ({ req }) => {
    const call = emulator.call(req.param("id"));
    return call ? json(200, call) : refuse(404, "No such call is known.");
  });
  app.get("/dashboard/calls/:id/voices", ({ req }) => {
    const voices = voicesOf(emulator, req.param("id"));
    return voices ? json(200, voices) : refuse(404, "No such call is known.");
  });
  app.post("/dashboard/calls", async ({ req }) => {
    const { origin } = new URL(req.url);
    return json(200, await place(emulator, origin, await req.text()));
  });
  for (const isThere of [true, false]) {
    app.post(`/dashboard/attendant/${isThere ? "there" : "away"}`, () => {
      if (!attendant) return refuse(404, "The telephones are not this page's.");
      attendant.isThere = isThere;
      return json(200, { isThere });
    });
  }
  for (const deed of deeds) {
    app.post(`/dashboard/calls/:id/${deed}`, ({ req }) =>
      emulator[deed](req.param("id"))
        ? json(200, { done: deed })
        : refuse(409, "The call is not in a state for that."),
    );
  }
  app.notFound(() => refuse(404, "Not Found"));
  return app;
};

/**
 * Puts the dashboard before an emulator: one page at `/` with the key, the calls as they happen, and
 * the telephone of the callee. For an emulator on a port; all else goes on to the emulator. The key
 * is shown and regenerated here alone: no API manages keys.
 */
export const dashboard = (emulator: Emulator, options: DashboardOptions): Dashboard => {
  const { isHost, beside, token } = options;
  const session = new Session(token);
  const app = routes(emulator, session, options);
  return {
    token: session.token,
    fetch: async (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      const isRequest = input instanceof Request && !init;
      const own = url.pathname === "/" || url.pathname.startsWith("/dashboard/");
      const headers = input instanceof Request ? input.headers : new Headers(init?.headers);
      if (!isHost(headers.get("Host") ?? url.host)) return refuse(403, "Not this host's emulator.");
      const answer = isRequest && beside?.(input);
      if (answer) return answer;
      if (!own) return emulator.fetch(input, init);
      return app.fetch(isRequest ? input : new Request(input, init));
    },
  };
};
