import type { MediaClock } from "../lib/clock.ts";
import { createIsNew } from "../lib/newest.ts";
import type { EventOf, ToolCall, ToolResult, Tools } from "./agent.ts";
import { calledOff } from "./ending.ts";
import {
  failure,
  hangUp,
  keyOfCall,
  runTool,
  type ToolOutcome,
  type ToolSession,
} from "./tools.ts";

/** The most tools that run at once. */
const maxRunning = 32;

/** The result of a `hang_up` that is called off, since it was called before the model can have known that a tool has failed. */
const undone = "The call goes on: something was not done.";

/** What the calls of tools need of their call. */
export interface ToolCallListener {
  /** Those of the agent, which another agent may replace. */
  readonly tools: () => Tools;
  /** Milliseconds that a tool may take. */
  readonly timeout: number;
  /** A tool has its result. */
  readonly onResult: (result: ToolResult, took: number, args: unknown) => void;
  /** What went wrong in it; whether the tool itself threw it. */
  readonly onError: (error: unknown, isThrown: boolean) => void;
  /** The built-in tool was called: `settle` is told whether it is time, and returns whether it is still wanted. */
  readonly onHangUp: (settle: (isDue: boolean) => boolean) => void;
  /** Sends the result of the built-in tool. */
  readonly send: (result: ToolResult) => void;
  /** Whether anybody waits for their time to leave. */
  readonly isWaiting: () => boolean;
}

/** The calls of tools by the agents of one session, `hang_up` too. */
export interface ToolCalls {
  /** Whether any tool is running. */
  readonly isBusy: () => boolean;
  /** Whether the call is hung up once everything was played. */
  readonly isHangingUp: () => boolean;
  /** Whether there is a tool with this name. */
  readonly has: (name: string) => boolean;
  /** Whether a call was not there before, or has no id: by its response, or by its arguments where responses have no names. */
  readonly isNew: (call: EventOf<"tool">) => boolean;
  readonly run: (call: EventOf<"tool">) => void;
  /** What comes next of the model is made with all results that it was sent. */
  readonly known: () => void;
  /** Stops a call: its result isn't wanted any more. */
  readonly cancel: (id: string) => void;
  /** Stops all calls. */
  readonly stop: () => void;
}

export const createToolCalls = (
  { tools, timeout, onResult, onError, onHangUp, send, isWaiting }: ToolCallListener,
  { now, after, hold, holdWith }: Pick<MediaClock, "now" | "after" | "hold" | "holdWith">,
  about: ToolSession,
): ToolCalls => {
  /** The agent's id of each running call, which need not be unique. */
  const running = new Map<AbortController, string>();
  const isNewId = createIsNew();
  const time = { after, holdWith, isWaiting };
  let hangup: ToolCall | undefined;
  /** The last response of which a tool has failed, or has refused, and whether the model may not know of that yet. */
  let failedIn: string | undefined;
  let isUnknown = false;

  const has = (name: string) => Object.hasOwn(tools(), name);
  /** Answers a call of `hang_up`; mostly the agent isn't to respond to that. */
  const answer = ({ id, name }: ToolCall, output: string, isError: boolean, reply = false) =>
    send({ id, name, output, isError, reply });
  const finish = (call: EventOf<"tool">, took: number, outcome: ToolOutcome) => {
    const { id, name, arguments: args, response } = call;
    const { output, isError, error, isThrown = false, isRefused } = outcome;
    if (isError) onError(error, isThrown);
    if (isError || isRefused) {
      // Who has called `hang_up` with it doesn't know that yet.
      const pending = hangup;
      failedIn = response;
      isUnknown = !pending;
      hangup = undefined;
      if (pending) answer(pending, undone, true);
    }
    onResult({ id, name, output, isError, reply: true }, took, args);
  };
  const abort = (controller: AbortController) => {
    running.delete(controller);
    controller.abort();
  };
  return {
    isBusy: () => running.size > 0,
    isHangingUp: () => !!hangup,
    has,
    isNew: (call) =>
      isNewId(call.id && call.response ? `${call.response} ${call.id}` : keyOfCall(call)),
    run: async (call) => {
      if (call.name === hangUp && !has(hangUp)) {
        if (hangup) answer(call, "The call is being ended.", false);
        else if (call.response !== undefined && call.response === failedIn) {
          answer(call, undone, true);
        } else if (isUnknown) {
          // Once: it may be the whole response to the result, and then nothing else asks for another one.
          isUnknown = false;
          answer(call, undone, true, true);
        } else {
          hangup = call;
          onHangUp((isDue) => {
            if (hangup !== call) return false;
            hangup = undefined;
            if (!isDue) answer(call, calledOff, true);
            return isDue;
          });
        }
        return;
      }
      if (running.size >= maxRunning) {
        finish(call, 0, failure("Too many tools are in use."));
        return;
      }
      const controller = new AbortController();
      const startedAt = now();
      running.set(controller, call.id);
      const work = (session = about.session) =>
        runTool(call, tools(), timeout, controller.signal, { ...about, session }, time);
      const outcome = await (holdWith?.(about.session, work) ?? hold(work()));
      if (running.delete(controller)) finish(call, now() - startedAt, outcome);
    },
    known: () => {
      isUnknown = false;
    },
    cancel: (id) => {
      for (const [controller, each] of running) if (each === id) abort(controller);
      if (id === hangup?.id) hangup = undefined;
    },
    stop: () => {
      for (const controller of running.keys()) abort(controller);
    },
  };
};
