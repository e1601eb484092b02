import type { StreamSocket } from "../emulator/stream.ts";
import type { Side } from "../performer/media-socket.ts";
import type { RecordedPart } from "../server/call.ts";
import type { CallRecord, CallState, Reason } from "../server/history.ts";
import type { Send } from "../server/outgoing.ts";
import type { AriOptions } from "./ari.ts";
import type { SpeechSource } from "./sounds.ts";
import type { SideName, Store } from "./store.ts";

/** A call, or a second telephone of one, before anything is stored. */
export interface AskedCall {
  readonly from_number: string;
  /** E.164, or a URI of the scheme `sip:`. */
  readonly to_number: string;
  /** `dial`: a flow calls a second telephone. `redirect`: a live call is led there. */
  readonly leg: "call" | "dial" | "redirect";
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Why a call isn't placed. */
export interface NotAdmitted {
  /** The HTTP status of the response. 429: a later request may place it. */
  readonly status: 403 | 429;
  /** The name of the rule, for metrics and log: it has no number. */
  readonly reason: string;
  /** One sentence for whoever has asked: it has no number. */
  readonly detail: string;
}

/** What happens in an exchange. No event has a number, a key or a URL. */
export type ExchangeEvent =
  | { readonly type: "stored"; readonly call_id: string; readonly side: SideName }
  | { readonly type: "rang"; readonly call_id: string }
  | { readonly type: "answered"; readonly call_id: string }
  | {
      readonly type: "ended";
      readonly call_id: string;
      readonly state: CallState;
      readonly reason: Reason;
      /** Milliseconds from the answer; 0 without one. */
      readonly talkTime: number;
    }
  /** A request, or a second telephone, that was refused. */
  | {
      readonly type: "refused";
      readonly side: SideName;
      readonly status: number;
      /** The rule of `admit`, `asterisk` while it is away, `store` while it can't be written, `request` for others. */
      readonly rule: string;
    }
  | {
      readonly type: "notification";
      readonly call_id: string;
      readonly id: string;
      readonly event: string;
      readonly try: number;
      readonly outcome: "delivered" | "retrying" | "given_up";
      /** Absent when no response came. */
      readonly status?: number | undefined;
      /** Milliseconds that the attempt took. */
      readonly ms: number;
    }
  /** The socket of Asterisk's events was lost, or is back. */
  | { readonly type: "asterisk"; readonly state: "lost" | "back" }
  /** Channels of ours that no live call owned were hung up. */
  | { readonly type: "swept"; readonly channels: number };

/** Keeps what both sides of a call say. Times are in milliseconds since the answer. */
export interface CallRecorder {
  /** An answered call: called before its first frame. */
  readonly begin: (call: Pick<CallRecord, "id" | "record">) => void;
  /** A packet as it passes: 20 ms of 16-bit samples at 8 kHz, the caller's to keep. `application` is what the callee hears. */
  readonly frame: (id: string, side: Side, at: number, samples: Int16Array) => void;
  /** The call is over. */
  readonly end: (id: string) => void;
  /** A recording, as `download` of `RecordedAudio` answers it; `undefined` where there is none. */
  readonly download: (
    id: string,
    part: RecordedPart,
    range: string | null,
    channels: 1 | 2,
  ) => Response | undefined;
  /** Removes the recordings of calls that were erased. */
  readonly erase: (calls: readonly string[]) => void;
  /** Ends all recordings: called before the store is closed. */
  readonly close: () => Promise<void>;
}

/** A notification that isn't delivered, or was given up. */
export interface FailedNotification {
  readonly id: string;
  readonly call_id: string;
  readonly event: string;
  readonly state: "pending" | "given_up";
  /** When it was made, in milliseconds since 1970. */
  readonly at: number;
  readonly attempts: number;
  /** When it is sent next, in milliseconds since 1970; absent for one that was given up. */
  readonly next_at?: number | undefined;
  /** What the receiver answered last; absent when no response came. */
  readonly status?: number | undefined;
  readonly error?: string | undefined;
  /** The beginning of the latest response. */
  readonly response?: string | undefined;
}

/** A carrier whose interface the exchange speaks beside its own, and its account there. */
export interface CarrierAccount {
  readonly name: Exclude<SideName, "outdial">;
  readonly account: string;
  /** Twilio's auth token, Telnyx's API key, Vonage's private key: they last, and come from a file of the operator's. */
  readonly apiKey: string;
  /** What signs notifications, where that is not the key. */
  readonly webhookSecret?: string | undefined;
}

/** What a service is made of. */
export interface ServiceParts {
  readonly store: Store;
  readonly ari: AriOptions;
  /** Asterisk's name for whom it calls, such as `PJSIP/+12025550100@trunk`; `undefined` for whom it can't reach. */
  readonly endpoint: (to: string) => string | undefined;
  /**
   * The file that Asterisk's `cel_custom` writes, with `CHAN_START` alone: a line is `${eventtype},${uniqueid},${channame}`.
   * Without it, what became of a call whose request was cut off stays in doubt.
   */
  readonly channelLog?: string | undefined;
  readonly speech?: SpeechSource | undefined;
  /** The account's numbers: a call is from one of them. */
  readonly numbers: readonly string[];
  /** `whsec_` and base64: signs the notifications of the own interface. */
  readonly webhookSecret: string;
  /** 32 bytes in base64url or more: signs the URLs of recordings. */
  readonly recordingSecret: string;
  readonly also: readonly CarrierAccount[];
  /** Where the API is, without a path: URLs of recordings begin with it. */
  readonly baseUrl: string;
  /** Whether http and ws URLs are taken, and those of this machine and its network: the operator has named such addresses. */
  readonly takesPrivate: boolean;
  /** How long a telephone rings, in milliseconds; 60,000 by default. */
  readonly answerTimeout?: number | undefined;
  /** How long a call lasts at most, in milliseconds; an hour by default. */
  readonly maxDuration?: number | undefined;
  /** Called before anything is stored, and again for each second telephone. Keys that are known come before it. */
  readonly admit: (call: AskedCall) => NotAdmitted | undefined;
  /** Every request to an application goes by it. */
  readonly outgoing: Send;
  /** Every media socket of an application is opened by it. */
  readonly openSocket: (
    url: string,
    headers?: Readonly<Record<string, string>> | undefined,
  ) => StreamSocket;
  readonly onEvent: (event: ExchangeEvent) => void;
  readonly recorder?: CallRecorder | undefined;
}

/** The service of an exchange. */
export interface ExchangeService {
  /** The API: the own interface, and beside it the carriers' by their paths. */
  readonly fetch: (request: Request) => Promise<Response>;
  /** Whether Asterisk is reached, so that calls are placed. */
  readonly isReady: boolean;
  /** The calls that are not over, the oldest first. */
  readonly live: readonly CallRecord[];
  /** A call that is known. */
  readonly call: (id: string) => CallRecord | undefined;
  /** The latest calls that are over, the newest first. */
  readonly history: (limit: number) => readonly CallRecord[];
  readonly failedNotifications: readonly FailedNotification[];
  /**
   * Sends a notification again, with the same id.
   *
   * @returns whether it is known, and not delivered
   */
  readonly resend: (id: string) => boolean;
  /** Issues a key of the own interface: it is shown once, and the old one is invalid at once. */
  readonly regenerateKey: () => string;
  /**
   * Deletes everything of a number: calls, their history, notifications, recordings, speech. Digests of keys stay.
   *
   * @returns how many calls there were
   */
  readonly erase: (number: string) => number;
  /**
   * Accepts no more calls, waits for the live ones, and hangs up what is left. Notifications that aren't delivered stay
   * in the store.
   *
   * @param options.wait - in milliseconds
   */
  readonly close: (options: { readonly wait: number }) => Promise<void>;
}
