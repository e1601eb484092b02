/**
 * Puts a speech agent on the line of a call: paced, interruptible, on any runtime.
 *
 * @module
 */

export { type DeepgramOptions, deepgram } from "./adapters/deepgram.ts";
export { type ElevenLabsOptions, elevenlabs } from "./adapters/elevenlabs.ts";
export { type GptLiveOptions, gptLive } from "./adapters/gpt-live.ts";
export type { AgentOptions } from "./adapters/key.ts";
export { openaiRealtime } from "./adapters/openai-realtime/openai-realtime.ts";
export type {
  OpenAIRealtimeOptions,
  OpenAITurnDetection,
} from "./adapters/openai-realtime/options.ts";
export type {
  Address,
  Agent,
  AgentEvent,
  Codec,
  Cut,
  Formats,
  Frame,
  Line,
  Ticket,
  ToolCall,
  ToolResult,
  Transcript,
} from "./agent.ts";
export type { AudioFormat } from "./audio/format.ts";
export { AgentException, type AgentProblem } from "./exception.ts";
export type { Gone } from "./socket/news.ts";
export type { AgentSocket, AgentSocketEvent, Opening, OpenSocket } from "./socket/socket.ts";
export { connectAgent, type Talk } from "./talk/connect-agent.ts";
export type { TalkMetrics, ToolMetrics } from "./talk/metrics.ts";
export type { EndReason, Interruption, TalkEnd, TalkOptions } from "./talk/options.ts";
export { type WarmAgent, type WarmOptions, warmAgent } from "./talk/warm.ts";
export type { Tool, ToolContext, Tools } from "./tool.ts";
