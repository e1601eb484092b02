import type { LiveCall, LiveState } from "./calls/call.ts";
import type { CarrierMedia } from "./flows/media/carrier-media.ts";
import type { CarrierWebhooks } from "./flows/webhooks.ts";
import type { CallService } from "./options.ts";

/** A request about a call that was placed, as it is sent. Its credentials are added. */
export interface LiveRequest {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PUT";
  /** Where it is sent, without a query. */
  readonly url: string;
  /** Where it is sent next if there is no such route: after 404, 405 and 410. */
  readonly otherUrl?: string;
  /** The media type of its body. */
  readonly type?: string;
  /** Its body; none by default. */
  readonly body?: string;
}

/** A call that is to continue elsewhere. */
export interface RedirectedCall {
  /** The id that `calls.create` gave: the `call_id` of its notifications. */
  readonly id: string;
  /** Who called, in E.164. */
  readonly from_number: string;
  /** Who was called, in E.164. */
  readonly to_number: string;
}

/** A refusal of the service's. */
export interface LiveRefusal {
  /** The HTTP status. */
  readonly code?: number | undefined;
  /** The service's own constant for it. */
  readonly reason?: string | undefined;
}

/** How the recordings of a call are found. */
export interface RecordingList {
  /**
   * The request for the list.
   *
   * @throws {BadParametersException} as `get` of `CarrierLive` does
   */
  readonly list: (id: string, baseUrl: string) => LiveRequest;
  /** The URL of the latest recording of the call in it, or of the one with an id; `undefined` if there is none. */
  readonly urlIn: (
    body: Readonly<Record<string, unknown>>,
    baseUrl: string,
    id: string,
    recordingId?: string,
  ) => string | undefined;
}

/** What an error of a service is about: a request to your server, its document, a step of it, a notification, a stream, a number. */
export type CauseArea = "request" | "document" | "step" | "notification" | "stream" | "number";

/** One cause as a service lists it: its text is not yet fit to be shown. */
export interface ListedCause {
  /** The service's own code for it. */
  readonly code?: string | undefined;
  /** The service's page about the code. */
  readonly link?: string | undefined;
  /** The service's explanation. */
  readonly text?: string | undefined;
  /** Whether the call went on. */
  readonly isWarning: boolean;
  /** What it is about, where the code says it. */
  readonly area?: CauseArea | undefined;
}

/** How a service lists what went wrong in a call. */
export interface CauseList {
  /**
   * The request for the list.
   *
   * @throws {BadParametersException} as `get` of `CarrierLive` does
   */
  readonly list: (id: string, baseUrl: string) => LiveRequest;
  /** The causes in it that are of the call, and whether there are no more; `undefined` for what is no list. */
  readonly causesIn: (
    body: Readonly<Record<string, unknown>>,
    id: string,
  ) => { readonly causes: readonly ListedCause[]; readonly isWhole: boolean } | undefined;
}

/** How the calls of a service are read, ended and redirected once they were placed, and their recordings fetched. */
export interface CarrierLive {
  /**
   * The request for a call's state.
   *
   * @throws {BadParametersException} for what the account's options don't suffice for, by the option
   */
  readonly get: (id: string, baseUrl: string) => LiveRequest;
  /** The request that ends a call, also one that rings. */
  readonly end: (id: string, baseUrl: string) => LiveRequest;
  /**
   * The request after which an answered call continues at a flow URL.
   *
   * @throws {BadParametersException} where the service can't do it, and as `get` does
   */
  readonly redirect: (call: RedirectedCall, flow_url: string, baseUrl: string) => LiveRequest;
  /**
   * The request that presses keys in an answered call; absent where the service has none.
   *
   * @throws {BadParametersException} for keys that the service doesn't have, and as `get` does
   */
  readonly press?: ((id: string, keys: string, baseUrl: string) => LiveRequest) | undefined;
  /**
   * The service's object in the words of outdial's events: without a `state` where its own is unknown. `undefined` for
   * what is no call.
   */
  readonly read: (
    raw: LiveCall["raw"],
  ) => (Omit<LiveCall, "raw" | "state"> & { readonly state: LiveState | undefined }) | undefined;
  /** Whether a refusal of `end` says that the call has ended. After another one, the call is read. */
  readonly hasEnded: (refusal: LiveRefusal) => boolean;
  /** How the recordings of a call are found; absent where the service lists none. */
  readonly recordings?: RecordingList | undefined;
  /** How what went wrong in a call is found; absent where the call itself has all that the service says. */
  readonly causes?: CauseList | undefined;
  /**
   * The service's own https hosts that get its credentials for a recording, beside the origin of `baseUrl`. One that
   * begins with a dot stands for every host below it.
   */
  readonly credentialHosts: readonly string[];
  /**
   * Where the service keeps recordings, by signed URLs: https hosts, or the beginning of their paths, such as
   * `"storage.example/its-bucket/"` where a host is everyone's. They get no credentials.
   */
  readonly storageHosts: readonly string[];
}

/**
 * A carrier, made by a function of its own entry: `twilio({ … })` of `outdial/twilio`. Without one, everything speaks
 * outdial's own interface.
 */
export interface Service extends CallService {
  /** How its calls are read, ended and redirected. */
  readonly live: CarrierLive;
  /** How its requests are verified, read and answered. */
  readonly application: CarrierWebhooks;
  /** How it sends the audio of a call. */
  readonly media: CarrierMedia;
  /** Telnyx' account, which is not the application of `account`: the option `accountSid`. */
  readonly accountSid?: string | undefined;
}
