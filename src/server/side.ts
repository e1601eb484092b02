import type { Line } from "../performer/line.ts";
import type { Account, KeyKeeper } from "./account.ts";
import type { ApiParts, ApiRoutes } from "./api.ts";
import type { Message, ServedCall, StoredMessage } from "./call.ts";
import type { NewId, Random } from "./ids.ts";
import type { Requester } from "./outgoing.ts";

/** What a service is told of its account. */
interface SideSettings {
  readonly apiKey?: string | KeyKeeper | undefined;
  readonly webhookSecret?: string | undefined;
  readonly numbers?: readonly string[] | undefined;
  /** Makes the same ids on every run. */
  readonly seed?: number | undefined;
  /** Whether outdial's own interface has the basic actions only. */
  readonly actions?: "basic" | "all" | undefined;
  /** What lasts of outdial's own interface; made at each start by default. */
  readonly lasting?:
    | { readonly accountId: string; readonly recordingSecret: Uint8Array }
    | undefined;
}

/** What a side is made of. */
interface SideParts {
  readonly settings: SideSettings;
  /** The carrier, and the account there; `undefined` for outdial's own interface. */
  readonly service:
    | {
        readonly name: string;
        readonly account: string;
        readonly accountSid?: string | undefined;
      }
    | undefined;
  readonly random: Random;
  /** Makes ULIDs. */
  readonly newId: NewId;
}

/** What the flow of an answered call needs of the service. */
export interface FlowParts {
  readonly accountId: string;
  readonly line: Line;
  readonly request: Requester;
  readonly newId: NewId;
  /** Sends notifications of the call, after those that are pending. */
  readonly notify: (messages: readonly Message[]) => void;
}

/**
 * The interface that a service speaks: its API, its notifications and its flows. The states, the time, the audio and the
 * history of a call are the same behind each, in the emulator as on a real line.
 */
export interface ServiceSide {
  readonly account: Account;
  readonly accountId: string;
  /** The secret that signs notifications. */
  readonly webhookSecret: () => string;
  /** The id of a new call, at a time in milliseconds since 1970. */
  readonly newCallId: NewId;
  /** Milliseconds that it waits for a response of an application by default. */
  readonly responseTimeout: number;
  /** The same for notifications, where the carrier waits for another time. */
  readonly notificationTimeout?: number;
  /** The URL of a call's recording, at the origin of the request for the call. */
  readonly recordingUrl: (origin: string, id: string) => string;
  readonly routes: (parts: ApiParts) => ApiRoutes;
  /** The notifications that are due when the state of a call has changed. */
  readonly messagesOf: (call: ServedCall) => readonly Message[];
  /**
   * Knows a call of a process before this one again, which is over or is about to be: for its notifications and the API.
   *
   * @param kept - what `accept` was given of the request
   * @param url - that of the request
   * @param sent - the ids of the notifications that were made of it
   */
  readonly restore?: (
    call: ServedCall,
    kept: unknown,
    url: string,
    sent: readonly string[],
  ) => void;
  /** A notification that was stored, as it is sent. */
  readonly messageFrom?: (stored: StoredMessage) => Message;
  /**
   * Follows the flow of an answered call until the flow or the call ends.
   *
   * @throws {FlowError} when it can't be followed
   */
  readonly follow: (call: ServedCall, parts: FlowParts) => Promise<void>;
}

/** Makes the side of one service. */
export type MakeSide = (parts: SideParts) => ServiceSide;
