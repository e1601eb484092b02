import type { GenericSchema } from "valibot";
import type { Context, Secret } from "./callbacks/signed-url.ts";
import type { LiveCall, LiveState } from "./calls/live-call.ts";
import type { CallParams } from "./calls/params.ts";
import type { AnyAction, Dial } from "./flows/actions.ts";
import type { FlowRequest } from "./flows/handler.ts";
import type { MediaOther, MediaStart } from "./flows/media/messages.ts";
import type { MediaStream, StreamOptions } from "./flows/media/session.ts";
import type { MediaSocket, StreamHandlers } from "./flows/media/socket.ts";
import type { Head } from "./http/response.ts";
import type { Settings } from "./options.ts";

/** A request that places a call, as it is sent. */
export interface EncodedCall {
  /** Where it is sent. */
  readonly url: string;
  /** All of its headers, with the key. */
  readonly headers: Readonly<Record<string, string>>;
  /** Its body. */
  readonly body: string;
  /** Every form of the key in the request, such as the text of a Basic header: they are redacted, as the key is. */
  readonly secrets?: readonly string[];
  /** Pieces of what is too long to search for in every spelling, such as the lines of a PEM. */
  readonly pieces?: readonly string[];
  /** Reads the head of the response, and its body in outdial's own form; outdial's own reader where it is absent. */
  readonly headOf?: (response: Response, url: string, signal: AbortSignal) => Head;
}

/** How calls are placed with a carrier. */
export interface CarrierClient {
  /**
   * The schema of the options of a call, with the carrier's own rules of `apiKey`, `baseUrl`, `path` and `headers`.
   */
  readonly settings: GenericSchema<unknown, Settings>;
  /** Makes a legal header value of a key that is none, such as a PEM; absent where every key is one. */
  readonly keyOf?: (given: unknown) => unknown;
  /**
   * Called once for each POST, before it is sent.
   *
   * @param baseUrl - the option, or the carrier's default
   * @throws {BadParametersException} for what the carrier can't do, by the field, and for a key that can't be
   * used: no call was placed. What else it throws becomes one that names `service`, without that error's text
   */
  readonly encodeCall: (
    params: CallParams,
    baseUrl: string,
    key: string,
  ) => EncodedCall | Promise<EncodedCall>;
}

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

/** Why a carrier's signature is refused: the reason, the status and the sentence that answer it. */
export type SignatureRefusal = readonly [
  reason: "no_signature" | "wrong_signature" | "expired_signature",
  answer: readonly [status: number, sentence: string],
];

/** What follows a `dial`, as a URL of the flow's own carries it. */
export interface Dialed extends Pick<Dial, "on_busy" | "on_no_answer" | "on_failure" | "flow_url"> {
  /** The call itself, where the requests that come to that URL are about another leg. */
  readonly call?: Pick<FlowRequest, "call_id" | "from_number" | "to_number"> | undefined;
}

/** A verified flow request. */
export interface FlowInput {
  /** The request, whose body was read. */
  readonly request: Request;
  /** The call in it. */
  readonly call: FlowRequest;
  /** The context of the signed URL. */
  readonly context: Context;
  /** The service, the account and the call of the request, which a URL of the flow's own is bound to. */
  readonly of: readonly [
    service: string,
    account_id: string | undefined,
    call_id: string | undefined,
  ];
  /** What follows a `dial`, where the request came to the URL that says so. */
  readonly dialed?: Dialed | undefined;
  /** An option of `flowHandler`. */
  readonly secret?: Secret | undefined;
  /** An option of `flowHandler`. */
  readonly publicUrl?: string | undefined;
  /** Path and query of a URL in the spelling that `signUrl` signs, with the path of `publicUrl`. */
  readonly pathIn: (url: string, publicUrl: string | undefined) => string;
  /** The most characters of a URL that the service takes. */
  readonly maxUrl: number;
  /** When the token of the request's URL expires, in Unix seconds; absent where it has none. */
  readonly expires?: number | undefined;
}

/** How a carrier's requests to the application are verified and read, and answered. */
export interface CarrierWebhooks {
  /**
   * Verifies the carrier's own signature; absent without the secret that it needs.
   *
   * @returns why the request is refused
   */
  readonly verify?:
    | ((
        request: Request,
        body: Uint8Array,
        publicUrl: string | undefined,
      ) => Promise<SignatureRefusal | undefined>)
    | undefined;
  /** A notification in the form that the schema `CallEvent` takes; `undefined` if it is none. */
  readonly decodeEvent: (body: string) => unknown;
  /**
   * A flow request in the form that the schema `FlowRequest` takes; `undefined` if it is none.
   *
   * @param url - that it came to
   */
  readonly decodeFlow: (body: string, url: string) => unknown;
  /**
   * The response to a flow request.
   *
   * @param decide - returns the action. Not called where an earlier action has decided already: what follows a `dial`
   * whose callee is busy
   * @param input - absent for the action after a failure
   * @throws {BadParametersException} for what the carrier can't do, by the field
   */
  readonly respond: (
    decide: () => AnyAction | Promise<AnyAction>,
    input?: FlowInput,
  ) => Promise<Response>;
  /** Whether the call of a flow request has ended: then no step runs. */
  readonly isOver?: (call: FlowRequest) => boolean;
  /**
   * The most characters of a URL that it takes in its documents.
   *
   * @defaultValue 2 083, as outdial's own interface
   */
  readonly maxUrl?: number;
  /** Milliseconds from a flow request to its answer: less than the carrier waits. */
  readonly flowTimeout: number;
}

/** A message on a media socket: text or binary. */
export type MediaMessage = string | Uint8Array<ArrayBuffer>;

/** What a carrier's message on a media socket means. Audio is 16-bit PCM at the stream's rate. */
export type MediaInput =
  | {
      readonly type: "start";
      readonly start: MediaStart;
      /** The query that `signUrl` added to the `ws_url`, where the carrier drops queries and sends it apart. */
      readonly token?: string | undefined;
    }
  | { readonly type: "audio"; readonly bytes: Uint8Array<ArrayBuffer> }
  /** All audio before this mark was played, or cleared. */
  | { readonly type: "played"; readonly mark: string }
  /** The callee has pressed a key: 0 to 9, A to D, `*` or `#`. */
  | { readonly type: "key"; readonly key: string }
  /** The stream is over; the socket may stay open. */
  | { readonly type: "stop" }
  | { readonly type: "other"; readonly message: MediaOther };

/** The messages on one media socket, in the carrier's form. Its functions return the messages to send, in order. */
export interface MediaCodec {
  /** Bytes of PCM in a byte that the socket sends: 0.75 for PCM in base64. */
  readonly pcmPerByte: number;
  /**
   * Parses a message: text, or an `ArrayBuffer` (from some sockets a `Uint8Array`).
   *
   * @throws {FrameException} for a message that breaks the protocol
   */
  readonly decode: (data: unknown) => MediaInput;
  /**
   * Audio in whole frames; the codec keeps what is less. Called only after `start` was decoded.
   *
   * @param pcm - whole samples
   * @param id - unique in the stream
   */
  readonly audio: (pcm: Uint8Array, id: string) => readonly MediaMessage[];
  /**
   * What it kept, padded to a frame; absent where a message of audio may have any length. Called when no more audio
   * has come by the time that the carrier has played what was sent.
   */
  readonly flush?: () => readonly MediaMessage[];
  /** Drops what the carrier has queued, and what the codec kept. */
  readonly clear: () => readonly MediaMessage[];
  /** Stops the audio with this id; absent where a carrier can only clear. */
  readonly interrupt?: (id: string) => readonly MediaMessage[];
  /** Requests an acknowledgement once all audio so far was played; absent where a carrier sends none. */
  readonly mark?: (name: string) => readonly MediaMessage[];
}

/** How a carrier sends the audio of a call: made of its codec by `carrierMedia`. */
export interface CarrierMedia {
  /**
   * Opens a stream on a socket.
   *
   * @param onOver - called once, when the stream has ended, before `onClose`
   * @throws {BadParametersException} when an option breaks its rule
   */
  readonly openStream: (
    socket: MediaSocket,
    handlers: StreamHandlers,
    options: StreamOptions,
    onOver: (isUnverified?: boolean) => void,
  ) => MediaStream;
  /** The options that only this carrier has, each with its test and the rule as the end of a sentence. */
  readonly optionRules: Readonly<
    Record<string, readonly [isKept: (value: unknown) => boolean, rule: string]>
  >;
}

/**
 * A carrier, made by a function of its own entry: `twilio({ … })` of `outdial/twilio`. Without one, everything speaks
 * outdial's own interface.
 */
export interface Service {
  /** Its name, as errors, the command line and the dashboard show it: `"twilio"`. */
  readonly name: string;
  /** The account at the carrier, which is no secret: a ledger belongs to service and account. */
  readonly account: string;
  /** Calls per second that the account may begin: above it a carrier queues or refuses. */
  readonly callsPerSecond: number;
  /** How its calls are placed. */
  readonly client: CarrierClient;
  /** How its calls are read, ended and redirected. */
  readonly live: CarrierLive;
  /** How its requests are verified, read and answered. */
  readonly application: CarrierWebhooks;
  /** How it sends the audio of a call. */
  readonly media: CarrierMedia;
}

/** What places calls with a carrier, without what answers its requests. */
export type CallService = Pick<Service, "name" | "account" | "callsPerSecond" | "client">;
