/** How the emulator reaches an application, wherever its URLs lead. */
export interface Outward {
  readonly fetch: (request: Request, init: { readonly signal: AbortSignal }) => Promise<Response>;
  readonly WebSocket: new (url: string) => WebSocket;
}

/** The emulator's own part of an application, which is never elsewhere. */
const sample = /^\/sample\//;

/**
 * Sends flow and status to an application on this machine, whatever the origin of their URLs: so they
 * may be the public ones, and nothing has to lead from there to here. What the application names of
 * its own, such as media, goes there too. Path and query stay, so that signatures hold.
 *
 * @param to - the application's origin
 * @param isOwn - whether an origin is the emulator's
 */
export const forwarding = (to: string, isOwn: (origin: string) => boolean): Outward => {
  const origins = new Set<string>();
  const isForwarded = ({ origin, pathname }: URL, method: string): boolean =>
    (method === "POST" || origins.has(origin)) && !(isOwn(origin) && sample.test(pathname));
  const there = ({ pathname, search }: URL): string => `${to}${pathname}${search}`;

  const fetch: Outward["fetch"] = async (request, init) => {
    const { method, headers, redirect } = request;
    const url = new URL(request.url);
    if (!isForwarded(url, method)) return globalThis.fetch(request, init);
    origins.add(url.origin);
    const sent = new Headers(headers);
    sent.set("X-Forwarded-Host", url.host);
    sent.set("X-Forwarded-Proto", url.protocol.slice(0, -1));
    const body = method === "POST" ? await request.text() : null;
    return globalThis.fetch(there(url), { ...init, method, headers: sent, body, redirect });
  };

  const socketUrl = (address: string): string => {
    const url = new URL(address.replace(/^ws/, "http"));
    return isForwarded(url, "GET") ? there(url).replace(/^http/, "ws") : address;
  };
  const { WebSocket } = globalThis;
  const Forwarded = class extends WebSocket {
    constructor(url: string) {
      super(socketUrl(url));
    }
  };
  return { fetch, WebSocket: Forwarded };
};
