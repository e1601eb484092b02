import { chunkSizeOf } from "../../flows/media/options.ts";
import type { MediaStart } from "../../flows/media/service.ts";
import type { MediaSocket } from "../../flows/media/socket.ts";
import { type Wire, wireOn } from "../../flows/media/wire.ts";
import { quietly } from "../../rules/quietly.ts";
import { type Teller, tellerOf } from "../../rules/teller.ts";
import type { Agent, AgentEvent } from "../agent.ts";
import { bytesPerMs, isFormat } from "../audio/format.ts";
import { AgentException } from "../exception.ts";
import { Player } from "../player/player.ts";
import { Link } from "../socket/link.ts";
import type { Gone } from "../socket/news.ts";
import { openSocket } from "../socket/open.ts";
import { hangUp } from "../tool.ts";
import { Ear } from "./ear.ts";
import { Goodbye } from "./end/goodbye.ts";
import { onceHeard } from "./end/once-heard.ts";
import { Watch } from "./end/watch.ts";
import type { Ends } from "./ends.ts";
import { Meter } from "./metrics.ts";
import { mouthOf } from "./mouth.ts";
import { type EndReason, type TalkEnd, type TalkOptions, type Times, timesOf } from "./options.ts";
import { Timers } from "./timers.ts";
import { Toolbox } from "./tools/toolbox.ts";
import { Voice } from "./voice.ts";
import { type Called, taken } from "./warm.ts";

/** Ends that nobody has to look into. */
const fine: ReadonlySet<EndReason> = /* @__PURE__ */ new Set<EndReason>([
  "hung_up",
  "agent_hung_up",
  "agent_ended",
  "closed",
]);

/** A callee and an agent who talk: what is read on one side, done on the other. */
export class Conversation {
  readonly ended: Promise<TalkEnd>;
  readonly meter: Meter = new Meter();
  readonly #agent: Agent;
  readonly #options: TalkOptions;
  readonly #report: (error: unknown) => void;
  readonly #tell: Teller["tell"];
  readonly #times: Times;
  readonly #chunkSize: number;
  readonly #wire: Wire;
  readonly #timers = new Timers();
  readonly #tools: Toolbox;
  readonly #warm: Link | undefined;
  #ends: Ends | undefined;
  #isEnding = false;
  #isOver = false;
  #resolve: (end: TalkEnd) => void = () => {};

  constructor(socket: MediaSocket, { who, warm }: Called, options: TalkOptions) {
    this.#times = timesOf(options);
    this.#chunkSize = chunkSizeOf(options);
    this.#agent = who;
    this.#options = { ...options };
    ({ report: this.#report, tell: this.#tell } = tellerOf(this.#options.onError));
    this.ended = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#tools = new Toolbox(who.tools ?? {}, this.#times.toolsWithin, this.meter, {
      onResult: (result) => {
        this.#ends?.link.ask("tool_result", (codec) => codec.toolResult(result));
        this.#ends?.watch?.expect();
      },
      onError: this.#report,
    });
    const handlers = {
      onStart: (start: MediaStart) => this.#begin(start),
      onAudio: ({ bytes }: { readonly bytes: Uint8Array<ArrayBuffer> }) => this.#hear(bytes),
      onMessage: options.onMessage,
      onClose: () => this.end("hung_up"),
      onError: this.#report,
    };
    this.#wire = wireOn(socket, handlers, options);
    this.#timers.after("start", this.#times.startWithin, () => this.end("no_start"));
    this.#warm = warm && taken(warm); // Last: what is thrown above leaves it to who has it.
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
    const code = fine.has(reason) ? 1000 : 1011;
    quietly(() => this.#wire.close(code, reason));
    const end = { reason, metrics: this.meter.metrics };
    this.#tell(this.#options.onMetrics, end.metrics);
    this.#tell(this.#options.onEnd, end);
    this.#resolve(end);
  }

  /** The callee is on the line. */
  #begin(start: MediaStart): void {
    const { sample_rate } = start.data;
    const { open = openSocket, onStart } = this.#options;
    const stream = { encoding: "pcm", sample_rate } as const;
    this.meter.started();
    this.#timers.never("start");
    this.#timers.after("longest", this.#times.longest, () => this.end("too_long"));
    this.#timers.after("agent", this.#times.agentWithin, () => this.end("agent_slow"));
    const link = this.#warm ?? new Link(this.#agent, { sample_rate }, open);
    const player = new Player(mouthOf(this.#wire), {
      sample_rate,
      chunk_size: this.#chunkSize,
      continuous: link.look((codec) => codec.continuous) ?? false,
      onSent: (late) => this.meter.sent(late),
    });
    const goodbye = new Goodbye(link, player, this.#timers, () => this.end("agent_hung_up"));
    this.#ends = { link, player, stream, goodbye, ear: new Ear(stream, this.meter) };
    this.#tell(onStart, start);
    link.listen({
      onEvent: (event, at) => this.#happen(event, at),
      onSign: (at) => this.#ends?.watch?.sign(at),
      onError: this.#report,
      onGone: (reason) => this.#leave(reason),
    });
    link.answered();
  }

  #hear(bytes: Uint8Array<ArrayBuffer>): void {
    this.#ends?.ear.hear(bytes);
    this.#ends?.watch?.hear(bytes, bytes.length / bytesPerMs(this.#ends.stream));
  }

  #happen(event: AgentEvent, at: number): void {
    const ends = this.#ends;
    if (this.#isOver || !ends) return;
    switch (event.type) {
      case "ready":
        this.#ready(ends, event.begins ?? "agent");
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
      case "speech":
        ends.goodbye.off();
        break;
      case "transcript": {
        const { type: _, ...transcript } = event;
        this.#tell(this.#options.onTranscript, transcript);
        break;
      }
      case "tool":
        if (event.name === hangUp && !this.#tools.has(hangUp)) ends.goodbye.say(event);
        else this.#tools.use(event).catch(this.#report);
        break;
      case "tool_cancelled":
        this.#tools.cancel(event.id);
        break;
      case "error":
        this.#report(ends.link.complaint("agent_complained", event.code));
        break;
      case "end":
        if (event.reason === "agent_refused") this.end(event.reason);
        else this.#endOnceHeard(ends, event.reason);
    }
  }

  #ready(ends: Ends, begins: "agent" | "callee"): void {
    if (ends.voice) return;
    const { link, player, ear, stream } = ends;
    const formats = link.look((codec) => codec.formats);
    if (!formats || !quietly(() => isFormat(formats.hears) && isFormat(formats.speaks))) {
      this.#report(new AgentException("agent_failed", "formats"));
      this.end("agent_failed");
      return;
    }
    this.#timers.never("agent");
    const watch = new Watch(player, this.#times.silence, this.#timers, {
      isBusy: () => this.#tools.isBusy,
      onDoubt: () => link.ask("probe", ({ probe }) => (probe ? [probe] : [])),
      onSilent: () => this.end("agent_silent"),
    });
    if (begins === "agent") watch.expect();
    this.#ends = { ...ends, voice: new Voice(player, formats.speaks, stream), watch };
    ear.open(formats.hears, (audio) => link.ask("hear", (codec) => codec.hear(audio)));
  }

  /** In one turn of the event loop: the line is silent first, and then the agent is told. */
  #interrupt({ link, voice, goodbye }: Ends, at: number): void {
    const cuts = voice?.clear() ?? [];
    const took = performance.now() - at;
    link.ask("interrupted", (codec) => codec.interrupted(cuts));
    goodbye.off();
    if (cuts.length === 0) return;
    const truncated = cuts.reduce((sum, { heard, of }) => sum + of - heard, 0);
    this.meter.interrupted(took, truncated);
    this.#tell(this.#options.onInterrupted, { truncated });
  }

  #endOnceHeard({ player }: Ends, reason: EndReason): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    player.rest();
    onceHeard(player, this.#timers, "ending", () => this.end(reason));
  }

  #leave(reason: Gone): void {
    const ends = this.#ends;
    if (this.#isEnding) return;
    if (ends?.voice && reason === "agent_ended") this.#endOnceHeard(ends, reason);
    else this.end(reason);
  }
}
