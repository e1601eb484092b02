/** Headers of every response: no caching, no access for other origins. */
const common = {
  "Cache-Control": "no-store",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

type Headers = Readonly<Record<string, string>>;

export const text = (
  body: string | ReadableStream,
  type: string,
  headers: Headers = {},
): Response => new Response(body, { headers: { ...common, "Content-Type": type, ...headers } });

export const json = (status: number, body: unknown, headers: Headers = {}): Response =>
  Response.json(body, { status, headers: { ...common, ...headers } });

/** An error response. */
export const refuse = (status: number, error: string, headers: Headers = {}): Response =>
  json(status, { error }, headers);
