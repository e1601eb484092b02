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
export { type Answered, type FlowOptions, flowHandler } from "./handler.ts";
export {
  FromApplication,
  type MediaClear,
  type MediaInterrupt,
  type MediaSpeech,
  type NestedMediaSpeech,
} from "./media/application.ts";
export { FrameException } from "./media/frame.ts";
export type { Closed, Heard, StreamHandlers, StreamOptions } from "./media/options.ts";
export { FromService, type MediaAudio, type MediaOther, type MediaStart } from "./media/service.ts";
export { type StreamSession, streamSession } from "./media/session.ts";
export type { MediaEvent, MediaSocket } from "./media/socket.ts";
export { FlowRequest } from "./request.ts";
