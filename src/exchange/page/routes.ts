import { Hono } from "hono/tiny";
import { isOwnPage, pageResponses } from "../../emulator/dashboard/responses.ts";
import { updates } from "../../emulator/dashboard/updates.ts";
import { readBody } from "../../lib/body.ts";
import { isSame } from "../../server/account.ts";
import type { CallRecord } from "../../server/history.ts";
import type { LoggedEvent, ServerEvent } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { ExchangeService } from "../parts.ts";
import type { Recorder } from "../recorder.ts";
import { exchangePage, signInPage, welcomePage } from "./html.ts";
import { Sessions, type SignIn } from "./sessions.ts";
import type { LimitUse, PageState } from "./state.ts";
import { WatchedCalls } from "./watched.ts";

/** What the pages of an exchange need. */
export interface PagesParts {
  readonly service: ExchangeService;
  readonly recorder?: Pick<Recorder, "bytes" | "latest" | "download"> | undefined;
  readonly metrics: Metrics;
  /** How near the limits are. */
  readonly limits: () => readonly LimitUse[];
  /** Whether a `Host` header is one that the pages are bound to: any other is refused, as DNS may lead any name here. */
  readonly isHost: (host: string) => boolean;
  /** The operator's; without one only the token signs in. */
  readonly password?: string | undefined;
  /** Lets the command erase numbers. */
  readonly controlToken: string;
  /** The base URL of the API, which the page shows. */
  readonly apiUrl: string;
  readonly onEvent: (event: ServerEvent) => void;
  /**
   * Milliseconds since 1970.
   *
   * @defaultValue `Date.now`
   */
  readonly now?: () => number;
}

/** The pages of an exchange, for an address of their own. */
export interface Pages {
  readonly fetch: (request: Request) => Promise<Response>;
  /** Signs a browser in at `/?token=…`, for a day. */
  readonly token: string;
  /** Shows what has happened. */
  readonly onEvent: (event: LoggedEvent) => void;
  /** Ends the streams of events. */
  readonly close: () => void;
}

/** How many recordings are listed. */
const listed = 50;

/** How much of a form is read, in bytes. */
const longestForm = 2_048;

const { headers, html, json, refusal, eventStream } = pageResponses("outdial-exchange");

const text = (status: number, body: string, type = "text/plain"): Response =>
  new Response(body, { status, headers: { ...headers, "Content-Type": `${type}; charset=utf-8` } });

/** A field of a form; empty when it has none. */
const readForm = async ({ body, signal }: Request, field: string): Promise<string> => {
  const { bytes } = await readBody(new Response(body), longestForm, signal);
  return new URLSearchParams(new TextDecoder().decode(bytes)).get(field) ?? "";
};

const signInStatus: Readonly<Record<SignIn, number>> = {
  accepted: 200,
  refused: 403,
  limited: 429,
};

/** The call as its timeline shows it: the recording is played from this page's address. */
const shownCall = ({ history, ...facts }: CallRecord, origin: string): CallRecord => ({
  ...facts,
  history: history.map((entry) =>
    entry.type === "recording"
      ? { ...entry, url: `${origin}/dashboard/recordings/${encodeURIComponent(facts.id)}` }
      : entry,
  ),
});

const routes = (parts: PagesParts, sessions: Sessions, watched: WatchedCalls): Hono => {
  const { service, recorder, metrics, limits, controlToken, apiUrl, onEvent } = parts;
  const { now = Date.now } = parts;
  const app = new Hono();

  app.get("/healthz", () => text(200, "ok\n"));
  app.get("/readyz", () =>
    service.isReady ? text(200, "ok\n") : text(503, "Asterisk is not reached\n"),
  );
  app.get("/metrics", () =>
    text(
      200,
      metrics.text({ service, recordings: recorder, now: now() }),
      "text/plain; version=0.0.4",
    ),
  );

  const signIn = (request: Request, secret: string): Response => {
    const outcome = sessions.check(secret);
    onEvent({ type: "sign_in", outcome });
    if (outcome !== "accepted") {
      return html(signInStatus[outcome], (nonce) => signInPage(nonce, outcome));
    }
    // A page instead of a redirect: browsers don't send a strict cookie after a redirect that started
    // with a link on another site.
    return html(200, welcomePage, { "Set-Cookie": sessions.begin(new URL(request.url)) });
  };
  app.get("/", ({ req }) => {
    const token = req.query("token");
    if (token !== undefined) return signIn(req.raw, token);
    if (!sessions.has(req.raw)) return html(200, (nonce) => signInPage(nonce));
    return html(200, (nonce) => exchangePage(nonce, { apiUrl, records: recorder !== undefined }));
  });
  app.post("/", async ({ req }) => {
    if (!isOwnPage(req.raw)) return refusal(403, "Only the exchange's own page may do this.");
    return signIn(req.raw, await readForm(req.raw, "secret"));
  });

  app.post("/control/erase", async ({ req }) => {
    const given = req.header("Authorization") ?? "";
    if (!isSame(given, `Bearer ${controlToken}`))
      return refusal(401, "Not this exchange's operator.");
    const number = await readForm(req.raw, "number");
    const erased = service.erase(number);
    const live = service.live.filter((call) => [call.to_number, call.from_number].includes(number));
    watched.reset();
    return json(200, { erased, live: live.length });
  });

  app.use("/dashboard/*", async ({ req }, next) => {
    if (!sessions.has(req.raw)) return refusal(401, "Sign in by the exchange's link.");
    if (!isOwnPage(req.raw)) return refusal(403, "Only the exchange's own page may do this.");
    await next();
    return;
  });
  app.get("/dashboard/events", () => eventStream(updates(watched, undefined, now)));
  app.get("/dashboard/state", () => {
    const state: PageState = {
      isReady: service.isReady,
      notifications: service.failedNotifications,
      limits: limits(),
      recordings: recorder && { bytes: recorder.bytes, latest: recorder.latest(listed) },
    };
    return json(200, state);
  });
  app.get("/dashboard/calls/:id", ({ req }) => {
    const call = watched.call(req.param("id"));
    if (!call) return refusal(404, "No such call is known.");
    return json(200, shownCall(call, new URL(req.url).origin));
  });
  app.get("/dashboard/recordings/:id", ({ req }) => {
    const range = req.header("Range") ?? null;
    const response = recorder?.download(req.param("id"), {}, range, 2);
    if (!response) return refusal(404, "No such recording is kept.");
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  });
  app.post("/dashboard/notifications/:id/resend", ({ req }) =>
    service.resend(req.param("id"))
      ? json(200, { done: "resend" })
      : refusal(409, "The notification is delivered, or not known."),
  );
  app.post("/dashboard/key", () => {
    const key = service.regenerateKey();
    onEvent({ type: "key_regenerated" });
    return json(200, { key });
  });
  app.post("/dashboard/sign-out", () => {
    sessions.revoke();
    watched.endStreams();
    return json(200, { done: "sign-out" });
  });
  app.notFound(() => refusal(404, "Not Found"));
  return app;
};

/**
 * Opens the pages of an exchange: the operator's page, the metrics, and whether the exchange is alive and ready. They are for an
 * address of their own, never for the API's.
 */
export const openPages = (parts: PagesParts): Pages => {
  const { service, isHost, password, now = Date.now } = parts;
  const sessions = new Sessions(password, now);
  const watched = new WatchedCalls(service);
  const app = routes(parts, sessions, watched);
  return {
    token: sessions.token,
    fetch: async (request) => {
      const host = request.headers.get("Host") ?? new URL(request.url).host;
      return isHost(host) ? app.fetch(request) : refusal(403, "Not this host's exchange.");
    },
    onEvent: (event) => {
      if ("call_id" in event) watched.changed(event.call_id);
    },
    close: () => watched.close(),
  };
};
