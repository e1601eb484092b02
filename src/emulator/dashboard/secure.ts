const everywhere = {
  "Cache-Control": "no-store",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  Server: "outdial-emulator",
  "X-Content-Type-Options": "nosniff",
};

/** A page may do nothing but what its own text says: no other script, style, frame or origin. */
const policyOf = (nonce: string): string =>
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

/** A page, made with the nonce that its script and its style must have. */
export const html = (
  status: number,
  page: (nonce: string) => string,
  headers?: Readonly<Record<string, string>>,
): Response => {
  const nonce = crypto.randomUUID();
  return new Response(page(nonce), {
    status,
    headers: {
      ...everywhere,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policyOf(nonce),
      ...headers,
    },
  });
};

/** An answer to the page's script. Unlike those of the API, no other origin may read it. */
export const json = (status: number, body: unknown): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { ...everywhere, "Content-Type": "application/json" },
  });

/** A refusal, with its reason. */
export const refuse = (status: number, detail: string): Response =>
  json(status, { detail, message: detail });

/** What happens, as it happens. */
export const eventStream = (body: ReadableStream<Uint8Array>): Response =>
  new Response(body, { headers: { ...everywhere, "Content-Type": "text/event-stream" } });
