import type { Context } from "../callbacks/signed-url.ts";
import type { MediaStart } from "../flows/media/messages.ts";
import {
  type AudioFrame,
  type KeyPress,
  type MediaSocket,
  streamOf,
} from "../flows/media/session.ts";
import { fail, withoutThrowing } from "../lib/check.ts";
import { processClock } from "../lib/clock.ts";
import { reporterOf } from "../lib/report.ts";
import { createTimers } from "../lib/timers.ts";
import type { Agent } from "./agent.ts";
import type { AgentSession } from "./agent-session.ts";
import { type Call, createCall } from "./call.ts";
import { Connection } from "./connection.ts";
import { AgentException } from "./exception.ts";
import { createKeys } from "./keys.ts";
import { Meter } from "./metrics.ts";
import {
  type Emit,
  type EndReason,
  limitsOf,
  type PressedKeys,
  type SessionEnd,
  type SessionListeners,
  type SessionOptions,
} from "./options.ts";
import { agentOf, takeConnection, type WarmAgent } from "./preconnect.ts";

/** Ends after which the stream is closed with 1000. */
const normalEnds: readonly EndReason[] = ["hung_up", "agent_hung_up", "agent_ended", "closed"];

/**
 * Carries the audio of a call between its media socket and an agent, from the start of the stream to its end.
 *
 * @throws {BadParametersException} (`placed: "no"`) when an argument breaks its rule
 */
export const createSession = (
  socket: MediaSocket,
  agents: Agent | WarmAgent | readonly (Agent | WarmAgent)[],
  givenOptions: SessionOptions,
): AgentSession => {
  const [given = fail("agent", "is an empty list")] = [agents].flat();
  const agent = agentOf(given);
  const limits = limitsOf(givenOptions);
  const options = { ...givenOptions };
  const reporter = reporterOf(options.onError);
  const { report, call } = reporter;
  const clock = socket.simulation ?? options.simulation ?? processClock;
  const listeners: SessionListeners = options;
  const observer: SessionListeners = clock.observer ?? {};
  const emit: Emit = (name, value) => {
    call(observer[name], value);
    call(listeners[name], value);
  };
  const meter = new Meter(clock);
  const timers = createTimers(clock);
  let isOver = false;
  let context: Context = options.context ?? {};
  /** The call, once the stream has started. */
  let started: Call | undefined;
  let resolveEnded: (end: SessionEnd) => void = () => {};
  const ended = new Promise<SessionEnd>((resolve) => {
    resolveEnded = resolve;
  });

  /** Ends the session, for the first reason that is given; no timer, socket or tool is left. */
  const end = (reason: EndReason): void => {
    if (isOver) return;
    isOver = true;
    timers.stop();
    started?.stop();
    taken?.close();
    withoutThrowing(() => media.close(normalEnds.includes(reason) ? 1000 : 1011, reason));
    const metrics = meter.metrics;
    emit("onMetrics", metrics);
    const ending = { reason, metrics, context };
    emit("onEnd", ending);
    resolveEnded(ending);
  };

  /** The callee is on the line. */
  const onStart = (start: MediaStart, verified: Context): void => {
    context = options.context ?? verified;
    const { sample_rate: sampleRate } = start.data;
    meter.started();
    timers.clear("start");
    timers.set("duration", limits.maxDuration, () => end("too_long"));
    timers.set("agent", limits.agentTimeout, () => end("agent_slow"));
    taken ??= takeConnection(given);
    const connection = taken ?? new Connection(agent, { sampleRate }, options.open, clock);
    const tools = agent.tools ?? {};
    started = createCall(media, connection, {
      tools,
      sampleRate,
      limits,
      emit,
      meter,
      timers,
      reporter,
      about: { session, start, context, transcripts: [] },
      end,
    });
    call((one: MediaStart) => options.onStart?.(one, context), start);
    started.connect();
  };

  const { keysToAgent = false, onKeys } = options;
  const keys = createKeys(limits.keysTimeout, timers, (pressed) => {
    call((one: PressedKeys) => onKeys?.(one, session), pressed);
    if (!keysToAgent || !pressed.done) return;
    const text = `The callee pressed ${pressed.keys || pressed.key} on the telephone.`;
    // Without the application's own function nobody else has it answered.
    (onKeys ? session.addContext(text) : session.reply(text)).catch(report);
  });
  const handlers = {
    onStart,
    onAudio: ({ bytes }: AudioFrame) => {
      if (isOver) return;
      const isTone = !keysToAgent && keys.isAudible();
      started?.input(isTone ? new Uint8Array(bytes.length) : bytes);
    },
    onKey: ({ key }: KeyPress) => {
      if (!isOver) keys.press(key);
    },
    onMessage: options.onMessage,
    onClose: () => end("hung_up"),
    onError: report,
  };
  const media = streamOf(socket, handlers, options, (isUnverified) => {
    if (isUnverified) end("unverified");
  });
  timers.set("start", limits.startTimeout, () => end("no_start"));
  // Last: if an argument is refused above, the caller keeps it. With a service it is taken when the stream has started:
  // whoever sends no signed `start` must not get it.
  let taken = options.service ? undefined : takeConnection(given);
  const unsupported = async () => {
    throw new AgentException("not_supported");
  };
  const session: AgentSession = {
    ended,
    get metrics() {
      return meter.metrics;
    },
    say: unsupported,
    play: unsupported,
    reply: unsupported,
    addContext: unsupported,
    setInstructions: unsupported,
    interrupt: unsupported,
    press: unsupported,
    leave: unsupported,
    close: () => end("closed"),
  };
  return session;
};
