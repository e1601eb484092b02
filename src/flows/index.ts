/**
 * Decides what an answered call does: builders of actions, a handler of requests, and the media
 * socket.
 *
 * @module
 */

export type { Context, Secret } from "../callbacks/url/token.ts";
export type { OnError } from "../callbacks/verify/guard.ts";
export type { Checks, Verification } from "../callbacks/verify/verification.ts";
export { Action, type Dial, type Hangup, type Play, type Stream } from "./action.ts";
export { dial, hangup, play, stream } from "./build.ts";
export { FrameException } from "./frame.ts";
export { type Answered, type FlowOptions, flowHandler } from "./handler.ts";
export {
  FromApplication,
  FromService,
  type MediaAudio,
  type MediaClear,
  type MediaInterrupt,
  type MediaOther,
  type MediaSpeech,
  type MediaStart,
  type NestedMediaSpeech,
} from "./media.ts";
export { FlowRequest } from "./request.ts";
export {
  type Closed,
  type Heard,
  type StreamHandlers,
  type StreamOptions,
  type StreamSession,
  streamSession,
} from "./session.ts";
export type { MediaEvent, MediaSocket } from "./socket.ts";
