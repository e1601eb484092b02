import { request as requestByHttp } from "node:http";
import { request as requestByHttps } from "node:https";
import { Readable } from "node:stream";
import { tone } from "../../emulator/recording/track.ts";
import { wavHead } from "../../emulator/recording/wav.ts";
import type { CarrierWebhooks } from "../../flows/webhooks.ts";
import { bytesOf } from "../../lib/encoding.ts";
import type { CallFacts } from "../../server/history.ts";
import type { ScriptedFlow } from "./script.ts";

/** How the emulator reaches an application. */
export interface Outward {
  readonly fetch: (request: Request, init: { readonly signal: AbortSignal }) => Promise<Response>;
  readonly WebSocket: new (url: string) => WebSocket;
}

/** The emulator's own sample application, which is never forwarded. */
const samplePath = /^\/sample\//;

/** Statuses whose response has no body. */
const bodiless: ReadonlySet<number> = new Set([204, 205, 304]);

/** Sends a request with the `Host` of its headers, as a tunnel does: `fetch` replaces it by that of the URL. */
const sendWithHost = (
  url: string,
  method: string,
  headers: Headers,
  body: string | null,
  signal: AbortSignal,
): Promise<Response> =>
  new Promise((resolve, reject) => {
    const request = url.startsWith("https:") ? requestByHttps : requestByHttp;
    // A connection of its own: one that is kept may be closed while a request is sent on it.
    const options = { method, headers: Object.fromEntries(headers), signal, agent: false };
    const sent = request(url, options, (received) => {
      const { statusCode: status = 500, headersDistinct } = received;
      const fields = Object.entries(headersDistinct).flatMap(([name, values = []]) =>
        values.map((value): [string, string] => [name, value]),
      );
      const hasBody = !bodiless.has(status);
      if (!hasBody) received.resume();
      const content = hasBody ? (Readable.toWeb(received) as ReadableStream<Uint8Array>) : null;
      resolve(new Response(content, { status, headers: fields }));
    });
    sent.on("error", reject);
    sent.end(body ?? undefined);
  });

/**
 * Sends flow and status requests to an application on this machine, whatever the origin of their URLs, so
 * that they may be the public ones and no tunnel is needed. Other requests to those origins, such as for
 * media, are forwarded too. Path and query stay, so that signatures hold.
 *
 * @param to - the application's origin
 * @param isOwn - whether an origin is the emulator's
 * @param signature - the header that signs the emulator's requests to the application
 */
export const forwarding = (
  to: string,
  isOwn: (origin: string) => boolean,
  signature: string,
): Outward => {
  const origins = new Set<string>();
  const isForwarded = ({ origin, pathname }: URL, isAsked: boolean): boolean =>
    (isAsked || origins.has(origin)) && !(isOwn(origin) && samplePath.test(pathname));
  const forwarded = ({ pathname, search }: URL): string => `${to}${pathname}${search}`;

  const fetch: Outward["fetch"] = async (request, init) => {
    const { method, headers } = request;
    const url = new URL(request.url);
    // A carrier asks by GET too, where its application says so; media is asked for a range.
    const isSigned = headers.has(signature) && !headers.has("Range");
    if (!isForwarded(url, method === "POST" || isSigned)) return globalThis.fetch(request, init);
    origins.add(url.origin);
    const sent = new Headers(headers);
    // Applications build URLs of their host, and verify signatures with it.
    sent.set("Host", url.host);
    sent.set("X-Forwarded-Host", url.host);
    sent.set("X-Forwarded-Proto", url.protocol.slice(0, -1));
    const body = method === "POST" ? await request.text() : null;
    return sendWithHost(forwarded(url), method, sent, body, init.signal);
  };

  const socketUrl = (address: string): string => {
    const url = new URL(address.replace(/^ws/, "http"));
    return isForwarded(url, false) ? forwarded(url).replace(/^http/, "ws") : address;
  };
  const { WebSocket } = globalThis;
  const Forwarded = class extends WebSocket {
    constructor(url: string, options?: string[]) {
      super(socketUrl(url), options);
    }
  };
  return { fetch, WebSocket: Forwarded };
};

const sampleRate = 8_000;

/** Three seconds of 440 Hz, as a WAV. */
const sampleSound = (): Response => {
  const samples = tone(440, sampleRate, 0, 3 * sampleRate);
  const wav = new Blob([wavHead(samples.length, sampleRate), bytesOf(samples)]);
  return new Response(wav, { headers: { "Content-Type": "audio/wav" } });
};

/** The response to a flow request, in the form of the interface that the emulator speaks. */
type Respond = CarrierWebhooks["respond"];

/** Paths and answers of the sample application. */
const sampleRoutes: Readonly<
  Record<string, (origin: string, respond: Respond) => Response | Promise<Response>>
> = {
  "POST /sample/flow": (origin, respond) =>
    respond(() => ({ action: { action: "play", media_url: `${origin}/sample/hello.wav` } })),
  "GET /sample/hello.wav": sampleSound,
  "POST /sample/status": () => new Response(null, { status: 204 }),
};

/**
 * Answers for an application that does not exist yet; `undefined` for any other path.
 *
 * @param flow - answers in the place of the sample's own
 */
export const sampleApplication =
  (respond: Respond, flow?: Pick<ScriptedFlow, "answer" | "notified">) =>
  (request: Request): Response | Promise<Response> | undefined => {
    const { pathname, origin } = new URL(request.url);
    if (flow && pathname === "/sample/flow") return flow.answer(request);
    if (flow && pathname === "/sample/status") return flow.notified(request);
    return sampleRoutes[`${request.method} ${pathname}`]?.(origin, respond);
  };

/**
 * The parameters of a call to try, but for the number that it dials.
 *
 * @param application - the application's origin
 * @defaultValue the sample application of the emulator at `origin`
 */
export const sampleCall = (
  origin: string,
  from_number: string,
  application: string | undefined,
): Pick<CallFacts, "from_number" | "flow_url" | "status_callback_url"> => {
  const base = application ?? `${origin}/sample`;
  return { from_number, flow_url: `${base}/flow`, status_callback_url: `${base}/status` };
};
