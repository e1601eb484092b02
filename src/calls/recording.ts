import { ServiceException } from "../errors.ts";
import type { Fetch } from "../http/post.ts";
import { holdsKey, redactor } from "../http/redact.ts";
import { fail, fieldsOf, isText, kindOf, withoutThrowing } from "../lib/check.ts";
import { routeOfUrl } from "../lib/url.ts";
import type { Settings } from "../options.ts";
import type { CarrierLive } from "../service.ts";
import {
  checkId,
  isClient,
  type Live,
  type LiveOptions,
  type OptionsOrClient,
  runLive,
} from "./live.ts";
import { watchedBody } from "./watched-body.ts";

/** The options of `recording`. */
export type RecordingOptions = LiveOptions & {
  /**
   * Further https hosts that may be fetched, such as that of your own storage: `"recordings.example"`, or
   * `".storage.example"` for every host below it. They get no credentials.
   *
   * @defaultValue none: only `baseUrl`'s origin, and the carrier's own hosts and storage
   */
  readonly hosts?: readonly string[] | undefined;
  /**
   * With the id of a call: which of its recordings, by the `recording_id` of its notification. Twilio and Telnyx list ids.
   *
   * @defaultValue the latest
   */
  readonly recordingId?: string | undefined;
};

/** The most redirects. */
const mostRedirects = 3;

/** A host, or with a leading dot every host below it. No port: it is the one of https. */
const hostRule = /^\.?([a-z\d]([a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]*[a-z\d]$/;

const isHosts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((host) => isText(host) && hostRule.test(host));

/** With a port that is not the one of https, `host` has it, and equals none. */
const isAmong = ({ host, pathname }: URL, places: readonly string[]): boolean =>
  places.some((place) => {
    if (place.startsWith(".")) return host.endsWith(place);
    return place.includes("/") ? (host + pathname).startsWith(place) : host === place;
  });

/** What may be sent to a URL; `undefined`: it is not fetched. */
type Access = "credentials" | "nothing" | undefined;

type Grant = (url: URL) => Access;

const granting =
  ({ baseUrl }: Settings, service: CarrierLive, hosts: readonly string[]): Grant =>
  (url) => {
    if (!routeOfUrl(url)) return;
    if (url.origin === new URL(baseUrl).origin) return "credentials";
    if (url.protocol !== "https:") return;
    if (isAmong(url, service.credentialHosts)) return "credentials";
    return isAmong(url, [...service.storageHosts, ...hosts]) ? "nothing" : undefined;
  };

/**
 * The headers for a URL. Those of the caller may be credentials of `baseUrl`'s gateway: nobody else gets them, but for
 * the `User-Agent`.
 */
const headersFor = (
  url: URL,
  access: Access,
  given: RequestInit["headers"],
  { baseUrl, headers: own }: Settings,
): Readonly<Record<string, string>> => {
  const all = Object.entries(fieldsOf(given)).filter((header): header is [string, string] =>
    isText(header[1]),
  );
  const isHome = url.origin === new URL(baseUrl).origin;
  const isSent = (name: string): boolean => {
    if (/^user-agent$/i.test(name)) return true;
    return access === "credentials" && (isHome || !Object.hasOwn(own, name));
  };
  return Object.fromEntries(all.filter(([name]) => isSent(name)));
};

/** The query of a URL, its parameters, and those of their values that may be a secret, such as a signature. */
const secretsIn = ({ search, searchParams }: URL): readonly string[] => [
  ...(search ? [search] : []),
  ...search
    .slice(1)
    .split("&")
    .filter((pair) => pair.includes("=")),
  ...[...searchParams.values()].filter(({ length }) => length >= 8),
];

/** Ends a body that nobody will read. */
const drop = (response: Response): void => {
  (async () => response.body?.cancel())().catch(() => {});
};

const isRedirect = (status: number): boolean => [301, 302, 303, 307, 308].includes(status);

/** Sends a GET to a URL and where it leads. */
interface Following {
  readonly grant: Grant;
  readonly live: Live;
  /** The secrets in the URLs so far: of the secrets that are known, the others are forms of the key. */
  readonly inUrls: string[];
  /** Called with what is wrong with a redirect, which then is the response. */
  readonly refuse: (why: string) => void;
}

/** Fetches a recording with the credentials of `init`, which are dropped for good at the first other origin. */
const followed = async (
  first: URL,
  fetch: Fetch,
  init: RequestInit,
  { grant, live, inUrls, refuse }: Following,
): Promise<Response> => {
  const keys = live.progress.secrets.filter((secret) => !inUrls.includes(secret));
  let url = first;
  let access = grant(first);
  for (let redirects = 0; ; redirects++) {
    const headers = headersFor(url, access, init.headers, live.settings);
    live.requireOpen();
    const response = await fetch(url.href, { ...init, headers });
    try {
      live.requireOpen();
    } catch (error) {
      drop(response); // It came too late, from a `fetch` that ignores its signal.
      throw error;
    }
    const { status } = response;
    const location = isRedirect(status) && response.headers.get("location");
    if (!location) return response;
    const from = url;
    const next = withoutThrowing(() => new URL(location, from));
    if (!next || !grant(next) || redirects === mostRedirects) {
      refuse(
        redirects === mostRedirects
          ? `is one redirect too many: at most ${mostRedirects} are followed`
          : "leads to a host that is neither the service's nor in hosts",
      );
      return response;
    }
    if (keys.some((key) => holdsKey(key, next.href))) {
      refuse("leads to a URL that has the key in it");
      return response;
    }
    const secrets = secretsIn(next);
    inUrls.push(...secrets);
    live.progress.secrets.push(...secrets);
    drop(response);
    if (next.origin !== from.origin) access = "nothing";
    url = next;
  }
};

/** The response for the caller: its body is watched, and it has no URL, whose query may be a secret. */
const watched = (response: Response, { settings, progress }: Live): Response => {
  const { status, headers } = response;
  const kept = new Headers(headers);
  // The platform has decoded the body.
  if (kept.has("content-encoding")) kept.delete("content-length");
  kept.delete("content-encoding");
  kept.delete("set-cookie");
  const redaction = () => redactor(progress.secrets, [], progress.pieces);
  const body = response.body && watchedBody(response.body, { signal: settings.signal, redaction });
  return new Response(body, { status, headers: kept });
};

/** An id of a call, and no URL: every service's has these characters. */
const idLike = /^(?!https?:)[\w:.~-]+$/;

/** The options that `create` has not, and the others. A getter of the caller's may throw. */
const ownOf = (
  options: OptionsOrClient<RecordingOptions>,
): Pick<RecordingOptions, "hosts" | "recordingId"> & { readonly others: object } => {
  if (isClient(options)) return { others: options };
  return (
    withoutThrowing(() => {
      const { hosts, recordingId, ...others } = { ...options };
      return { hosts, recordingId, others };
    }) ?? { others: {} }
  );
};

/**
 * The URL of a call's recording, as the service lists it: the latest.
 *
 * @throws {BadParametersException} where the service lists none
 * @throws {ServiceException} where the call has none, or none yet
 */
const findRecording = (
  { service, settings, ask }: Live,
  id: string,
  wanted: string | undefined,
): Promise<string> => {
  const { recordings } = service;
  if (!recordings) {
    return fail(
      "id",
      "must be the recording_url of a notification: this service lists no recordings",
    );
  }
  return ask(recordings.list(id, settings.baseUrl), {
    read: async (_, json) => {
      const body = fieldsOf(await json());
      return withoutThrowing(() => recordings.urlIn(body, settings.baseUrl, id, wanted));
    },
    lacks: wanted
      ? "the recording of this call with that recordingId"
      : "a recording of this call: it has none, or none yet",
  });
};

/** @throws {BadParametersException} for what is no URL that can be fetched */
const checkUrl = (given: unknown): URL => {
  if (!isText(given)) return fail("url", `must be a string, not ${kindOf(given)}`);
  const url = withoutThrowing(() => new URL(given));
  return url && routeOfUrl(url)
    ? url
    : fail("url", "must be an absolute https URL, without user and password");
};

/**
 * Fetches a recording, with the service's credentials where they belong: at `baseUrl`'s origin, and at the carrier's own
 * hosts. It may be repeated. Other hosts are refused before anything is sent, unless `hosts` names them. At most three
 * redirects are followed, each by the same rule and to no URL that has the key in it, and the credentials are dropped at the first other origin.
 *
 * @param urlOrId - the `recording_url` of a notification; or the id of a call, whose latest recording is found where the service
 * lists it: on outdial's own interface, Twilio and Telnyx
 * @param options - a client, or options as `create` takes them, with the whole service: `twilio({ … })`, not `twilioCalls({ … })`; `hosts`, and `recordingId`
 * @returns the response, a 2xx, whose body you read. `timeout` holds until its head; then the body errors with a
 * `TimeoutException` after 30 s without a byte
 * @throws {BadParametersException} before any request: a rule is broken, or the URL's host is unknown
 * @throws {ServiceException} any response but a 2xx: 404 while the recording is not ready, or no more
 * @throws {TimeoutException} the deadline passed
 * @throws {NetworkException} the connection failed. None of the exceptions has `placed` or the URL's query
 * @throws the reason of `options.signal`, when that aborts; the body errors with it, too
 *
 * @example Keep a recording
 * ```ts
 * import { recording } from "outdial/calls";
 *
 * const fetch = async () => new Response("RIFF…", { headers: { "Content-Type": "audio/wav" } });
 * const options = { apiKey: "the key", baseUrl: "https://voice.test", fetch };
 * const response = await recording("https://voice.test/recordings/cs_1.wav", options);
 * const bytes = await response.arrayBuffer();
 * console.log(response.headers.get("Content-Type"), bytes.byteLength); // audio/wav 7
 * ```
 * @see docs/errors.md
 */
export const recording = (
  urlOrId: string,
  options: OptionsOrClient<RecordingOptions>,
): Promise<Response> => {
  const { hosts = [], recordingId, others } = ownOf(options);
  return runLive(others, (settings) => {
    if (!isHosts(hosts)) {
      fail("hosts", 'must be a list of host names, such as "recordings.example" or ".example"');
    }
    const id = isText(urlOrId) && idLike.test(urlOrId) ? checkId(urlOrId) : undefined;
    const given = id === undefined ? checkUrl(urlOrId) : undefined;
    if (recordingId !== undefined && !(id && isText(recordingId) && recordingId)) {
      fail("recordingId", "must be the id of a recording, beside the id of its call");
    }
    const run = async (live: Live): Promise<Response> => {
      const first = given ?? checkUrl(await findRecording(live, id ?? "", recordingId));
      const grant = granting(settings, live.service, hosts);
      if (!grant(first)) {
        fail("hosts", "must have the URL's host, as that is not the service's own");
      }
      const inUrls = [...secretsIn(first)];
      live.progress.secrets.push(...inUrls);
      let refused: string | undefined;
      const refuse = (why: string): void => {
        refused = why;
      };
      return live
        .ask(
          { method: "GET", url: first.origin + first.pathname },
          {
            send: (fetch, init) => followed(first, fetch, init, { grant, live, inUrls, refuse }),
            read: async (response) => watched(response, live),
            lacks: "a recording",
          },
        )
        .catch((error: unknown) => {
          if (!refused || !(error instanceof ServiceException)) throw error;
          const { code } = error;
          throw new ServiceException(`HTTP ${code} ${refused}`, { code });
        });
    };
    return { texts: [given?.href ?? urlOrId], run };
  });
};
