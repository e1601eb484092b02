/** Lets a page on another origin call the service and read how long it should wait. */
const cors = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers": "Retry-After",
};

/** One complaint about one field. */
export interface Complaint {
  readonly loc: readonly string[];
  readonly msg: string;
  readonly type: string;
}

/** An answer of the API in JSON. */
export const answer = (
  status: number,
  body: unknown,
  headers?: Readonly<Record<string, string>>,
): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...cors, ...headers },
  });

/** A refusal, with its reason as a text or field by field. */
export const refuse = (
  status: number,
  detail: string | readonly Complaint[],
  headers?: Readonly<Record<string, string>>,
): Response => answer(status, { detail }, headers);

/** The answer to a browser that asks whether a page may make the call. */
export const preflight = (): Response =>
  new Response(null, {
    status: 204,
    headers: {
      ...cors,
      "Access-Control-Allow-Methods": "POST",
      "Access-Control-Allow-Headers": "X-API-Key, Content-Type",
      "Access-Control-Max-Age": "600",
    },
  });
