import { Playback, type PlaybackLine } from "../flows/media/playback.ts";
import { withoutThrowing } from "../lib/check.ts";
import { isSilent } from "../lib/loudness.ts";
import type { AgentEvent, Cut, EventOf, ToolResult } from "./agent.ts";
import type { EndReason } from "./agent-session.ts";
import { type AudioFormat, bytesPerMs, isFormat } from "./audio/resample.ts";
import type { Call, CallSession } from "./call-session.ts";
import type { Connection } from "./connection.ts";
import { createEnding } from "./ending.ts";
import { createInboundAudio } from "./inbound.ts";
import { AgentException, isRefusal } from "./problems.ts";
import {
  createAnnounced,
  createOutput,
  createRetries,
  createTurnReports,
  type Output,
} from "./responses.ts";
import { createIdle, createWatchdog, type Watchdog } from "./silences.ts";
import { isOwn } from "./speech.ts";
import { createToolCalls } from "./tool-calls.ts";
import { Transcripts } from "./transcripts.ts";
import { createVoice } from "./voice.ts";

/** The parts of a call that need an agent that is ready. */
interface AgentParts {
  readonly output: Output;
  readonly watchdog: Watchdog;
  /** The format of the agent's audio. */
  readonly format: AudioFormat;
}

/** Ends after which the next agent of a list takes over; so it does from one that is lost before it is ready. */
const replaceable: readonly EndReason[] = ["agent_unreachable", "agent_refused", "agent_slow"];

/** Ends before which what the agent has said is played. */
const afterLastWords: readonly EndReason[] = ["agent_ended", "session_limit", "too_many_tokens"];

/** How long a failed response or a refused message waits before it is tried again, in ms. */
const retryDelay = 500;

/** The longest code of a service's error that is read. */
const maxCode = 100;

/** Carries the audio of a call between its stream and an agent. */
export const createCall = (
  line: PlaybackLine,
  first: Connection,
  {
    tools: given,
    sampleRate,
    limits,
    emit,
    meter,
    timers,
    reporter,
    about,
    opening,
    onIdle,
    end,
  }: CallSession,
): Call => {
  const { report, thrown } = reporter;
  const stream = { encoding: "pcm", sampleRate } as const;
  let connection = first;
  let hasActed = false;
  /** Whether the agent's audio never stops. */
  const isContinuous = () => connection.read((codec) => codec.continuous) ?? false;
  const playback = new Playback(line, {
    sampleRate,
    chunkSize: limits.chunkSize,
    get isContinuous() {
      return isContinuous();
    },
    onSent: (late) => meter.sent(late),
  });
  const transcripts = new Transcripts({
    ms: () => meter.ms,
    isKept: () => Object.keys(given).length > 0,
    onTranscript: (transcript) => emit("onTranscript", transcript),
  });
  /** Nothing until the agent is ready. */
  let parts: AgentParts | undefined;
  /** The agent has ended the conversation: what it has said is still played. */
  let isEnding = false;
  /** Whether a response has begun in the last message, of which no tool call has come. */
  let hasBegun = false;
  /** Whether audible audio or a tool call has come of the last response that has begun. */
  let hasOutput: boolean | undefined;
  /** When the last audible audio is played, by the clock. */
  let audibleUntil = Number.NEGATIVE_INFINITY;
  /** When the last audio of the agent has come, or its last response has begun. */
  let newsAt = Number.NEGATIVE_INFINITY;
  /** Ends the silence of both sides. */
  let touch: ((ms?: number) => void) | undefined;
  /** Resolves once the opening was said, or dropped. */
  let opened: Promise<unknown> | undefined;
  /** Whether the response that has failed is asked for again. */
  let isRetried = false;
  /** Whether the agent reports when the callee has finished. */
  let reportsStop = false;

  /** When what the callee hears of the agent ends or ended, by the clock. */
  const speaksUntil = () => Math.min(audibleUntil, playback.until);
  const isHeard = () => speaksUntil() > timers.now();
  const overAt = () => voice.overAt();
  const input = createInboundAudio(stream, meter, timers, limits.interruptAfter, isHeard, overAt);
  const ending = createEnding(playback, timers, input);
  const announced = createAnnounced(playback, timers);

  const sendResult = (result: ToolResult): void =>
    connection.send("tool_result", (codec) => codec.toolResult(result));

  const tools = createToolCalls(
    {
      tools: () => given,
      timeout: limits.toolTimeout,
      onResult: (result, took, args) => {
        const { name, isError } = result;
        emit("onTool", { name, args, ms: meter.ms, took, isError });
        meter.toolCalled(tools.has(name) ? name : "unknown", took, isError);
        sendResult(result);
        announced.next();
        parts?.watchdog.expect();
        sendDue();
      },
      onError: (error, isThrown) => (isThrown ? thrown : report)(error),
      onHangUp: (settle) => {
        const hangUp = (isDue: boolean) => settle(isDue) && end("agent_hung_up");
        ending.add(hangUp, true, () => tools.isBusy() || voice.isSaying());
      },
      send: sendResult,
      isWaiting: () => voice.isWaiting(),
    },
    timers,
    { ...about, transcripts: transcripts.final },
  );

  /**
   * Sends what is due of the agent's codec, once the agent may speak: nobody is talked over.
   *
   * @param delay - of what is tried again, after the agent's own audio
   */
  const sendDue = (delay = 0): void => {
    const at = delay && Math.max(timers.now(), playback.until) + delay;
    const dueAt = () => Math.max(at, input.silentAt());
    timers.wait("due", dueAt, () => {
      if (tools.isBusy() || tools.isHangingUp() || voice.isLeaving()) return;
      connection.send("due", (codec) => codec.due?.() ?? []);
    });
  };

  const retries = createRetries(limits.retries, timers, {
    silentAt: input.silentAt,
    retry: () => connection.send("retry", (codec) => codec.retry?.() ?? []),
    onLast: () => end("agent_silent"),
  });

  const turns = createTurnReports(
    timers,
    speaksUntil,
    () => playback.isOpen,
    (turn) => emit("onTurn", turn),
  );

  const onEnd = (reason: EndReason): void => {
    if (isEnding) return;
    isEnding = !!parts && afterLastWords.includes(reason);
    if (isEnding) {
      playback.endAll();
      ending.add(() => end(reason));
    } else end(reason);
  };

  const voice = createVoice({
    playback,
    stream,
    limits,
    timers,
    connection: () => connection,
    isReady: () => !!parts,
    hasActed: () => hasActed,
    speaksUntil,
    newsAt: () => newsAt,
    input,
    ending,
    onPlay: (item, text) => {
      audibleUntil = playback.until;
      transcripts.audio(item);
      if (text) transcripts.add({ who: "agent", text, final: true, item });
    },
  });

  const onReady = (begins: "agent" | "callee" = "agent"): void => {
    const formats = connection.read((codec) => codec.formats);
    if (!formats || !withoutThrowing(() => isFormat(formats.input) && isFormat(formats.output))) {
      connection.fail("formats");
      return;
    }
    timers.clear("agent");
    const watchdog = createWatchdog(limits.silenceTimeout, timers, {
      playback,
      connection,
      until: speaksUntil,
      isBusy: tools.isBusy,
      onSilent: () => end("agent_silent"),
    });
    const output = createOutput(playback, formats.output, stream, isContinuous());
    parts = { output, watchdog, format: formats.output };
    if (begins === "agent") watchdog.expect();
    meter.isGreeting = begins === "agent";
    voice.ready();
    if (opening?.audio) connection.answered();
    if (onIdle) {
      touch ??= createIdle(limits.idleTimeout, timers, {
        until: speaksUntil,
        isBusy: () =>
          tools.isBusy() || playback.isOpen || voice.isBusy() || input.silentAt() > timers.now(),
        onIdle,
      });
    }
    input.open(formats.input, (audio) => connection.send("encode", (codec) => codec.encode(audio)));
  };

  const onAudio = (
    { output, watchdog, format }: AgentParts,
    { audio, item, response }: EventOf<"audio">,
  ): void => {
    const isLate = playback.isCancelled(response);
    // Nothing is said to a greeting: the agent stops, and what comes later of its response is dropped, too.
    if (voice.isListening() && !isLate) {
      output.end(response, true);
      connection.send("cancel", (codec) => codec.cancel?.([]) ?? []);
    }
    const isPlayed = !(isLate || voice.isListening());
    if (!isPlayed) announced.end();
    const isAudible = isPlayed && !isSilent(audio, format.encoding);
    if (isPlayed) {
      transcripts.audio(item);
      newsAt = timers.now();
      voice.output(audio.length / bytesPerMs(format), isAudible);
    }
    meter.audio.dropped += isPlayed
      ? output.play(audio, item, response)
      : audio.length / bytesPerMs(format);
    if (isAudible) {
      announced.audio();
      hasOutput = hasActed = true;
      watchdog.output();
      audibleUntil = playback.until;
      const latency = meter.responded();
      if (latency !== undefined) turns.begin(latency);
    } else if (isPlayed && isContinuous()) watchdog.alive();
  };

  /** If a response has failed or was empty, the callee still waits for one. */
  const onResponseDone = (
    { output, watchdog }: AgentParts,
    { response, outcome }: EventOf<"response_done">,
  ): void => {
    const hasFailed = outcome === "failed";
    if (!outcome) retries.reset();
    watchdog.done(!hasFailed && (outcome !== undefined || hasOutput !== false));
    announced.end();
    output.end(response, outcome === "cancelled");
    hasOutput = undefined;
    if (!isRetried) voice.done(outcome, response);
    isRetried = false;
    sendDue(hasFailed ? retryDelay : 0);
  };

  const ofAgent = (cuts: readonly Cut[]) => cuts.filter((cut) => !isOwn(cut));

  /** Silences the line for the application, or our own audio for a callee to whom the agent yields by itself. */
  const silence = (by: "application" | "callee"): void => {
    const cuts = parts?.output.clear() ?? playback.clear();
    connection.send("interrupt", (codec) =>
      codec.cancel ? codec.cancel(ofAgent(cuts)) : codec.interrupted(ofAgent(cuts)),
    );
    transcripts.cut(cuts);
    voice.cut(cuts, by);
  };

  /** A turn of the callee has begun or ended. */
  const onTurn = (): void => {
    ending.callOff();
    announced.next();
    tools.known();
  };

  /** In one turn of the event loop: silences the line first, and then sends the interruption to the agent. */
  const onInterrupted = (at: number): void => {
    if (voice.isProtected()) return;
    const cuts = parts?.output.clear() ?? [];
    const took = timers.now() - at;
    connection.send("interrupted", (codec) => codec.interrupted(ofAgent(cuts)));
    // It could not be sent, which has ended the session.
    if (connection.isOver) return;
    onTurn();
    parts?.watchdog.speech();
    input.speech(true);
    transcripts.cut(cuts);
    turns.end(cuts.length > 0);
    voice.cut(cuts, "callee");
    if (cuts.length === 0) return;
    const truncated = cuts.reduce((sum, { played, duration }) => sum + duration - played, 0);
    meter.interrupted(took, truncated);
    emit("onInterrupted", { ms: meter.ms, truncated });
  };

  const onSpeechStopped = (): void => {
    reportsStop = true;
    retries.reset();
    onTurn();
    input.speech(false);
    parts?.watchdog.speechStopped();
    sendDue();
  };

  const onTranscript = (event: EventOf<"transcript">): void => {
    const { type: _, response, ...transcript } = event;
    if (transcript.who === "callee" && transcript.text && !reportsStop) {
      parts?.watchdog.transcript();
      const isTurn = transcript.final && input.silentAt() > timers.now();
      ending.callOff(isTurn);
      if (isTurn) tools.known();
      if (transcript.final) input.speech(false);
    }
    if (transcript.who === "callee") announced.next();
    else if (!isContinuous() && !voice.isListening() && announced.text(event))
      newsAt = timers.now();
    // Where responses have names, the text of an earlier one may be late.
    if (transcript.who === "agent" && !transcript.interrupted && !response) tools.known();
    transcripts.add(transcript, playback.isCancelled(response));
  };

  const onTool = (event: EventOf<"tool">): void => {
    if (!tools.isNew(event) || playback.isCancelled(event.response)) return;
    hasOutput = hasActed = true;
    hasBegun = false;
    parts?.watchdog.output();
    tools.run(event);
  };

  const onEvent = (event: AgentEvent, at: number): void => {
    if (connection.isOver) return; // An earlier event of the same message has ended it.
    switch (event.type) {
      case "ready":
        if (!parts) onReady(event.begins);
        break;
      case "audio":
        if (parts) onAudio(parts, event);
        break;
      case "response_started":
        hasBegun = true;
        hasOutput = false;
        newsAt = timers.now();
        playback.begin(event.response);
        ending.callOff(false);
        input.answered();
        retries.started();
        voice.started(event.request);
        parts?.watchdog.expect();
        break;
      case "response_done":
        if (parts) onResponseDone(parts, event);
        break;
      case "failed":
        isRetried = event.transient && !hasOutput && retries.failed();
        break;
      case "interrupted":
        onInterrupted(at);
        break;
      case "speech":
        onTurn();
        input.speech();
        if (voice.isOwn()) silence("callee");
        break;
      case "speech_stopped":
        onSpeechStopped();
        break;
      case "transcript":
        onTranscript(event);
        break;
      case "tool":
        onTool(event);
        break;
      case "tool_cancelled":
        tools.cancel(event.id);
        ending.callOff();
        sendDue();
        break;
      case "usage":
        if (meter.used(event) > limits.maxTokens) onEnd("too_many_tokens");
        break;
      case "refused":
        voice.refused(event.id);
        break;
      case "error": {
        const code = String(event.code).slice(0, maxCode);
        report(connection.exception("agent_complained", code));
        if (isRefusal(code, !!parts)) end("agent_refused");
        else sendDue(retryDelay);
        break;
      }
      case "end":
        onEnd(event.reason);
    }
  };

  return {
    connect: (next) => {
      if (next) {
        connection.close();
        for (const name of ["silence", "due", "retry"]) timers.clear(name);
        parts = hasOutput = undefined;
        reportsStop = false;
        input.close();
        retries.reset();
        playback.endAll();
        given = next.tools;
        connection = next.open();
        voice.restart();
      }
      // First: a warm agent may be ready already, and its notes come before its greeting.
      opened ??= opening && voice.open(opening).catch(report);
      const current = connection;
      connection.listen({
        onEvent: (event, at) => {
          if (current === connection) onEvent(event, at); // Else an earlier event of its message has ended it.
        },
        onMessage: () => {
          parts?.watchdog.message();
          // A response that begins with a call of a tool may be named by the codec alone.
          if (hasBegun) tools.known();
          hasBegun = false;
        },
        onError: (error) => (error instanceof AgentException ? report : thrown)(error),
        onEnd,
      });
      const isAfterReady = opening?.text && connection.read((codec) => codec.readyBeforeAnswered);
      if (!isAfterReady) connection.answered();
      else if (!opening.audio) opened?.then(() => connection.answered());
    },
    isReplaceable: (reason) =>
      !hasActed && (replaceable.includes(reason) || (reason === "agent_lost" && !parts)),
    voice,
    key: () => touch?.(),
    interrupt: () => silence("application"),
    input: (audio) => {
      const soundMs = input.push(audio);
      voice.input(audio, soundMs > 0);
      if (soundMs === 0) return;
      touch?.(soundMs);
      parts?.watchdog.sound(soundMs);
      if (speaksUntil() <= timers.now()) meter.sound(soundMs);
    },
    stop: (isLeft) => {
      ending.stop();
      tools.stop();
      turns.end(isHeard());
      const cuts = playback.stop(isLeft);
      transcripts.cut(cuts);
      voice.cut(cuts, "end");
      connection.close();
    },
  };
};
