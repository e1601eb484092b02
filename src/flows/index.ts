/**
 * Decides what an answered call does: builders of actions, a handler of requests, and the media
 * socket.
 *
 * The service requests the `flow_url` of a call when somebody answers. {@link flowHandler} verifies the request, and responds
 * with the action that your function returns: {@link say}, {@link gather}, {@link record},
 * {@link play}, {@link stream}, {@link dial} or {@link hangup}.
 * {@link streamSession} reads and writes the audio of a `stream`.
 *
 * @see docs/flows.md
 *
 * @module
 */

export type { AnsweredBy } from "../callbacks/event.ts";
export type { Context, Secret } from "../callbacks/signed-url.ts";
export type { Checks, OnError, Verification } from "../callbacks/verify.ts";
export type { MediaClock, SessionObserver } from "../lib/clock.ts";
export { type ActionUrlOptions, actionUrl } from "./action-url.ts";
export {
  Action,
  type AnyAction,
  type Branch,
  type Dial,
  dial,
  type Following,
  type Hangup,
  hangup,
  type Play,
  play,
  type Stream,
  stream,
  type WireDial,
} from "./actions.ts";
export type { FlowCampaign } from "./campaign.ts";
export type { CalledContact, ScriptCampaign } from "./contact.ts";
export type { Dialed } from "./dialed.ts";
export type { InputHook, Step, StepInput } from "./flow-state.ts";
export { type FlowOptions, flowHandler } from "./handler.ts";
export { type MachineUrlOptions, machineUrl } from "./machine-url.ts";
export {
  type BunServerSocket,
  BunSocket,
  bunWebSocket,
} from "./media/bun-socket.ts";
export type { StreamForm } from "./media/carrier-media.ts";
export {
  FrameException,
  FromApplication,
  FromService,
  type MediaAudio,
  type MediaClear,
  type MediaInterrupt,
  type MediaOther,
  type MediaPlayed,
  type MediaPlayedRequest,
  type MediaSpeech,
  type MediaStart,
  type NestedMediaSpeech,
} from "./media/messages.ts";
export { type StreamOptions, type StreamSession, streamSession } from "./media/session.ts";
export type { StartChecks } from "./media/signed-start.ts";
export type {
  AudioFrame,
  Closed,
  KeyPress,
  MediaEvent,
  MediaSocket,
  StreamHandlers,
} from "./media/socket.ts";
export {
  type AudioPrompt,
  audio,
  type PausePrompt,
  type Prompt,
  type Prompts,
  pause,
  spell,
} from "./prompts.ts";
export { type RecordAction, record } from "./record.ts";
export type { RecordingInput } from "./recorded.ts";
export { FlowRequest } from "./request.ts";
export {
  type Gather,
  type GatherOptions,
  gather,
  type KeyCount,
  type Say,
  type SayOptions,
  say,
} from "./say.ts";
export type { SpeechOptions, SpokenText } from "./speech.ts";
