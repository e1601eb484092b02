import type { MediaStart } from "../../flows/media/service.ts";
import { type StreamSession, streamSession } from "../../flows/media/session.ts";
import type { MediaSocket } from "../../flows/media/socket.ts";
import type { Agent, AgentEvent, Formats, ToolCall } from "../agent.ts";
import type { AudioFormat } from "../audio/format.ts";
import { AgentException } from "../exception.ts";
import { Player } from "../player/player.ts";
import { type Gone, Link } from "../socket/link.ts";
import { openSocket } from "../socket/open.ts";
import { hangUp } from "../tool.ts";
import { Ear } from "./ear.ts";
import { Meter } from "./metrics.ts";
import { type EndReason, type TalkEnd, type TalkOptions, type Times, timesOf } from "./options.ts";
import { Timers } from "./timers.ts";
import { Toolbox } from "./toolbox.ts";
import { Voice } from "./voice.ts";

/** How long what was said last may take to be heard, in ms. */
const goodbyeWithin = 30_000;

/** Ends that nobody has to look into. */
const fine: ReadonlySet<EndReason> = /* @__PURE__ */ new Set<EndReason>([
  "hung_up",
  "agent_hung_up",
  "agent_ended",
  "closed",
]);

/** The two ends of a talk, once the stream has started. */
interface Ends {
  readonly link: Link;
  readonly player: Player;
  readonly ear: Ear;
  readonly stream: AudioFormat;
  /** Once the agent is ready. */
  readonly voice?: Voice;
}

/** A callee and an agent who talk: what is read on one side, done on the other. */
export class Conversation {
  readonly ended: Promise<TalkEnd>;
  readonly meter: Meter = new Meter();
  readonly #agent: Agent;
  readonly #options: TalkOptions;
  readonly #times: Times;
  readonly #session: StreamSession;
  readonly #timers = new Timers();
  readonly #tools: Toolbox;
  readonly #warm: Link | undefined;
  #ends: Ends | undefined;
  /** The agent's wish to hang up, until its goodbye was heard. */
  #goodbye: ToolCall | undefined;
  /** When there was the last sign of the agent's life. */
  #signAt = 0;
  #isEnding = false;
  #isOver = false;
  #resolve: (end: TalkEnd) => void = () => {};

  constructor(socket: MediaSocket, agent: Agent, warm: Link | undefined, options: TalkOptions) {
    this.#times = timesOf(options);
    this.#agent = agent;
    this.#options = options;
    this.#warm = warm;
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#tools = new Toolbox(agent.tools ?? {}, this.#times.toolsWithin, this.meter, {
      onResult: (result) => this.#ends?.link.send(this.#ends.link.codec.toolResult(result)),
      onError: (error) => this.#report(error),
    });
    const { chunk_size, form, onMessage } = options;
    const handlers = {
      onStart: (start: MediaStart) => this.#begin(start),
      onAudio: ({ bytes }: { readonly bytes: Uint8Array<ArrayBuffer> }) =>
        this.#ends?.ear.hear(bytes),
      onMessage,
      onClose: () => this.end("hung_up"),
      onError: (error: unknown) => this.#report(error),
    };
    this.#session = streamSession(socket, handlers, { chunk_size, form });
    this.#timers.after("start", this.#times.startWithin, () => this.end("no_start"));
  }

  /** Ends it, for the first reason that is given; nothing stays: no timer, no socket, no tool. */
  end(reason: EndReason): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timers.stop();
    this.#tools.stop();
    this.#ends?.player.stop();
    this.#ends?.link.close();
    this.#warm?.close();
    this.#session.close(fine.has(reason) ? 1000 : 1011, reason);
    const end = { reason, metrics: this.meter.metrics };
    this.#tell(this.#options.onMetrics, end.metrics);
    this.#tell(this.#options.onEnd, end);
    this.#resolve(end);
  }

  #report(error: unknown): void {
    (async () => this.#options.onError?.(error))().catch(() => {});
  }

  #tell<T>(handler: ((news: T) => unknown) | undefined, news: T): void {
    (async () => handler?.(news))().catch((error) => this.#report(error));
  }

  /** The callee is on the line. */
  #begin(start: MediaStart): void {
    const { sample_rate } = start.data;
    const { open = openSocket, chunk_size = 500, onStart } = this.#options;
    const stream = { encoding: "pcm", sample_rate } as const;
    this.meter.started();
    this.#timers.never("start");
    this.#timers.after("longest", this.#times.longest, () => this.end("too_long"));
    this.#timers.after("agent", this.#times.agentWithin, () => this.end("agent_slow"));
    const link = this.#warm ?? new Link(this.#agent, { sample_rate }, open);
    const player = new Player(this.#session, {
      sample_rate,
      chunk_size,
      continuous: link.codec.continuous ?? false,
      onSent: (late) => this.meter.sent(late),
    });
    this.#ends = { link, player, stream, ear: new Ear(stream, this.meter) };
    this.#tell(onStart, start);
    link.listen({
      onEvent: (event, at) => this.#happen(event, at),
      onSign: (at) => {
        this.#signAt = at;
      },
      onError: (error) => this.#report(error),
      onGone: (reason) => this.#leave(reason),
    });
    link.answered();
  }

  #happen(event: AgentEvent, at: number): void {
    const ends = this.#ends;
    if (this.#isOver || !ends) return;
    switch (event.type) {
      case "ready":
        this.#ready(ends, ends.link.codec.formats);
        break;
      case "audio":
        this.meter.audio.dropped += ends.voice?.say(event.audio, event.item, event.turn) ?? 0;
        break;
      case "turn":
        ends.player.begin(event.turn);
        break;
      case "done":
        ends.voice?.done(event.turn);
        break;
      case "interrupted":
        this.#interrupt(ends, at);
        break;
      case "transcript": {
        const { type: _, ...transcript } = event;
        this.#tell(this.#options.onTranscript, transcript);
        break;
      }
      case "tool":
        if (event.name === hangUp && !this.#tools.has(hangUp)) this.#sayGoodbye(ends, event);
        else this.#tools.use(event);
        break;
      case "tool_cancelled":
        this.#tools.cancel(event.id);
        break;
      case "error":
        this.#report(new AgentException("agent_complained", event.code));
        break;
      case "end":
        if (event.reason === "agent_refused") this.end(event.reason);
        else this.#endOnceHeard(ends, event.reason);
    }
  }

  #ready(ends: Ends, formats: Formats | undefined): void {
    if (!formats || ends.voice) return;
    const { link, player, ear, stream } = ends;
    this.#timers.never("agent");
    this.#ends = { ...ends, voice: new Voice(player, formats.speaks, stream) };
    ear.open(formats.hears, (audio) => link.send(link.codec.hear(audio)));
    this.#signAt = performance.now();
    this.#watch(player);
  }

  /** Ends it when nothing comes of the agent: what it has said and is still being heard counts. */
  #watch(player: Player): void {
    const { silence } = this.#times;
    this.#signAt = Math.max(this.#signAt, player.until);
    const wait = this.#signAt + silence - performance.now();
    if (wait > 0) this.#timers.after("silence", wait, () => this.#watch(player));
    else this.end("agent_silent");
  }

  /** In one turn of the event loop: the line is silent first, and then the agent is told. */
  #interrupt({ link, voice }: Ends, at: number): void {
    const goodbye = this.#goodbye;
    this.#goodbye = undefined;
    this.#timers.never("goodbye");
    const cuts = voice?.clear() ?? [];
    const took = performance.now() - at;
    link.send(link.codec.interrupted(cuts));
    if (goodbye) {
      const { id, name } = goodbye;
      const output = "The callee spoke: the call goes on.";
      link.send(link.codec.toolResult({ id, name, output, isError: true, reply: false }));
    }
    if (cuts.length === 0) return;
    const truncated = cuts.reduce((sum, { heard, of }) => sum + of - heard, 0);
    this.meter.interrupted(took, truncated);
    this.#tell(this.#options.onInterrupted, { truncated });
  }

  /** Hangs up, once what the agent says was heard, unless the callee speaks meanwhile. */
  #sayGoodbye({ player }: Ends, call: ToolCall): void {
    this.#goodbye = call;
    const end = () => {
      if (this.#goodbye === call) this.end("agent_hung_up");
    };
    this.#timers.after("goodbye", goodbyeWithin, end);
    player.drained().then(end);
  }

  #endOnceHeard({ player }: Ends, reason: EndReason): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const end = () => this.end(reason);
    this.#timers.after("ending", goodbyeWithin, end);
    player.rest();
    player.drained().then(end);
  }

  #leave(reason: Gone): void {
    const ends = this.#ends;
    if (this.#isEnding) return;
    if (ends?.voice && reason === "agent_ended") this.#endOnceHeard(ends, reason);
    else this.end(reason);
  }
}
