/**
 * Twilio as the service of outdial: the same calls, notifications, call flows, media and lists.
 *
 * @module
 */

export type { Acknowledged, PlaybackLine } from "../flows/media/playback.ts";
export type { MediaStream } from "../flows/media/session.ts";
export type {
  ApplicationSide,
  ClientSide,
  EncodedCall,
  FlowInput,
  MediaCodec,
  MediaInput,
  MediaMessage,
  MediaSide,
  Refused,
  Service,
  SignatureRefusal,
} from "../service.ts";

/** The account at Twilio, and what its calls do beyond the fields of `calls.create`. */
export interface TwilioOptions {
  /** The account's SID: `AC` and 32 hexadecimal digits. */
  readonly accountSid: string;
}
