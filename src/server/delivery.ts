import type { Delivery, Message, ServedCall } from "./call.ts";
import type { NotificationEntry } from "./history.ts";
import { type Requester, type RequestResult, statusIn } from "./outgoing.ts";

/** How many bytes of a receiver's response are kept. */
const maxResponse = 2_048;

const decoder = new TextDecoder();

/** How an attempt to deliver a notification ended. */
interface Attempt
  extends Pick<NotificationEntry, "ms" | "status" | "error" | "response" | "request"> {
  /** The same for the rule of repetitions; `undefined` for one that was delivered. */
  readonly failure: Delivery | undefined;
}

const resultOf = ({
  ms,
  response,
  body,
  error,
}: RequestResult): Pick<Attempt, "ms" | "status" | "error" | "response"> => {
  if (!response) return { ms, error: error ?? "no answer" };
  const { status, ok, type } = response;
  const redirects = (status >= 300 && status < 400) || type === "opaqueredirect";
  return {
    ms,
    status,
    ...(!ok && { error: redirects ? "redirects, which is refused" : statusIn(response) }),
    ...(body && { response: { body: decoder.decode(body.bytes) } }),
  };
};

/** Sends a notification once. It never throws. */
export const attempt = async (
  { url, method, body, headers: headersOf }: Message,
  call: Pick<ServedCall, "reach" | "warnOfPlain">,
  request: Requester,
  signal: AbortSignal,
): Promise<Attempt> => {
  const headers = await headersOf();
  call.warnOfPlain(url);
  const init = method === "GET" ? { headers } : { method, headers, body };
  const rules = { limit: maxResponse, redirects: "none", reach: call.reach, signal } as const;
  const result = await request(url, init, rules);
  const told = resultOf(result);
  const { error, status } = told;
  const { timedOut } = result;
  return {
    ...told,
    request: { url, ...(method === "GET" && { method }), headers, body },
    failure: error === undefined ? undefined : { error, status, timedOut },
  };
};
