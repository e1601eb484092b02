import type { CallsClient } from "../client.ts";
import { type Effect, ServiceException, TimeoutException, withoutPlaced } from "../errors.ts";
import { type RequireOpen, withDeadline } from "../http/deadline.ts";
import type { EncodedCall } from "../http/post.ts";
import { type Fetch, straight } from "../http/post.ts";
import { headOf, readText } from "../http/response.ts";
import { fail, fieldsOf, isRecord, isText, withoutThrowing } from "../lib/check.ts";
import type { CallService, CarrierClient } from "../options.ts";
import {
  type CallOptions,
  isKeptClient,
  type ServiceUrl,
  type Settings,
  settingsOfEither,
} from "../options.ts";
import type { CarrierLive, LiveRequest, Service } from "../service.ts";
import { attempts, encodeCall, type PlacingSettings, type Progress } from "./create.ts";
import { ownLive } from "./outdial-interface.ts";
import type { CallParams } from "./params.ts";

/** Where a call is live: with a whole carrier, or at a service with outdial's own interface. */
export type LiveEndpoint =
  | ((ServiceUrl | { readonly baseUrl?: undefined }) & {
      /** The whole carrier: `twilio({ … })`. `twilioCalls({ … })` and its like are refused. */
      readonly service: Service;
      /** A carrier has a path of its own. */
      readonly path?: undefined;
    })
  | (ServiceUrl & {
      /** None: the service speaks outdial's own interface. */
      readonly service?: undefined;
      /**
       * As in the options of `create`.
       *
       * @defaultValue `"auto"`: `voice/calls`, and `calls` where that is absent
       */
      readonly path?: "auto" | "calls" | "voice/calls" | undefined;
    });

/**
 * The options of `get`, `end` and `redirect`: those of `create`, with the whole service. `notAfter`, `idempotent` and
 * `idempotencyKey` mean nothing there, and `onAttempt` gets attempts without `placed`.
 */
export type LiveOptions = CallOptions & LiveEndpoint;

/** The options of a function about a live call, or a client, whose key and options it uses. */
export type OptionsOrClient<Given = LiveOptions> = Given | CallsClient;

/** Whether a value is a client, and not options. */
export const isClient = (given: unknown): given is CallsClient => isKeptClient(given);

/** How a request is sent, and how the response to it is read. */
interface Reading<T> {
  /** Sends the request; by `fetch` where it is absent. */
  readonly send?: (fetch: Fetch, init: RequestInit) => Promise<Response>;
  /** The result, out of a 2xx, whose body may be read as JSON; `undefined` if it is not valid. */
  readonly read: (response: Response, json: () => Promise<unknown>) => Promise<T | undefined>;
  /** What a 2xx lacks whose `read` returns `undefined`, as the end of a sentence. */
  readonly lacks: string;
}

/** What a function about a live call works with, within its deadline. */
export interface Live {
  readonly service: CarrierLive;
  readonly settings: Settings;
  /** Has the secrets that no exception may contain. */
  readonly progress: Progress;
  /** Throws once the deadline has passed: called before anything is sent. */
  readonly requireOpen: RequireOpen;
  /** Sends a request, and sends it again only as `create` does. */
  readonly ask: <T>(request: LiveRequest, reading: Reading<T>) => Promise<T>;
}

/** What a function about a live call does. */
export interface Work<T> {
  /** What its request does to the call, for the messages of exceptions; absent if it changes nothing. */
  readonly effect?: Effect;
  /** The texts that are sent, in which the key must not be. */
  readonly texts: readonly string[];
  /** The telephone numbers that are known of the call. */
  readonly numbers?: readonly string[];
  readonly run: (live: Live) => Promise<T>;
}

/** A call that is encoded for its credentials, and never sent. */
const unsent: CallParams = {
  from_number: "+12025550100",
  to_number: "+12025550100",
  flow_url: "https://outdial.invalid/",
  status_callback_url: "https://outdial.invalid/",
};

type ReadHead = NonNullable<EncodedCall["headOf"]>;

const isWhole = (service: CallService): service is Service => "live" in service;

/** @throws {BadParametersException} for a service that only places calls */
const liveOf = ({ service, path }: Settings): CarrierLive => {
  if (!service) return ownLive(path);
  if (isWhole(service)) return service.live;
  const { name } = service;
  return fail("service", `must be the whole ${name}(…): ${name}Calls(…) only places calls`);
};

/** @throws {BadParametersException} for what no path can hold, or what would be a path of its own */
export const checkId = (id: unknown): string =>
  isText(id) && /^(?!\.\.?$)[!-~]{1,255}$/.test(id)
    ? id
    : fail("id", "must be the id of a call: printable, without spaces");

/** What `json` of a reading returns for a body of no byte. */
const empty: unique symbol = Symbol();

/** The statuses of an answer that may be empty: "accepted" and "no content". */
const emptyStatuses: readonly number[] = [202, 204];

/**
 * Reads what a service says after it has done something: an object. A proxy or a gateway that answers in its place
 * sends something else.
 */
export const done: Reading<true> = {
  read: async ({ status }, json) => {
    const said = await json();
    return isRecord(said) || (said === empty && emptyStatuses.includes(status)) || undefined;
  },
  lacks: "the service's answer, a JSON object: what has answered may be a proxy",
};

/** What `attempts` takes for a success: the id of a call. */
const success = '{"id":"-"}';

/** The JSON of a body; `undefined` for one that is none, or too long. */
const readJson = async (...[head, signal]: Parameters<typeof readText>): Promise<unknown> => {
  const text = await readText(head, signal, "too long");
  return text ? withoutThrowing(() => JSON.parse(text)) : empty;
};

/** A request that `attempts` sends in the place of a call. */
interface Sending<T> {
  readonly settings: PlacingSettings;
  /** The result of the latest 2xx; `undefined` if it was not valid. */
  readonly result: () => T | undefined;
}

/** Sends a request by the rules of `create`: to `attempts` it is a call with a carrier. */
const sendingOf = <T>(
  request: LiveRequest,
  { send, read }: Reading<T>,
  settings: Settings,
): Sending<T> => {
  const { method, url, type, body } = request;
  const { fetch: own, onAttempt, service } = settings;
  const encode = service?.client.encodeCall ?? encodeCall;
  let result: T | undefined;

  const readerOf =
    (theirs: ReadHead): ReadHead =>
    (response, _, signal) => {
      // What `send` returns is the answer to what it asked, wherever that led.
      const from = (send && withoutThrowing(() => new URL(response.url).href)) ?? url;
      const refusal = theirs(response, from, signal);
      const head = headOf(response, from);
      if (!head.ok) return refusal;
      const text = async () => {
        result = await read(response, () => readJson(head, signal));
        return success;
      };
      return { ...refusal, source: { text } };
    };

  const encodeRequest: CarrierClient["encodeCall"] = async (params, baseUrl, key) => {
    const { headers, headOf: theirs = headOf, ...forms } = await encode(params, baseUrl, key);
    const { "Content-Type": _, ...credentials } = headers;
    return {
      ...forms,
      url,
      headers: { ...credentials, ...(type !== undefined && { "Content-Type": type }) },
      body: body ?? "",
      headOf: readerOf(theirs),
    };
  };

  return {
    settings: {
      ...settings,
      path: undefined,
      // "Not after" is about telephones that ring.
      notAfter: undefined,
      beforeSend: undefined,
      fetch: (_, { body: given, ...others }) => {
        const init = { ...others, method, ...(body !== undefined && { body: given }) };
        const fetch = own ?? globalThis.fetch;
        return send ? send(fetch, init) : fetch(url, init);
      },
      onAttempt: onAttempt && (({ placed, ...attempt }) => onAttempt({ ...attempt, method })),
      service: { client: { ...service?.client, encodeCall: encodeRequest } },
    },
    result: () => result,
  };
};

/** The statuses of a route that is absent. */
const absent: readonly unknown[] = [404, 405, 410];

/** A function about a live call, whose options and parameters are checked. */
export interface Prepared<T> {
  readonly settings: Settings;
  readonly service: CarrierLive;
  readonly work: Work<T>;
}

/**
 * Checks the options and the parameters of a function about a live call.
 *
 * @param options - unchecked, or a client
 * @param prepare - checks the parameters
 * @throws {BadParametersException} without `placed`
 */
export const prepareLive = <T>(
  options: object,
  prepare: (settings: Settings) => Work<T>,
): Prepared<T> =>
  withoutPlacing(() => {
    const settings = settingsOfEither(options);
    return { settings, service: liveOf(settings), work: prepare(settings) };
  });

/**
 * Runs a function about a live call under the rules of `create`: its options, key, deadline, redaction and repetition.
 *
 * @throws exceptions without `placed`
 */
export const runPrepared = async <T>({ settings, service, work }: Prepared<T>): Promise<T> => {
  const { effect, texts, numbers = [], run } = work;
  const { timeout, signal: caller } = settings;
  const progress: Progress = { facts: { placed: "no" }, posts: 0, secrets: [], pieces: [] };
  const late = () =>
    withoutPlaced(new TimeoutException(`No answer within ${timeout} ms`, progress.facts), effect);
  return withDeadline(timeout, caller, late, async (signal, requireOpen, ends) => {
    const send = async <R>(request: LiveRequest, reading: Reading<R>): Promise<R> => {
      const { settings: own, result } = sendingOf(request, reading, settings);
      const json = JSON.stringify([request.url, ...texts]);
      const shared = { progress, send: straight, signal, requireOpen, ends };
      await attempts({ settings: own, params: unsent, numbers, json, ...shared }, {});
      const answer = result();
      if (answer !== undefined) return answer;
      throw new ServiceException(
        `HTTP ${progress.facts.code} without ${reading.lacks}`,
        progress.facts,
      );
    };
    const ask: Live["ask"] = (request, reading) =>
      send(request, reading).catch((error: unknown) => {
        const { otherUrl, ...others } = request;
        if (!otherUrl || !absent.includes(fieldsOf(error).code)) throw error;
        return send({ ...others, url: otherUrl }, reading);
      });
    return run({ service, settings, progress, requireOpen, ask }).catch((error: unknown) => {
      throw withoutPlaced(error, effect);
    });
  });
};

/**
 * Checks and runs a function about a live call.
 *
 * @param options - unchecked, or a client
 * @param prepare - checks the parameters
 * @throws exceptions without `placed`
 */
export const runLive = async <T>(
  options: object,
  prepare: (settings: Settings) => Work<T>,
): Promise<T> => runPrepared(prepareLive(options, prepare));

/** Runs a check, whose exception has no `placed`. */
export const withoutPlacing = <T>(work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw withoutPlaced(error);
  }
};
