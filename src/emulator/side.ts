import type { Account } from "./account.ts";
import type { ApiParts, ApiRoutes } from "./api.ts";
import type { Call, Message } from "./call.ts";
import type { NewId, Random } from "./ids.ts";
import type { EmulatedService, EmulatorSettings } from "./options.ts";
import type { FlowParts } from "./simulated-line.ts";

/** What a side is made of. */
interface SideParts {
  readonly settings: EmulatorSettings;
  /** The carrier; `undefined` for outdial's own interface. */
  readonly service: EmulatedService | undefined;
  readonly random: Random;
  /** Makes ULIDs. */
  readonly newId: NewId;
}

/**
 * The interface that an emulator speaks: its API, its notifications and its flows. The states, the time, the audio and
 * the history of a call are the same behind each.
 */
export interface EmulatedSide {
  readonly account: Account;
  readonly accountId: string;
  /** The secret that signs notifications. */
  readonly webhookSecret: () => string;
  /** The id of a new call, at a time in milliseconds since 1970. */
  readonly newCallId: NewId;
  /** The default of the option `responseTimeout`, in milliseconds. */
  readonly responseTimeout: number;
  /** The same for notifications, where the carrier waits for another time. */
  readonly notificationTimeout?: number;
  /** The URL of a call's recording, at the origin of the request for the call. */
  readonly recordingUrl: (origin: string, id: string) => string;
  readonly routes: (parts: ApiParts) => ApiRoutes;
  /** The notifications that are due when the state of a call has changed. */
  readonly messagesOf: (call: Call) => readonly Message[];
  /**
   * Follows the flow of an answered call until the flow or the call ends.
   *
   * @throws {FlowError} when it can't be followed
   */
  readonly follow: (call: Call, parts: FlowParts) => Promise<void>;
}

/** Makes the side of one emulator. */
export type MakeSide = (parts: SideParts) => EmulatedSide;
