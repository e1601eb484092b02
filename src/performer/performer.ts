import type { Instruction, Then } from "./instructions.ts";
import { FlowError, type Line } from "./line.ts";
import { BackgroundStreams, type Performance, perform } from "./perform.ts";

/** The document that is performed. */
export interface DocumentContext {
  /** Counts the documents of the call from 1. */
  readonly step: number;
  /** Aborts when the call is over or continues elsewhere. */
  readonly signal: AbortSignal;
}

/** A flow of documents in the form of one carrier. */
export interface Flow<Request> {
  readonly first: Request;
  /**
   * Requests, reads and translates a document. Its instructions are read one after the other, so that a mistake in one
   * counts only once it is reached.
   *
   * @throws {FlowError} when it can't be followed
   */
  readonly load: (
    request: Request,
    context: DocumentContext,
  ) => Promise<Iterable<Instruction<Request>>>;
  /** What is requested after a document that can't be followed; nothing ends the flow. */
  readonly recover?: (error: FlowError, failed: Request) => Request | undefined;
}

/** Performs the flow of one answered call, document after document. */
export class Performer<Request> {
  readonly #line: Line;
  readonly #flow: Flow<Request>;
  readonly #streams = new BackgroundStreams();
  readonly #ahead: Performance["ahead"] = { keys: [], utterances: [] };
  /** Where the call continues, as a request of the API wants it. */
  #redirected: { readonly request: Request } | undefined;
  #interrupt = new AbortController();
  #step = 0;

  constructor(line: Line, flow: Flow<Request>) {
    this.#line = line;
    this.#flow = flow;
  }

  /** Interrupts the document that is performed, and continues elsewhere. */
  redirect(request: Request): void {
    this.#redirected = { request };
    this.#interrupt.abort();
    this.#line.wake();
  }

  /**
   * Performs until there is nothing left to do, or the call is over.
   *
   * @throws {FlowError} when the flow can't be followed
   */
  async perform(): Promise<void> {
    const { first, recover } = this.#flow;
    try {
      let next: { readonly request: Request } | undefined = { request: first };
      while (next && !this.#line.isOver) {
        const { request }: { readonly request: Request } = next;
        try {
          next = await this.#performNext(request);
        } catch (error) {
          if (!(error instanceof FlowError) || this.#line.isOver) throw error;
          const recovered = recover?.(error, request);
          if (recovered === undefined) throw error;
          next = { request: recovered };
        }
      }
    } finally {
      await this.#streams.stopAll();
    }
  }

  /** Performs a document, and returns the request for the next one. */
  async #performNext(request: Request): Promise<{ readonly request: Request } | undefined> {
    this.#step++;
    this.#interrupt = new AbortController();
    const interrupt = this.#interrupt;
    const stop = () => interrupt.abort();
    const { over } = this.#line;
    over.addEventListener("abort", stop);
    try {
      const context = { step: this.#step, signal: interrupt.signal };
      const then = await this.#performAll(
        await this.#flow.load(request, context),
        interrupt.signal,
      );
      return this.#takeRedirected() ?? then;
    } catch (error) {
      const elsewhere = this.#takeRedirected();
      if (elsewhere) return elsewhere;
      throw error;
    } finally {
      over.removeEventListener("abort", stop);
    }
  }

  async #performAll(
    instructions: Iterable<Instruction<Request>>,
    signal: AbortSignal,
  ): Promise<{ readonly request: Request } | undefined> {
    const performance = {
      line: this.#line,
      signal,
      ahead: this.#ahead,
      streams: this.#streams,
    };
    for (const instruction of instructions) {
      const then: Then<Request> = await perform(instruction, performance);
      if (signal.aborted || then === "end") return;
      if (then === "next") continue;
      return "request" in then ? then : this.#performAll(then.instructions, signal);
    }
    return;
  }

  #takeRedirected(): { readonly request: Request } | undefined {
    const redirected = this.#redirected;
    this.#redirected = undefined;
    return redirected;
  }
}
