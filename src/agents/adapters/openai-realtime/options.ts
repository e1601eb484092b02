import type { Tools } from "../../tool.ts";
import type { AgentOptions } from "../key.ts";

/** What `openaiRealtime` takes. */
export interface OpenAIRealtimeOptions extends AgentOptions {
  /** What the agent is to do, and that it is a machine. */
  readonly instructions?: string | undefined;
  /**
   * Which voice it speaks with.
   *
   * @defaultValue `"marin"`
   */
  readonly voice?: string | undefined;
  /**
   * Which model it is.
   *
   * @defaultValue `"gpt-realtime"`
   */
  readonly model?: string | undefined;
  /**
   * What it says first, in about these words; `false` lets the callee begin.
   *
   * @defaultValue what the instructions make of it
   */
  readonly greeting?: string | false | undefined;
  /** What it may do; `hang_up` is built in. */
  readonly tools?: Tools | undefined;
  /**
   * When a turn begins and ends. Its defaults differ from document to document: so it is always sent.
   *
   * @defaultValue `{ type: "server_vad" }`, which answers by itself and is interrupted by itself
   */
  readonly turnDetection?: OpenAITurnDetection | undefined;
  /**
   * The model that writes down what the callee says; `false` for none.
   *
   * @defaultValue `"gpt-4o-mini-transcribe"`
   */
  readonly transcription?: string | false | undefined;
}

/** How OpenAI finds out who speaks, in its own words. */
export type OpenAITurnDetection = (
  | {
      readonly type: "server_vad";
      readonly threshold?: number;
      readonly prefix_padding_ms?: number;
      readonly silence_duration_ms?: number;
    }
  | { readonly type: "semantic_vad"; readonly eagerness?: "low" | "medium" | "high" | "auto" }
) & { readonly create_response?: boolean; readonly interrupt_response?: boolean };
