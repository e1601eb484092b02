import type { ToolCall, ToolResult } from "../agent.ts";
import type { Tools } from "../tool.ts";
import type { Meter } from "./metrics.ts";
import { useTool } from "./use-tool.ts";

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
  readonly #uses = new Map<string, AbortController>();

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

  /** Uses a tool, and tells what came of it unless nobody wants to know any more. */
  async use(call: ToolCall): Promise<void> {
    const use = new AbortController();
    const startedAt = performance.now();
    this.#uses.set(call.id, use);
    const { result, error } = await useTool(call, this.#tools, this.#within, use.signal);
    if (use.signal.aborted) return;
    this.#uses.delete(call.id);
    const name = this.has(call.name) ? call.name : "unknown";
    this.#meter.used(name, performance.now() - startedAt, result.isError);
    if (error !== undefined) this.#listener.onError(error);
    this.#listener.onResult(result);
  }

  cancel(id: string): void {
    this.#uses.get(id)?.abort();
    this.#uses.delete(id);
  }

  stop(): void {
    for (const id of [...this.#uses.keys()]) this.cancel(id);
  }
}
