/** On every answer. No other origin may read it, and nothing keeps it. */
const everywhere = {
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
): Response => new Response(body, { headers: { ...everywhere, "Content-Type": type, ...headers } });

export const json = (status: number, body: unknown, headers: Headers = {}): Response =>
  Response.json(body, { status, headers: { ...everywhere, ...headers } });

/** A refusal, with a word for its reason. */
export const refuse = (status: number, error: string, headers: Headers = {}): Response =>
  json(status, { error }, headers);
