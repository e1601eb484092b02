import { Hono } from "hono/tiny";
import type { CallParams } from "../../calls/params.ts";
import { withoutThrowing } from "../../lib/check.ts";
import { realClock } from "../clock.ts";
import type { Emulator } from "../emulator.ts";
import { emulatorDefaults } from "../options.ts";
import type { Attendant } from "./attendant.ts";
import { dashboardPage, signInPage, welcomePage } from "./page/html.ts";
import { type Placing, placeCall } from "./placing.ts";
import { isOwnPage, pageResponses } from "./responses.ts";
import { Session } from "./session.ts";
import { updates, voicesOf } from "./updates.ts";

/** Options of a dashboard. */
export interface DashboardOptions {
  /**
   * Whether a `Host` header is one that the emulator is bound to. Any other is refused, for the API too:
   * otherwise a page whose own name resolves to this machine could read everything here.
   */
  readonly isHost: (host: string) => boolean;
  /** Answers what is not the emulator's, such as a sample application; the same `Host` rule applies. */
  readonly beside?: ((request: Request) => Response | Promise<Response> | undefined) | undefined;
  /**
   * Signs a browser in.
   *
   * @defaultValue a new one: 43 base64url characters
   */
  readonly token?: string | undefined;
  /**
   * The emulator's option, for the durations of current calls.
   *
   * @defaultValue 1
   */
  readonly speed?: number | undefined;
  /**
   * The emulator's option, in milliseconds.
   *
   * @defaultValue 30 000
   */
  readonly answerTimeout?: number | undefined;
  /**
   * The attendant whose `onCall` is the emulator's option: the page has a switch for their presence.
   *
   * @defaultValue the page has no such switch
   */
  readonly attendant?: Attendant | undefined;
  /**
   * What the key is called.
   *
   * @defaultValue `"API key"`
   */
  readonly keyName?: string | undefined;
  /**
   * How the page places calls.
   *
   * @defaultValue the page places none
   */
  readonly placing?: Placing | undefined;
}

/** An emulator with its dashboard. */
export interface Dashboard {
  /** The emulator's `fetch`, with the dashboard at `/`. */
  readonly fetch: Emulator["fetch"];
  /** Signs a browser in, at `/?token=…`. */
  readonly token: string;
}

const { html, json, refusal, eventStream } = pageResponses("outdial-emulator");

/** What the callee can do, by the last part of the path. */
const calleeActions = ["answer", "reject", "hangup"] as const;

const routes = (emulator: Emulator, session: Session, options: DashboardOptions): Hono => {
  const { speed = emulatorDefaults.speed, answerTimeout = emulatorDefaults.answerTimeout } =
    options;
  const { attendant, keyName = "API key", placing } = options;
  const app = new Hono();
  const { now } = realClock(speed)();

  app.get("/", ({ req }) => {
    const token = req.query("token");
    if (token !== undefined && session.accepts(token)) {
      // A page instead of a redirect: browsers don't send a strict cookie after a redirect that started
      // with a link on another site.
      return html(200, welcomePage, { "Set-Cookie": session.cookie(new URL(req.url)) });
    }
    if (!session.isSignedIn(req.raw)) {
      const wasRefused = token !== undefined;
      return html(wasRefused ? 403 : 200, (nonce) => signInPage(nonce, wasRefused));
    }
    const { origin } = new URL(req.url);
    return html(200, (nonce) =>
      dashboardPage(nonce, {
        accountId: emulator.accountId,
        service: emulator.service,
        origin,
        speed,
        answerTimeout,
        hasAttendant: attendant !== undefined,
        keyName,
        sample: placing?.sample(origin),
      }),
    );
  });

  app.use("/dashboard/*", async ({ req }, next) => {
    if (!session.isSignedIn(req.raw)) return refusal(401, "Sign in by the emulator's link.");
    if (!isOwnPage(req.raw)) {
      return refusal(403, "Only the dashboard's own page may do this.");
    }
    await next();
    return;
  });
  app.get("/dashboard/events", () => eventStream(updates(emulator, attendant, now)));
  app.get("/dashboard/key", () => json(200, { key: emulator.apiKey }));
  app.post("/dashboard/key", () => json(200, { key: emulator.regenerateKey() }));
  app.get("/dashboard/calls/:id", ({ req }) => {
    const call = emulator.call(req.param("id"));
    return call ? json(200, call) : refusal(404, "No such call is known.");
  });
  app.get("/dashboard/calls/:id/voices", ({ req }) => {
    const voices = voicesOf(emulator, req.param("id"));
    return voices ? json(200, voices) : refusal(404, "No such call is known.");
  });
  /** A route that takes the fields of the form. */
  const withParams = (
    path: string,
    answer: (params: CallParams, origin: string, placing: Placing) => Promise<object>,
  ) =>
    app.post(path, async ({ req }) => {
      if (!placing) return refusal(404, "This dashboard places no calls.");
      const text = await req.text();
      const params: CallParams | undefined = withoutThrowing(() => JSON.parse(text));
      if (!params) return refusal(400, "The body is not JSON.");
      return json(200, await answer(params, new URL(req.url).origin, placing));
    });
  withParams("/dashboard/calls", (params, origin, how) => placeCall(emulator, origin, params, how));
  withParams("/dashboard/command", async (params, origin, { commandFor }) => ({
    command: await commandFor(params, origin),
  }));
  for (const isPresent of [true, false]) {
    app.post(`/dashboard/attendant/${isPresent ? "present" : "absent"}`, () => {
      if (!attendant) return refusal(404, "This dashboard has no attendant.");
      attendant.isPresent = isPresent;
      return json(200, { isPresent });
    });
  }
  for (const action of calleeActions) {
    app.post(`/dashboard/calls/:id/${action}`, ({ req }) =>
      emulator[action](req.param("id"))
        ? json(200, { done: action })
        : refusal(409, "The call is not in a state for that."),
    );
  }
  app.post("/dashboard/calls/:id/press/:digits", ({ req }) => {
    const { id, digits } = req.param();
    if (!/^[\d*#]{1,20}$/.test(digits)) return refusal(422, "Keys are 0 to 9, * and #.");
    return emulator.press(id, digits)
      ? json(200, { done: "press" })
      : refusal(409, "The call is not answered, or over.");
  });
  app.notFound(() => refusal(404, "Not Found"));
  return app;
};

/**
 * Adds the dashboard to an emulator: one page at `/` with the key, the current calls, and the callee's
 * telephone. It is for an emulator on a port; all other requests go to the emulator. The key is shown and
 * regenerated only here, as no API manages keys.
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
      const isOwn = url.pathname === "/" || url.pathname.startsWith("/dashboard/");
      const headers = input instanceof Request ? input.headers : new Headers(init?.headers);
      if (!isHost(headers.get("Host") ?? url.host)) {
        return refusal(403, "Not this host's emulator.");
      }
      const response = isRequest && beside?.(input);
      if (response) return response;
      if (!isOwn) return emulator.fetch(input, init);
      return app.fetch(isRequest ? input : new Request(input, init));
    },
  };
};
