import type { Context } from "../callbacks/signed-url.ts";
import type { MediaStart } from "../flows/media/messages.ts";
import { Playback } from "../flows/media/playback.ts";
import { type AudioFrame, type MediaSocket, streamOf } from "../flows/media/session.ts";
import { withoutThrowing } from "../lib/check.ts";
import { reporterOf } from "../lib/report.ts";
import { createTimers } from "../lib/timers.ts";
import type { Agent, AgentEvent, Cut, ToolCall } from "./agent.ts";
import { isSilent, withoutSilence } from "./audio/loudness.ts";
import { type AudioFormat, bytesPerMs, Converter, isFormat } from "./audio/resample.ts";
import { Connection, type ConnectionEnd } from "./connection.ts";
import { createInboundAudio, type InboundAudio } from "./inbound-audio.ts";
import { Meter, type SessionMetrics } from "./metrics.ts";
import { openSocket } from "./open-socket.ts";
import { type EndReason, limitsOf, type SessionEnd, type SessionOptions } from "./options.ts";
import { agentOf, takeConnection, type WarmAgent } from "./preconnect.ts";
import { isRefusal } from "./refusals.ts";
import { createToolRunner, hangUp } from "./tools.ts";
import { Transcripts } from "./transcripts.ts";
import { createWatchdog, type Watchdog } from "./watchdog.ts";

/** A session of a callee with an agent. */
export interface AgentSession {
  /** Resolves once the session has ended, with the reason; it never rejects. On Workers, `waitUntil` it. */
  readonly ended: Promise<SessionEnd>;
  /** The figures so far. */
  readonly metrics: SessionMetrics;
  /** Ends the call at once. */
  readonly close: () => void;
}

/** Ends after which the stream is closed with 1000. */
const normalEnds: ReadonlySet<EndReason> = new Set<EndReason>([
  "hung_up",
  "agent_hung_up",
  "agent_ended",
  "closed",
]);

/** How much later than by our clock the last audio may be played, in ms. */
const maxDelay = 30_000;

/** A backlog of audio that never stops is shortened above this, in ms. */
const maxBacklog = 250;

/** The stretches of silence that shorten it, in ms. */
const stretch = 20;

/** The agent's audio, on its way to the playback. */
interface Output {
  /** Plays audio; returns the milliseconds that are dropped. */
  readonly play: (audio: Uint8Array<ArrayBuffer>, item?: string, response?: string) => number;
  /** All of a response has come. */
  readonly end: (response: string | undefined) => void;
  /** Silences the line at once; returns what was cut off. */
  readonly clear: () => readonly Cut[];
}

export const createOutput = (
  playback: Playback,
  from: AudioFormat,
  to: AudioFormat,
  isContinuous: boolean,
): Output => {
  let converter = new Converter(from, to);
  /** The audio that was converted last: the converter still holds its end. */
  let last:
    | { readonly item?: string | undefined; readonly response?: string | undefined }
    | undefined;
  return {
    play: (audio, item, response) => {
      if (playback.isCancelled(response)) return audio.length / bytesPerMs(from);
      const bytes = converter.push(audio, item !== last?.item);
      last = { item, response };
      const isBehind = playback.isEnding || playback.until - performance.now() > maxBacklog;
      const kept =
        isContinuous && isBehind ? withoutSilence(bytes, bytesPerMs(to) * stretch) : bytes;
      const removed = (bytes.length - kept.length) / bytesPerMs(to);
      return removed + playback.play(kept, item, response);
    },
    end: (response) => {
      if (last && (response === undefined || response === last.response)) {
        playback.play(converter.flush(), last.item, last.response);
        last = undefined;
      }
      playback.end(response);
    },
    clear: () => {
      converter = new Converter(from, to);
      last = undefined;
      return playback.clear();
    },
  };
};

/** The parts of a session once the stream has started. */
interface Call {
  readonly connection: Connection;
  readonly playback: Playback;
  readonly input: InboundAudio;
  readonly stream: AudioFormat;
  /** Whether the agent's audio never stops. */
  readonly isContinuous: boolean;
}

/** Its further parts once the agent is ready. */
interface Talk extends Call {
  readonly output: Output;
  readonly watchdog: Watchdog;
  /** The format of the agent's audio. */
  readonly format: AudioFormat;
}

type State =
  /** Until the service starts the stream. */
  | { readonly stage: "waiting" }
  /** Until the agent is ready. */
  | ({ readonly stage: "connecting" } & Call)
  | ({ readonly stage: "talking" } & Talk)
  /** The agent has ended the conversation: what it has said is still played. */
  | ({ readonly stage: "ending" } & Talk)
  | { readonly stage: "over" };

type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>;

/**
 * Carries the audio of a call between its media socket and an agent.
 *
 * @throws {BadParametersException} (`placed: "no"`) when an argument breaks its rule
 */
export const createSession = (
  socket: MediaSocket,
  given: Agent | WarmAgent,
  givenOptions: SessionOptions,
): AgentSession => {
  const agent = agentOf(given);
  const limits = limitsOf(givenOptions);
  const options = { ...givenOptions };
  const { report, thrown, call } = reporterOf(options.onError);
  const meter = new Meter();
  const timers = createTimers();
  const transcripts = new Transcripts();
  let state: State = { stage: "waiting" };
  /** The call of `hang_up` that waits until everything was played. */
  let pendingHangup: ToolCall | undefined;
  /** Whether audible audio or a tool call has come of the last response that has begun. */
  let hasOutput: boolean | undefined;
  /** When the last audible audio is played, by `performance.now()`. */
  let audibleUntil = Number.NEGATIVE_INFINITY;
  let resolveEnded: (end: SessionEnd) => void = () => {};
  const ended = new Promise<SessionEnd>((resolve) => {
    resolveEnded = resolve;
  });

  /** Passes on the texts of what was cut off. */
  const markCuts = (cuts: readonly Cut[]): void => {
    for (const mark of transcripts.cut(cuts)) call(options.onTranscript, mark);
  };

  /** Ends the session, for the first reason that is given; no timer, socket or tool is left. */
  const end = (reason: EndReason): void => {
    if (state.stage === "over") return;
    const last = state;
    state = { stage: "over" };
    timers.stop();
    tools.stop();
    if (last.stage !== "waiting") {
      markCuts(last.playback.stop());
      last.connection.close();
    }
    taken?.close();
    withoutThrowing(() => media.close(normalEnds.has(reason) ? 1000 : 1011, reason));
    const metrics = meter.metrics;
    call(options.onMetrics, metrics);
    call(options.onEnd, { reason, metrics });
    resolveEnded({ reason, metrics });
  };

  /** Calls a function once everything was played, or should have been long ago. */
  const whenPlayed = (playback: Playback, name: string, work: () => void): void => {
    const from = performance.now();
    const check = () => {
      const wait = Math.max(from, playback.until) + maxDelay - performance.now();
      if (wait > 0) timers.set(name, wait, check);
      else work();
    };
    check();
    playback.played().then(work);
  };

  const endWhenPlayed = (talk: State, reason: EndReason): void => {
    if (talk.stage === "ending" || talk.stage === "over") return;
    if (talk.stage !== "talking") {
      end(reason);
      return;
    }
    state = { ...talk, stage: "ending" };
    talk.playback.endAll();
    whenPlayed(talk.playback, "ending", () => end(reason));
  };

  const answerHangup = (
    { connection }: Call,
    { id, name }: ToolCall,
    output: string,
    isError: boolean,
  ): void => {
    const result = { id, name, output, isError, reply: false };
    connection.send("tool_result", (codec) => codec.toolResult(result));
  };

  /** Hangs up once everything was played, unless the callee speaks meanwhile. */
  const hangUpWhenPlayed = (parts: Call, hangup: ToolCall): void => {
    if (pendingHangup) {
      answerHangup(parts, hangup, "The call is being ended.", false);
      return;
    }
    pendingHangup = hangup;
    whenPlayed(parts.playback, "hangup", () => {
      if (pendingHangup === hangup) end("agent_hung_up");
    });
  };

  const cancelHangup = (parts: Call): void => {
    const hangup = pendingHangup;
    pendingHangup = undefined;
    timers.clear("hangup");
    if (hangup) answerHangup(parts, hangup, "The callee spoke: the call goes on.", true);
  };

  const tools = createToolRunner(agent.tools ?? {}, limits.toolTimeout, {
    onResult: (result, took) => {
      meter.toolCalled(tools.has(result.name) ? result.name : "unknown", took, result.isError);
      if (state.stage === "waiting" || state.stage === "over") return;
      state.connection.send("tool_result", (codec) => codec.toolResult(result));
      if (state.stage === "talking") state.watchdog.expect();
    },
    onError: (error, isThrown) => (isThrown ? thrown(error) : report(error)),
  });

  const onReady = (parts: Call, begins: "agent" | "callee"): void => {
    const { connection, playback, input, stream, isContinuous } = parts;
    const formats = connection.read((codec) => codec.formats);
    if (!formats || !withoutThrowing(() => isFormat(formats.input) && isFormat(formats.output))) {
      connection.fail("formats");
      return;
    }
    timers.clear("agent");
    const watchdog = createWatchdog(limits.silenceTimeout, timers, {
      until: () => Math.min(audibleUntil, playback.until),
      isOpen: () => playback.isOpen,
      isBusy: tools.isBusy,
      probe: () => {
        const probe = connection.read((codec) => codec.probe);
        if (probe) connection.send("probe", () => [probe]);
        return !!probe;
      },
      onSilent: () => end("agent_silent"),
    });
    const output = createOutput(playback, formats.output, stream, isContinuous);
    const format = formats.output;
    state = { ...parts, stage: "talking", output, watchdog, format };
    if (begins === "agent") watchdog.expect();
    input.open(formats.input, (audio) => connection.send("encode", (codec) => codec.encode(audio)));
  };

  const onAudio = (talk: Talk, { audio, item, response }: EventOf<"audio">): void => {
    const { playback, watchdog } = talk;
    const isPlayed = !playback.isCancelled(response);
    const isAudible = isPlayed && !isSilent(audio, talk.format);
    if (isPlayed) transcripts.audio(item);
    meter.audio.dropped += talk.output.play(audio, item, response);
    if (isAudible) {
      hasOutput = true;
      watchdog.output();
      audibleUntil = playback.until;
    } else if (isPlayed && talk.isContinuous) watchdog.alive();
  };

  /** If a response has failed or was empty, the callee still waits for one. */
  const onResponseDone = (talk: Talk, { response, outcome }: EventOf<"response_done">): void => {
    const isEmpty = outcome === undefined && hasOutput === false;
    talk.watchdog.done(outcome !== "failed" && !isEmpty);
    talk.output.end(response);
    hasOutput = undefined;
  };

  /** In one turn of the event loop: silences the line first, and then sends the interruption to the agent. */
  const onInterrupted = (parts: Call, talk: Talk | undefined, at: number): void => {
    const cuts = talk?.output.clear() ?? [];
    const took = performance.now() - at;
    parts.connection.send("interrupted", (codec) => codec.interrupted(cuts));
    // It could not be sent, which has ended the session.
    if (state.stage === "over") return;
    cancelHangup(parts);
    talk?.watchdog.speech();
    parts.input.speech(true);
    markCuts(cuts);
    if (cuts.length === 0) return;
    const truncated = cuts.reduce((sum, { played, duration }) => sum + duration - played, 0);
    meter.interrupted(took, truncated);
    call(options.onInterrupted, { truncated });
  };

  const onEvent = (event: AgentEvent, at: number): void => {
    if (state.stage === "waiting" || state.stage === "over") return;
    const parts = state;
    const talk = parts.stage === "connecting" ? undefined : parts;
    switch (event.type) {
      case "ready":
        if (!talk) onReady(parts, event.begins ?? "agent");
        break;
      case "audio":
        if (talk) onAudio(talk, event);
        break;
      case "response_started":
        hasOutput = false;
        parts.playback.begin(event.response);
        talk?.watchdog.expect();
        break;
      case "response_done":
        if (talk) onResponseDone(talk, event);
        break;
      case "interrupted":
        onInterrupted(parts, talk, at);
        break;
      case "speech":
        cancelHangup(parts);
        break;
      case "speech_stopped":
        parts.input.speech(false);
        talk?.watchdog.speechStopped();
        break;
      case "transcript": {
        const { type: _, response, ...transcript } = event;
        const isCancelled = parts.playback.isCancelled(response);
        if (transcript.who === "callee" && transcript.text) talk?.watchdog.transcript();
        call(options.onTranscript, transcripts.add(transcript, isCancelled));
        break;
      }
      case "tool":
        if (!tools.isNew(event.id)) break;
        hasOutput = true;
        talk?.watchdog.output();
        if (event.name === hangUp && !tools.has(hangUp)) hangUpWhenPlayed(parts, event);
        else tools.run(event);
        break;
      case "tool_cancelled":
        tools.cancel(event.id);
        break;
      case "error":
        report(parts.connection.exception("agent_complained", event.code));
        if (isRefusal(event.code, !!talk)) end("agent_refused");
        break;
      case "end":
        if (event.reason === "agent_refused" || event.reason === "agent_lost") end(event.reason);
        else endWhenPlayed(parts, event.reason);
    }
  };

  const onConnectionEnd = (reason: ConnectionEnd): void => {
    if (state.stage === "ending") return;
    if (reason === "agent_ended" || reason === "session_limit") endWhenPlayed(state, reason);
    else end(reason);
  };

  /** The callee is on the line. */
  const onStart = (start: MediaStart, context: Context): void => {
    const { sample_rate: sampleRate } = start.data;
    const stream = { encoding: "pcm", sampleRate } as const;
    meter.started();
    timers.clear("start");
    timers.set("duration", limits.maxDuration, () => end("too_long"));
    timers.set("agent", limits.agentTimeout, () => end("agent_slow"));
    taken ??= takeConnection(given);
    const connection = taken ?? new Connection(agent, { sampleRate }, options.open ?? openSocket);
    const isContinuous = connection.read((codec) => codec.continuous) ?? false;
    const playback = new Playback(media, {
      sampleRate,
      chunkSize: limits.chunkSize,
      isContinuous,
      onSent: (late) => meter.sent(late),
    });
    const input = createInboundAudio(stream, meter, timers);
    state = { stage: "connecting", connection, playback, input, stream, isContinuous };
    call((one: MediaStart) => options.onStart?.(one, context), start);
    connection.listen({
      onEvent,
      onMessage: () => state.stage === "talking" && state.watchdog.message(),
      onError: report,
      onEnd: onConnectionEnd,
    });
    connection.answered();
  };

  const onCalleeAudio = ({ bytes }: AudioFrame): void => {
    if (state.stage === "waiting" || state.stage === "over") return;
    state.input.push(bytes);
    if (state.stage === "talking") {
      state.watchdog.input(bytes, bytes.length / bytesPerMs(state.stream));
    }
  };

  const handlers = {
    onStart,
    onAudio: onCalleeAudio,
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
  return {
    ended,
    get metrics() {
      return meter.metrics;
    },
    close: () => end("closed"),
  };
};
