/**
 * Connects a speech agent to a call: paced, interruptible, on any runtime.
 *
 * {@link connectAgent} connects the media socket of a call to an agent of OpenAI ({@link openaiRealtime}, {@link gptLive}),
 * ElevenLabs ({@link elevenlabs}), Deepgram ({@link deepgram}), Google ({@link gemini}), xAI ({@link xai}) or Azure ({@link azure}), or to an adapter of your own. It has interruptions, tools,
 * transcripts, and limits for silence and duration. {@link warmAgent} connects to the agent while the telephone rings.
 *
 * @see docs/agents.md
 *
 * @module
 */

export type { MediaClock, SessionObserver } from "../lib/clock.ts";
export type { Summary } from "../lib/summary.ts";
export { type AzureOptions, azure } from "./adapters/azure.ts";
export { type DeepgramOptions, deepgram } from "./adapters/deepgram.ts";
export { type ElevenLabsOptions, elevenlabs } from "./adapters/elevenlabs.ts";
export { type GeminiOptions, gemini } from "./adapters/gemini.ts";
export { type GptLiveOptions, gptLive } from "./adapters/gpt-live.ts";
export {
  type OpenAIRealtimeOptions,
  type OpenAITurnDetection,
  openaiRealtime,
} from "./adapters/openai-realtime.ts";
export type { AgentOptions } from "./adapters/shared.ts";
export { type XaiOptions, xai } from "./adapters/xai.ts";
export type {
  Agent,
  AgentAbilities,
  AgentEvent,
  AgentMessage,
  CallTranscript,
  Codec,
  Cut,
  Formats,
  LineFormat,
  Tool,
  ToolCall,
  ToolContext,
  ToolResult,
  Tools,
  Transcript,
} from "./agent.ts";
export type {
  AgentSession,
  ConnectionEnd,
  EndReason,
  LeaveOptions,
  PlayOptions,
  SessionEnd,
  SpeakOptions,
  Spoken,
} from "./agent-session.ts";
export type { AudioFormat } from "./audio/resample.ts";
export type { SessionMetrics, ToolMetrics, TurnMetrics } from "./metrics.ts";
export type {
  Address,
  AgentSocket,
  AgentSocketEvent,
  Opening,
  OpenSocket,
  Ticket,
} from "./open-socket.ts";
export type {
  AnsweredTurn,
  CalledTool,
  CallOpening,
  Idle,
  Interruption,
  PressedKeys,
  SessionOptions,
} from "./options.ts";
export { type WarmAgent, type WarmOptions, warmAgent } from "./preconnect.ts";
export { AgentException, type AgentProblem } from "./problems.ts";
export { connectAgent } from "./session.ts";
export {
  type GreetingEnd,
  type GreetingOptions,
  greetingEnded,
} from "./telephone/greeting-ended.ts";
export { leaveVoicemail, type VoicemailOptions } from "./telephone/leave-voicemail.ts";
export { type PressKeysOptions, pressKeys, tones } from "./telephone/press-keys.ts";
export {
  type Transfer,
  type TransferOptions,
  type TransferTarget,
  transferTo,
} from "./telephone/transfer-to.ts";
