import type { ToolCall, ToolResult } from "../../agent.ts";
import type { Tools } from "../../tool.ts";
import type { Meter } from "../metrics.ts";
import { refused, type Use, useTool } from "./use-tool.ts";

/** How many tools may be in use at once. */
const most = 32;

/** Whom a toolbox tells. */
export interface ToolboxListener {
  readonly onResult: (result: ToolResult) => void;
  readonly onError: (error: unknown) => void;
}

/** The tools of one talk, and those that are in use. */
export class Toolbox {
  readonly #tools: Tools;
  readonly #within: number;
  readonly #meter: Meter;
  readonly #listener: ToolboxListener;
  /** Who uses each, by the agent's own name for it, which may not be one. */
  readonly #uses = new Map<AbortController, string>();

  /** @param within - milliseconds that a tool may take */
  constructor(tools: Tools, within: number, meter: Meter, listener: ToolboxListener) {
    this.#tools = tools;
    this.#within = within;
    this.#meter = meter;
    this.#listener = listener;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#tools, name);
  }

  /** Whether a tool is at work. */
  get isBusy(): boolean {
    return this.#uses.size > 0;
  }

  /** Uses a tool, and tells what came of it unless nobody wants to know any more. */
  async use(call: ToolCall): Promise<void> {
    if (this.#uses.size >= most) {
      this.#done(call, 0, refused(call, "Too many tools are in use.", "Too many tools at once"));
      return;
    }
    const stop = new AbortController();
    const startedAt = performance.now();
    this.#uses.set(stop, call.id);
    const use = await useTool(call, this.#tools, this.#within, stop.signal);
    if (!this.#uses.delete(stop)) return;
    this.#done(call, performance.now() - startedAt, use);
  }

  #done({ name }: ToolCall, took: number, { result, error }: Use): void {
    this.#meter.used(this.has(name) ? name : "unknown", took, result.isError);
    if (error !== undefined) this.#listener.onError(error);
    this.#listener.onResult(result);
  }

  cancel(id: string): void {
    for (const [stop, used] of this.#uses) if (used === id) this.#stop(stop);
  }

  stop(): void {
    for (const stop of this.#uses.keys()) this.#stop(stop);
  }

  #stop(stop: AbortController): void {
    this.#uses.delete(stop);
    stop.abort();
  }
}
