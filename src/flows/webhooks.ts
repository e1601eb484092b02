import type { Context, Secret } from "../callbacks/signed-url.ts";
import type { AnyAction } from "./actions.ts";
import type { AfterDial } from "./dialed.ts";
import type { FlowRequest } from "./request.ts";

/** The action that only continues at another flow URL. */
export interface Redirect {
  /** Which action it is. */
  readonly action: "redirect";
  /** Where the call continues. */
  readonly flow_url: string;
}

/** How a second URL of an action is signed. */
export interface OwnUrl extends Pick<AfterDial, "call" | "dialed"> {
  /** A parameter that marks it, with `&`. */
  readonly marked?: string;
  /** What it is bound to, if not to the call of this request. */
  readonly of?: FlowInput["of"] | undefined;
}

/** What a call does next. */
export interface Decision {
  /** The action, with the URL of what follows it. */
  readonly action: AnyAction | Redirect;
  /**
   * Signs a second URL of the action: the one that decides what follows a `dial`, or the one that a recording comes to.
   * Absent where the flow has none.
   *
   * @throws {BadParametersException} that names a field, without the option `secret` or where the URL breaks its rule
   */
  readonly signOwn?: (url?: OwnUrl) => Promise<string>;
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
  readonly after?: AfterDial | undefined;
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

/** Why a carrier's signature is refused: the reason, the status and the sentence that answer it. */
export type SignatureRefusal = readonly [
  reason: "no_signature" | "wrong_signature" | "expired_signature",
  answer: readonly [status: number, sentence: string],
];

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
   * The conversation that the event of a recording names, where the URL of the recording is bound to that and not to the call.
   *
   * @defaultValue the URL is bound to the call, and `call_id` is compared
   */
  readonly recordedIn?: (event: Readonly<Record<string, unknown>>) => string | undefined;
  /**
   * A flow request in the form that the schema `FlowRequest` takes; `undefined` if it is none.
   *
   * @param url - that it came to
   */
  readonly decodeFlow: (body: string, url: string) => unknown;
  /**
   * The response to a flow request.
   *
   * @param decide - returns the action. Not called where the request asks for none
   * @param input - absent for the action after a failure
   * @throws {BadParametersException} for what the carrier can't do, by the field
   */
  readonly respond: (
    decide: () => Decision | Promise<Decision>,
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
