/** Allows only what is in the page itself: no other script, style, frame or origin. */
const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src data:",
    "media-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ].join("; ");

type Headers = Readonly<Record<string, string>>;

/** The responses of a page and to its script. Other origins can't read them, and nobody keeps them. */
export interface PageResponses {
  /** What every response has. */
  readonly headers: Headers;
  /** @param render - makes the page, with the nonce for its script and its style */
  readonly html: (status: number, render: (nonce: string) => string, headers?: Headers) => Response;
  readonly json: (status: number, body: unknown) => Response;
  readonly refusal: (status: number, detail: string) => Response;
  readonly eventStream: (body: ReadableStream<Uint8Array>) => Response;
}

/** @param server - the name of the server */
export const pageResponses = (server: string): PageResponses => {
  const headers = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    Server: server,
    "X-Content-Type-Options": "nosniff",
  };
  const json = (status: number, body: unknown): Response =>
    new Response(JSON.stringify(body), {
      status,
      headers: { ...headers, "Content-Type": "application/json" },
    });
  return {
    headers,
    html: (status, render, more) => {
      const nonce = crypto.randomUUID();
      return new Response(render(nonce), {
        status,
        headers: {
          ...headers,
          "Content-Type": "text/html; charset=utf-8",
          "Content-Security-Policy": contentSecurityPolicy(nonce),
          ...more,
        },
      });
    },
    json,
    refusal: (status, detail) => json(status, { detail, message: detail }),
    eventStream: (body) =>
      new Response(body, { headers: { ...headers, "Content-Type": "text/event-stream" } }),
  };
};

/**
 * Whether a request changes nothing, or comes from a page of its own origin. To a browser another port of this machine is the
 * same site, so the cookie is not enough.
 */
export const isOwnPage = ({ method, url, headers }: Request): boolean =>
  method === "GET" || headers.get("Origin") === new URL(url).origin;
