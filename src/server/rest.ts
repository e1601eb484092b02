import type { Account } from "./account.ts";
import { type AcceptedResponse, type ApiParts, type RequestExtras, receiveBody } from "./api.ts";
import { isAllowed } from "./outgoing.ts";

/** Why a request is refused, in the form of a carrier. */
export abstract class RestError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  /** Why, in one text. */
  get reason(): string {
    return this.message;
  }

  /**
   * The body of the response.
   *
   * @param requestId - names the request
   */
  abstract body(requestId: string): object;
}

/** Whether a URL may be requested. */
export type IsAllowed = (url: string) => boolean;

/** A request that is signed in. */
export interface Asked {
  readonly request: Request;
  readonly extras: RequestExtras;
  readonly url: URL;
  /** The body, as text. */
  readonly text: string;
  readonly isUrl: IsAllowed;
}

/** @throws {RestError} when the request is refused */
export type Route<Parts> = (asked: Asked, parts: Parts) => Promise<Response>;

/** The headers of a response. */
type Headers = Readonly<Record<string, string>>;

/** How one carrier's API differs from the others. */
export interface RestApi {
  /** The type of its responses. */
  readonly contentType: string;
  /** @throws {RestError} when the request has no valid credentials */
  readonly signIn: (request: Request) => void | Promise<void>;
  /** The refusal of a body that is too long, or comes too late. */
  readonly incomplete: () => RestError;
  /** The scheme that a refusal of the credentials names. */
  readonly scheme: string;
  /** The header that names a request, if there is one. */
  readonly idHeader?: string;
  /** The URL whose host is checked before it is requested; the same by default. */
  readonly bareUrl?: (url: string) => string;
  /** The most characters of a URL; those of outdial's own interface by default. */
  readonly maxUrl?: number;
}

/** A response with JSON. */
export type RespondJson = (status: number, body: object, headers?: Headers) => Response;

/** @param contentType - the type of its responses */
export const jsonResponder =
  (contentType: string): RespondJson =>
  (status, body, headers) =>
    new Response(JSON.stringify(body), {
      status,
      headers: { "Content-Type": contentType, ...headers },
    });

const retryAfter = { "Retry-After": "1" };

/** The headers of a refusal. */
const refusalHeaders = (status: number, { scheme }: RestApi): Headers => {
  if (status === 401) return { "WWW-Authenticate": scheme };
  return status === 429 || status === 503 ? retryAfter : {};
};

/** Answers requests that are signed in: every failure is an answer in the carrier's form. */
export const restServer = <Parts extends ApiParts>(
  api: RestApi,
  parts: Parts,
): ((request: Request, extras: RequestExtras, route: Route<Parts>) => Promise<Response>) => {
  const { signIn, incomplete, idHeader, bareUrl = (given) => given, maxUrl } = api;
  const respond = jsonResponder(api.contentType);
  return async (request, extras, route) => {
    const url = new URL(request.url);
    const requestId = crypto.randomUUID();
    const idHeaders: Headers = idHeader === undefined ? {} : { [idHeader]: requestId };
    try {
      await signIn(request);
      const received = await receiveBody(request, extras, parts.responseTimeout);
      // The key may have been regenerated meanwhile.
      await signIn(request);
      if (!received?.isWhole) throw incomplete();
      const text = new TextDecoder().decode(received.bytes);
      const reach = parts.reachOf(request.url);
      const isUrl = (given: string) => isAllowed(bareUrl(given), reach, maxUrl);
      const response = await route({ request, extras, url, text, isUrl }, parts);
      for (const [name, value] of Object.entries(idHeaders)) response.headers.set(name, value);
      return response;
    } catch (error) {
      if (!(error instanceof RestError)) throw error;
      const { status, reason } = error;
      parts.onRefused({ method: request.method, path: url.pathname, status, detail: reason });
      return respond(status, error.body(requestId), {
        ...refusalHeaders(status, api),
        ...idHeaders,
      });
    }
  };
};

/** A route by the method of the request. */
export const byMethod =
  <Parts>(
    routes: Readonly<Record<string, Route<Parts>>>,
    notAllowed: (method: string) => RestError,
  ): Route<Parts> =>
  async (asked, parts) => {
    const { method } = asked.request;
    const route = Object.hasOwn(routes, method) ? routes[method] : undefined;
    if (!route) throw notAllowed(method);
    return route(asked, parts);
  };

/** The beginning of a path; what looks like a number of a telephone is left out. */
export const shownPath = (path: string): string =>
  path.slice(0, 120).replace(/\/(\+|%2B)?\d{7,15}(?=\.json$|\/|$)/gi, "/…");

/** Why there is nothing at a path: a carrier may have it. */
export const notEmulatedAt = (path: string): string => `${shownPath(path)} is not emulated`;

/** A call whose fields are valid. */
interface ValidCall {
  /** E.164, or a SIP address. */
  readonly to: string;
  /** E.164. */
  readonly from: string;
}

/** What a carrier answers to a request for a call. */
interface CallAnswers {
  /** The refusal of a number that isn't the account's. */
  readonly notOwned: () => RestError;
  /** The refusal of an outage. */
  readonly outage: (status: number, detail: string) => RestError;
  /** Starts the call. */
  readonly start: () => AcceptedResponse;
}

/**
 * Starts a call whose fields are valid, unless the account or the scenario refuses it.
 *
 * @throws {RestError} when it is refused
 */
export const placeCall = async (
  { to, from }: ValidCall,
  { extras }: Asked,
  { account, receive }: ApiParts & { readonly account: Account },
  { notOwned, outage: refusal, start }: CallAnswers,
): Promise<Response> => {
  if (!account.owns(from)) throw notOwned();
  const { outage, isLost, send } = receive({ from_number: from, to_number: to });
  if (outage) throw refusal(outage.status, outage.detail);
  // A request that is lost has no response that anybody reads.
  const nothing: AcceptedResponse = { status: 503, headers: {}, text: "" };
  return send(isLost ? nothing : start(), extras.signal);
};
