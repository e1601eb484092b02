/**
 * Decides what an answered call does: actions, their checks, and the media socket.
 *
 * @module
 */
export { Action, type Dial, type Hangup, type Play, type Stream } from "./action.ts";
export {
  FromApplication,
  FromService,
  type MediaAudio,
  type MediaClear,
  type MediaInterrupt,
  type MediaSpeech,
  type MediaStart,
} from "./media.ts";
export { FlowRequest } from "./request.ts";
