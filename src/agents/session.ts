import type { Context } from "../callbacks/signed-url.ts";
import type { MediaStart } from "../flows/media/messages.ts";
import { streamOf } from "../flows/media/session.ts";
import type { AudioFrame, KeyPress, MediaSocket } from "../flows/media/socket.ts";
import { fail, isFunction, isText, withoutThrowing } from "../lib/check.ts";
import { processClock } from "../lib/clock.ts";
import { reporterOf } from "../lib/report.ts";
import {
  booleanRule,
  checkOptions,
  functionRule,
  type OptionRules,
  textRule,
} from "../lib/rules.ts";
import { createTimers } from "../lib/timers.ts";
import type { Agent } from "./agent.ts";
import type {
  AgentSession,
  EndReason,
  LeaveOptions,
  PlayOptions,
  SessionEnd,
  SpeakOptions,
  Spoken,
} from "./agent-session.ts";
import { createCall } from "./call.ts";
import type { Call } from "./call-session.ts";
import { Connection } from "./connection.ts";
import { calledOff } from "./ending.ts";
import { createKeys } from "./inbound.ts";
import { Meter } from "./metrics.ts";
import {
  type Emit,
  type Idle,
  limitsOf,
  type PressedKeys,
  type SessionListeners,
  type SessionOptions,
} from "./options.ts";
import { checkedBelow, durationOf, openingOf, ownAudioOf } from "./own-audio.ts";
import { agentOf, takeConnection, type WarmAgent } from "./preconnect.ts";
import { AgentException } from "./problems.ts";
import { listenTo, playAtOnce, type SessionInternals, sessionParts } from "./session-parts.ts";
import type { Voice } from "./voice.ts";

/** Ends after which the stream is closed with 1000. */
const normalEnds: readonly EndReason[] = [
  "hung_up",
  "agent_hung_up",
  "agent_ended",
  "closed",
  "left",
];

/** How long each agent of a list has to be ready, in ms. */
const timeoutInList = 4000;

const playRules: OptionRules<PlayOptions> = {
  sampleRate: checkedBelow,
  text: textRule,
  interruptible: booleanRule,
};

/**
 * Carries the audio of a call between its media socket and an agent, from the start of the stream to its end.
 *
 * @throws {BadParametersException} (`placed: "no"`) when an argument breaks its rule
 */
const createSession = (
  socket: MediaSocket,
  agents: Agent | WarmAgent | readonly (Agent | WarmAgent)[],
  givenOptions: SessionOptions,
): AgentSession => {
  const [given = fail("agent", "is an empty list"), ...others] = [agents].flat();
  const all = [given, ...others].map(agentOf);
  const limits = limitsOf(givenOptions);
  const options = { ...givenOptions };
  const { agentTimeout = others[0] ? timeoutInList : limits.agentTimeout } = options;
  const [opening] = all.map((each) => openingOf(options.opening, each));
  const reporter = reporterOf(options.onError);
  const { report, call } = reporter;
  const { onIdle } = options;
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
  /** The same call, once its opening is first in the queue of what is said. */
  let connected: Call | undefined;
  let resolveEnded: (end: SessionEnd) => void = () => {};
  let startedBy: MediaStart | undefined;
  /** Outcomes of those who wait to leave: the first one is that of a call that ends meanwhile. */
  const awaited = new Set<{ readonly outcome: string | undefined }>();
  /** Resolves with the call once the stream has started, and with nothing once the session has ended. */
  let resolveStarted: (call?: Call) => void = () => {};
  const starting = new Promise<Call | undefined>((resolve) => {
    resolveStarted = resolve;
  });
  const ended = new Promise<SessionEnd>((resolve) => {
    resolveEnded = resolve;
  });

  /** Ends the session, for the first reason that is given; no timer, socket or tool is left. */
  const end = (reason: EndReason, outcome = [...awaited][0]?.outcome): void => {
    if (isOver) return;
    isOver = true;
    timers.stop();
    started?.stop(reason === "hung_up");
    taken?.close();
    // Nobody else can take over any more. What a stream has no right to stays open, as below.
    if (started || !options.service) for (const other of others) takeConnection(other)?.close();
    withoutThrowing(() => media.close(normalEnds.includes(reason) ? 1000 : 1011, reason));
    const metrics = meter.metrics;
    emit("onMetrics", metrics);
    const { played = 0, duration = opening?.audio ? durationOf(opening.audio) : 0 } =
      started?.voice.opening() ?? {};
    const ending = {
      reason,
      metrics,
      context,
      ...(outcome !== undefined && { outcome }),
      ...(opening && { opening: { played, duration } }),
    };
    resolveStarted();
    emit("onEnd", ending);
    resolveEnded(ending);
  };

  /** The callee is on the line. */
  const onStart = (start: MediaStart, verified: Context): void => {
    startedBy = start;
    context = options.context ?? verified;
    const { sample_rate: sampleRate } = start.data;
    meter.started();
    timers.clear("start");
    timers.set("duration", limits.maxDuration, () => end("too_long"));
    const waitForAgent = () => timers.set("agent", agentTimeout, () => endOrReplace("agent_slow"));
    const open = (one: Agent | WarmAgent) =>
      takeConnection(one) ?? new Connection(agentOf(one), { sampleRate }, options.open, clock);
    /** Has the next agent of the list take over, or ends the session. */
    const endOrReplace = (reason: EndReason) => {
      const [next] = others;
      if (!next || isOver || !started?.isReplaceable(reason)) {
        end(reason);
        return;
      }
      others.shift();
      waitForAgent();
      started.connect({ open: () => open(next), tools: agentOf(next).tools ?? {} });
    };
    waitForAgent();
    taken ??= takeConnection(given);
    started = createCall(media, taken ?? open(given), {
      tools: agentOf(given).tools ?? {},
      sampleRate,
      limits,
      emit,
      meter,
      timers,
      reporter,
      about: { session, start, context },
      opening,
      onIdle: onIdle && ((count) => call((idle: Idle) => onIdle(idle, session), { count })),
      end: endOrReplace,
    });
    call((one: MediaStart) => options.onStart?.(one, context), start);
    resolveStarted(started);
    started.connect();
    connected = started;
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
      if (isOver) return;
      started?.key();
      keys.press(key);
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
  /** Does something with the call: as soon as it is there, and never after its end. */
  const within = async <T>(work: (call: Call) => T): Promise<Awaited<T> | undefined> => {
    const inCall = connected ?? (await starting);
    return inCall && !isOver ? await work(inCall) : undefined;
  };
  const spoken = async (work: (voice: Voice) => Promise<Spoken>): Promise<Spoken> =>
    (await within(({ voice }) => work(voice))) ?? "refused";
  const asking =
    (name: "say" | "reply") =>
    (text?: string, how: SpeakOptions = {}) =>
      spoken((voice) => {
        checkOptions<SpeakOptions>(how, { interruptible: booleanRule });
        return voice.ask(name, text, how);
      });
  const session: AgentSession & SessionInternals = {
    [sessionParts]: { clock, opening: options.opening },
    [playAtOnce]: async (audio, sampleRate) => {
      const own = ownAudioOf(audio, sampleRate);
      const how = { interruptible: false, isAtOnce: true };
      return spoken((voice) => voice.play(own, undefined, how));
    },
    [listenTo]: (listener) => within(({ voice }) => voice.listen(listener)),
    ended,
    get metrics() {
      return meter.metrics;
    },
    say: asking("say"),
    reply: asking("reply"),
    play: async (audio, given) => {
      checkOptions<PlayOptions>(given, playRules);
      const { sampleRate, text, ...how } = given;
      const own = ownAudioOf(audio, sampleRate);
      return spoken((voice) => voice.play(own, text, how));
    },
    addContext: (text) => within(({ voice }) => voice.addNote("addContext", text)),
    setInstructions: (text) => within(({ voice }) => voice.addNote("setInstructions", text)),
    interrupt: () => within((inCall) => inCall.interrupt()),
    press: async (keys) => {
      if (!isText(keys) || !/^[0-9A-D*#w]{1,32}$/.test(keys)) {
        fail("keys", "must be 1 to 32 of 0-9, A-D, *, # and w");
      }
      if (!options.press) throw new AgentException("not_supported");
      await within(() => startedBy && options.press?.(keys, startedBy, session));
    },
    leave: async (given, how = {}) => {
      checkOptions<LeaveOptions>(how, { interruptible: booleanRule, before: functionRule });
      const { interruptible = true, before } = how;
      const own = { outcome: given };
      if (!before) awaited.add(own);
      const last = async () => {
        const run = async () => before?.();
        await (clock.holdWith?.(own, run) ?? clock.hold(run()));
        end("left", given);
      };
      const leaving = within(({ voice }) => voice.leave(interruptible, last));
      if ((await Promise.race([leaving, ended])) !== false) await ended;
      else {
        awaited.delete(own);
        return calledOff;
      }
    },
    close: () => end("closed"),
  };
  return session;
};

/**
 * Connects an agent to a call: sends the callee's audio to the agent and plays the agent's audio to the callee, paced
 * and silent at once when the callee interrupts. Call it before you yield to the event loop, as with `streamSession`.
 *
 * It always ends, for one of the reasons of `EndReason`, and releases both sockets. It throws and rejects nothing but
 * what is documented here: all other errors go to `onError`.
 *
 * @param socket - the call's media socket, already accepted
 * @param agent - the agent, or what `warmAgent` returned, which one call can take; of a list, the next one takes over
 * while the one before can't be reached, refuses, is lost or is slow to be ready, and none of its audio was heard
 * @param options - functions to call, and limits
 * @throws {BadParametersException} (`placed: "no"`: this places no call) when an argument, an option or a tool breaks
 * its rule; a warm agent stays connected then
 *
 * @example Connect an agent to a call
 * ```ts
 * import { connectAgent, openaiRealtime } from "outdial/agents";
 * import type { MediaSocket } from "outdial/flows";
 *
 * const agent = openaiRealtime({
 *   apiKey: "sk-key",
 *   instructions: "Say at once that you are a machine, and that the call isn't recorded.",
 * });
 * const serve = (socket: MediaSocket) =>
 *   connectAgent(socket, agent, {
 *     onTranscript: ({ who, text, final }) => final && console.log(who, text),
 *     onEnd: ({ reason }) => console.log(reason),
 *     onError: console.error,
 *     maxDuration: 300_000,
 *   });
 *
 * // In Deno: serve(Deno.upgradeWebSocket(request).socket). Here, a socket of nothing:
 * const socket = Object.assign(new EventTarget(), { readyState: 1, send: () => {}, close: () => {} });
 * const session = serve(socket);
 * session.close(); // closed
 * ```
 * @see docs/agents.md
 */
export const connectAgent = (
  socket: MediaSocket,
  agent: Agent | WarmAgent | readonly (Agent | WarmAgent)[],
  options: SessionOptions = {},
): AgentSession => {
  if (!socket || !isFunction(socket.addEventListener)) fail("socket", "must be a WebSocket");
  return createSession(socket, agent, options);
};
