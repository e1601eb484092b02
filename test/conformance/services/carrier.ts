import { type CallAtUrls, type CallService, isException } from "outdial";
import { inspect } from "../../runtimes/inspect.ts";
import { type Answer, inAnswers } from "../../stub-server/answer.ts";
import type { Case } from "../case.ts";
import { cases as idempotent } from "../client/idempotent.ts";
import type { Entry } from "../entries.ts";
import { apiKey } from "../fixtures.ts";

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** Whether a value of JSON has fields. */
export const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * A carrier as the test rigs know it. What it documents is written here once more, without `src`, so that the one
 * checks the other.
 */
export interface Carrier {
  /** The name of its service. */
  readonly name: string;
  /** What places calls with it. */
  readonly service: CallService;
  /** The statuses by which it says that it placed no call. After every other refusal one may have been placed. */
  readonly placedNothing: readonly number[];
  /** The path of a POST that places a call. */
  readonly path: string;
  /** The media type of its body. */
  readonly contentType: string;
  /** The parameters of the call in the body of a POST. */
  readonly readCall: (body: string) => CallAtUrls;
  /** Fails unless the credentials of a request, without their scheme, are those of a key. */
  readonly assertToken: (token: string, key: string) => void | Promise<void>;
  /** The id `cs_1` as a field of its answer, in 11 characters as `"id":"cs_1"`. */
  readonly idField: (digit: string) => string;
  /** The header of a request's id. */
  readonly requestIdHeader: string;
  /** A key that it takes, for each key of the cases; others as they are. */
  readonly keyFor: (key: string) => string;
  /** Whether a key is of a kind that the cases don't have, such as a PEM: it never leaves, a token does. */
  readonly hasOwnKeys: boolean;
  /** How an answer repeats `apiKey`; `{token}` becomes the credentials of the request. */
  readonly echoedKey: string;
  /** Whether a text shows a key, or what was sent in its place. */
  readonly showsKey: (text: string) => boolean;
  /** A JSON object of outdial's own interface in the carrier's form. */
  readonly bodyFor: (body: Fields) => Fields;
  /** The cases that do not hold with it, by the reason, besides those that hold with no carrier. */
  readonly unlike: Readonly<Record<string, readonly string[]>>;
  /** The rules of this carrier alone. */
  readonly cases: readonly Case[];
}

/** Cases that hold with no carrier, by the reason. Each carrier has rules of its own in their place. */
export const unlikeCarriers: Readonly<Record<string, readonly string[]>> = {
  "a carrier has its own request, with its credentials": [
    "a call is one POST with the key in its header and the parameters as JSON",
    "baseUrl is taken with and without a slash, a prefix and /api/v1 at its end",
    "fetch is called without this, and the platform's is looked up at each call",
    "onAttempt hears of each POST: where it went, which it was, what came of it",
    "a base URL of slashes takes no longer than another, and one that names the API is understood",
    "headers are read once: what becomes of the object later is not sent",
    "the key has one place: a parameter, a URL or another header that holds it is refused",
  ],
  "a carrier takes its own form of a flow, and a call without notifications": [
    "a flow in the request is the action as JSON in the place of flow_url",
    "a service that doesn't know the field refuses with 422: no call was placed, and the error says why",
    "without service status_callback_url is required, also with a flow in the request",
  ],
  "a carrier keeps no Idempotency-Key": idempotent.map(({ name }) => name),
  "a carrier has its own answers": [
    "the result is the call under data, or the call bare, with every field that the service sent",
    "the service's own constants are passed on: reason and type",
    "field errors are understood in both forms",
    "an answer past 1 MiB is refused unread; just below it is read",
    "what comes is counted, whatever length the head gives",
  ],
  "the answers of a case are translated whole, so an endless one never is": [
    "an endless body of empty chunks ends",
  ],
  "a carrier has one path": [
    "a wrong path is refused by its name before any request, by create and by Client",
    "when the first path is absent (404, 405, 410) the second one is tried, once",
    "a pinned path is the only one that is tried",
    "a client remembers which path answered; create on its own does not",
    "a remembered path that has gone is left for the other one",
  ],
  "a carrier has a baseUrl and other words for its options": [
    "the first mistakes are reported with what to do about them, and without a value",
    "a wrong baseUrl is refused by its name before any request, by create and by Client",
    "options that are absent, or that throw when read, are refused",
    "options of a call win over the client's, for that call",
  ],
  "the key is not in X-API-Key, and a 401 asks for another one too": [
    "the key may come from a function, at once or later, asked once a call",
    "after a 403 the function is asked again, and another key is tried once",
    "only a 403 asks again",
  ],
};

const exemptions = ({ unlike }: Carrier) => [
  ...Object.entries(unlikeCarriers),
  ...Object.entries(unlike),
];

/** Why a case does not hold with a carrier; `undefined` if it does. */
export const exemptionOf = (carrier: Carrier, name: string): string | undefined =>
  exemptions(carrier).find(([, names]) => names.includes(name))?.[0];

/** The names of all cases that do not hold with a carrier. */
export const exemptedNames = (carrier: Carrier): readonly string[] =>
  exemptions(carrier).flatMap(([, names]) => names);

/** A body of outdial's own interface as the carrier sends it; what is no JSON object stays as it is. */
export const bodyWith = ({ bodyFor }: Carrier, text: string): string => {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  return isRecord(body) ? JSON.stringify(bodyFor(body)) : text;
};

/** A text of an answer as the carrier sends it. */
const reported = ({ echoedKey }: Carrier, text: string): string =>
  text.replaceAll(apiKey, echoedKey);

const headersWith = (
  carrier: Carrier,
  headers: Readonly<Record<string, string>> = {},
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      /^(x-)?request-id$/i.test(name) ? carrier.requestIdHeader : name,
      reported(carrier, value),
    ]),
  );

const answerWith = (carrier: Carrier, { json, body, headers, ...answer }: Answer): Answer => {
  const text = json === undefined ? body : JSON.stringify(json);
  return {
    ...answer,
    headers: headersWith(carrier, headers),
    ...(text !== undefined && { body: reported(carrier, bodyWith(carrier, text)) }),
  };
};

/** The credentials in the headers of a request, without their scheme. */
export const tokenIn = (headers: RequestInit["headers"]): string =>
  new Headers(headers).get("authorization")?.split(" ").at(-1) ?? "";

/** A response in the carrier's form, once its body has come: one that stalls or breaks does so still. */
const responseWith = (carrier: Carrier, response: Response, token: string): Response => {
  if (!(response instanceof Response) || !response.body || response.redirected) return response;
  let text = "";
  const decoder = new TextDecoder();
  const inPlace = (value: string) => value.replaceAll("{token}", token);
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk) => {
        text += decoder.decode(chunk, { stream: true });
      },
      flush: (controller) =>
        controller.enqueue(
          new TextEncoder().encode(inPlace(reported(carrier, bodyWith(carrier, text)))),
        ),
    }),
  );
  const { status, url } = response;
  const headers = Object.entries(headersWith(carrier, Object.fromEntries(response.headers)));
  const translated = new Response(body, {
    status,
    headers: headers.map(([name, value]): [string, string] => [name, inPlace(value)]),
  });
  // The Edge VM shows by the URL alone that a redirect was followed.
  return Object.defineProperty(translated, "url", { value: url });
};

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

const fetchWith =
  (carrier: Carrier, fetch: Fetch): Fetch =>
  async (url, init) =>
    responseWith(carrier, await fetch(url, init), tokenIn(init.headers));

/** The option `apiKey` with keys that the carrier takes. */
const keyWith = ({ keyFor }: Carrier, key: unknown): unknown => {
  const mapped = (given: unknown) => (typeof given === "string" ? keyFor(given) : given);
  if (typeof key !== "function") return mapped(key);
  return () => {
    const given: unknown = key();
    return given instanceof Promise ? given.then(mapped) : mapped(given);
  };
};

/** The options of a case for the carrier: its answers in the carrier's form, its keys, and no path. */
const optionsWith = (carrier: Carrier, given: unknown): unknown => {
  if (typeof given !== "object" || given === null) return given;
  const { path: _, baseUrl, fetch, apiKey, ...options }: Fields = { ...given };
  return {
    service: carrier.service,
    ...options,
    ...("apiKey" in given && { apiKey: keyWith(carrier, apiKey) }),
    ...(baseUrl !== undefined && {
      baseUrl:
        typeof baseUrl === "string"
          ? inAnswers(baseUrl, (answer) => answerWith(carrier, answer))
          : baseUrl,
    }),
    ...(fetch !== undefined && {
      fetch: typeof fetch === "function" ? fetchWith(carrier, fetch as Fetch) : fetch,
    }),
  };
};

/** Fails where what a call gave its caller shows the key. */
const checked = async <T>(carrier: Carrier, call: Promise<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    const shown = isException(error) ? `${inspect(error)}${JSON.stringify(error)}` : "";
    if (carrier.showsKey(shown)) throw new Error(`the exception shows the key of ${carrier.name}`);
    throw error;
  }
};

/** An entry of the package with a carrier, for cases that give the answers of outdial's own interface. */
export const entryWith = (carrier: Carrier, { entry, calls, Client }: Entry): Entry => ({
  entry: `${entry} with ${carrier.name}`,
  refuses: (status) => carrier.placedNothing.includes(status),
  calls: {
    create: (params, options) =>
      checked(carrier, calls.create(params, optionsWith(carrier, options) as typeof options)),
  },
  Client: class extends Client {
    constructor(...[apiKey, options]: ConstructorParameters<typeof Client>) {
      super(
        keyWith(carrier, apiKey) as typeof apiKey,
        optionsWith(carrier, options) as typeof options,
      );
    }
  } as Entry["Client"],
});
