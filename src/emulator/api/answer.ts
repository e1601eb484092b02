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

/** What is wrong, in one sentence for a person. */
const sentence = (complaints: readonly Complaint[]): string =>
  complaints.map(({ loc, msg }) => `${loc.join(".")}: ${msg}`).join("; ");

/**
 * A refusal, with its reason as a text or field by field. It says it twice, as services differ in
 * where they say it.
 */
export const refuse = (
  status: number,
  detail: string | readonly Complaint[],
  headers?: Readonly<Record<string, string>>,
): Response => {
  const message = typeof detail === "string" ? detail : sentence(detail);
  return answer(status, { detail, message }, headers);
};

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
