import type { Playback } from "../flows/media/playback.ts";
import { fail, isText } from "../lib/check.ts";
import { textRule } from "../lib/rules.ts";
import type { Timers } from "../lib/timers.ts";
import type { AgentAbilities, AgentMessage, Codec } from "./agent.ts";
import type { SpeakOptions, Spoken } from "./agent-session.ts";
import type { AudioFormat } from "./audio/resample.ts";
import type { Connection } from "./connection.ts";
import { type Ending, maxDelay, maxGap } from "./ending.ts";
import type { InboundAudio } from "./inbound.ts";
import type { Limits } from "./options.ts";
import { durationOf, type OpeningWords, type OwnAudio, onLine } from "./own-audio.ts";
import { AgentException } from "./problems.ts";
import type { Listener } from "./session-parts.ts";
import { createSpeech, ownItem, type Speech, type Utterance } from "./speech.ts";

/** How long both sides are silent before something is said, and the agent after it was said, in ms. */
const pause = 250;

/** The same for an agent that doesn't report when a response is complete. */
const longPause = 1000;

/** The most notes that are kept for an agent that may take over, the last ones. */
const maxNotes = 1000;

/** Context or instructions for an agent, as its messages. */
type Note = (codec: Codec) => readonly AgentMessage[] | undefined;

/** What a voice has of its call. */
interface VoiceCall {
  readonly playback: Playback;
  /** The format of the line. */
  readonly stream: AudioFormat;
  readonly limits: Limits;
  readonly timers: Timers;
  /** The agent's, which that of another agent may replace. */
  readonly connection: () => Connection;
  readonly isReady: () => boolean;
  /** Whether the agent was audible, or has called a tool: no other takes over then. */
  readonly hasActed: () => boolean;
  /** When what the callee hears of the agent ends or ended, by the clock. */
  readonly speaksUntil: () => number;
  /** When the last audio of the agent has come, or its last response has begun. */
  readonly newsAt: () => number;
  /** The callee's audio. */
  readonly input: InboundAudio;
  /** Audio of the application's is queued; what is said in it. */
  readonly onPlay: (item: string, text: string | undefined) => void;
  readonly ending: Ending;
}

/** How something is said; only an opening is the first. */
interface Manner extends SpeakOptions {
  readonly keep?: boolean | undefined;
  readonly isFirst?: boolean;
  readonly isAtOnce?: boolean;
}

/** What the application says, and has the agent say. */
export interface Voice
  extends Pick<
    Speech,
    "isProtected" | "isBusy" | "isSaying" | "isOwn" | "started" | "done" | "refused" | "cut"
  > {
  readonly play: (audio: OwnAudio, text: string | undefined, how: Manner) => Promise<Spoken>;
  /** @throws {AgentException} `not_supported` */
  readonly ask: (
    name: "say" | "reply",
    text: string | undefined,
    how: SpeakOptions,
  ) => Promise<Spoken>;
  /** @throws {AgentException} `not_supported` */
  readonly addNote: (name: "addContext" | "setInstructions", text: string) => void;
  /**
   * Does the last thing of the call once it is time; returns whether it has, and a turn of the callee has not called it off.
   */
  readonly leave: (interruptible: boolean, last: () => Promise<unknown>) => Promise<boolean>;
  /** Says nothing until a listener has resolved; nothing that it is to say begins before. */
  readonly listen: <T>(listener: Listener<T>) => Promise<T | undefined>;
  /** The callee's audio, for a listener, and whether somebody speaks in it. */
  readonly input: (audio: Uint8Array<ArrayBuffer>, isSound: boolean) => void;
  /** When the agent has finished, by the clock, as far as that is known. */
  readonly overAt: () => number;
  /** Whether it says nothing, for a listener. */
  readonly isListening: () => boolean;
  /** Whether nothing is asked of the agent any more. */
  readonly isLeaving: () => boolean;
  /** Whether anybody waits for their time to leave. */
  readonly isWaiting: () => boolean;
  /** Says the first words; rejects as `ask` throws, and with `not_supported` where they were never said. */
  readonly open: (opening: OpeningWords) => Promise<unknown>;
  /** The first words, as far as they were played. */
  readonly opening: () => Pick<Utterance, "played" | "duration"> | undefined;
  /** Audio of the agent has come, of so many ms. */
  readonly output: (ms: number, isAudible: boolean) => void;
  /** The agent is ready. */
  readonly ready: () => void;
  /** Another agent is to take over. */
  readonly restart: () => void;
}

export const createVoice = ({
  playback,
  stream,
  limits,
  timers,
  connection,
  isReady,
  hasActed,
  speaksUntil,
  newsAt,
  input,
  onPlay,
  ending,
}: VoiceCall): Voice => {
  let count = 0;
  let opening: Utterance | undefined;
  /** How many wait for their time to leave, or leave. */
  let leaving = 0;
  /** Those of them whose time has not come. */
  let waiting = 0;
  /** Notes for the agent, and those that were sent, as long as another one may take over. */
  const notes: Note[] = [];
  const sentNotes: Note[] = [];
  /** Gets the callee's audio. */
  let listening: ReturnType<Listener<unknown>> | undefined;

  const agentOverAt = (rest: number) =>
    playback.isOpen ? Math.max(playback.until, newsAt()) + maxGap : speaksUntil() + rest;

  const isPlaying = ({ type, id }: Pick<Utterance, "type" | "id">) =>
    type === "audio" && playback.isPlaying(id);

  const speech = createSpeech(timers, {
    isPlaying,
    freeAt: ({ type, isFirst, isAtOnce }) => {
      if (type === "request" && !isReady()) return Number.POSITIVE_INFINITY;
      const isFree = isFirst || isAtOnce || type === "wait";
      return isFree ? 0 : Math.max(agentOverAt(pause), input.silentAt());
    },
    overAt: ({ type, id, duration, isDone, begunAt = 0 }) => {
      if (type === "wait" && !isDone) return Number.POSITIVE_INFINITY;
      if (isPlaying({ type, id })) return Math.max(begunAt, playback.until) + maxDelay;
      if (type === "audio" || (isDone && duration === 0)) return 0;
      return duration > 0 ? agentOverAt(isDone ? pause : longPause) : begunAt + limits.agentTimeout;
    },
    mute: input.mute,
  });

  const add = (
    type: Utterance["type"],
    begin: (utterance: Utterance) => void,
    { interruptible = true, keep = true, isFirst, isAtOnce }: Manner = {},
    duration = 0,
  ): Promise<Spoken> => {
    const utterance: Utterance = {
      id: ownItem(++count),
      type,
      isFirst,
      isAtOnce,
      isProtected: !interruptible,
      isKept: keep,
      begin: () => begin(utterance),
      played: 0,
      duration,
    };
    if (isFirst) opening = utterance;
    return speech.add(utterance);
  };
  const checkAbility = (name: keyof AgentAbilities, text: unknown): void => {
    if (!isText(text)) fail("text", textRule[1]);
    const isThere = connection().read((codec) => typeof codec[name] === "function");
    if (!isThere) throw new AgentException("not_supported");
  };
  const sendNotes = (): void => {
    if (!isReady()) return;
    for (const note of notes.splice(0)) {
      sentNotes.push(note);
      connection().send("note", (codec) => note(codec) ?? []);
    }
    sentNotes.splice(0, hasActed() ? Number.POSITIVE_INFINITY : sentNotes.length - maxNotes);
  };
  const addNote = (note: Note): void => {
    notes.push(note);
    sendNotes();
  };
  const play = (audio: OwnAudio, text: string | undefined, how: Manner) => {
    const begin = (utterance: Utterance) => {
      const { id } = utterance;
      for (const part of onLine(audio, stream)) utterance.duration -= playback.play(part, id, id);
      playback.end(id);
      onPlay(id, text);
      if (text) addNote((codec) => codec.addContext?.(`The callee hears a recording: ${text}`));
    };
    return add("audio", begin, how, durationOf(audio));
  };
  const ask = (name: "say" | "reply", text: string | undefined, how: Manner) => {
    checkAbility(name, name === "reply" ? (text ?? "") : text);
    const begin = (utterance: Utterance) => {
      const { id } = utterance;
      utterance.others = new Set(playback.open);
      connection().send(
        name,
        (codec) => (name === "say" ? codec.say?.(text ?? "", id) : codec.reply?.(text, id)) ?? [],
      );
    };
    return add("request", begin, how);
  };

  return {
    ...speech,
    play,
    ask,
    addNote: (name, text) => {
      checkAbility(name, text);
      addNote((codec) => codec[name]?.(text));
    },
    leave: async (interruptible, last) => {
      const wait: Utterance = {
        id: "",
        type: "wait",
        isProtected: !interruptible,
        isKept: false,
        begin: () => {},
        played: 0,
        duration: 0,
      };
      // The application's interruption drops it, but not the leaving.
      speech.add(wait).then(() => {
        wait.begunAt ??= 0;
      });
      leaving++;
      waiting++;
      try {
        return await new Promise<boolean>((resolve, reject) => {
          const settle = async (isDue: boolean) => {
            waiting--;
            const done = isDue ? last() : undefined;
            await done?.then(undefined, reject);
            resolve(isDue);
          };
          ending.add(settle, interruptible, () => wait.begunAt === undefined);
        });
      } finally {
        leaving--;
        wait.isDone = true;
        speech.check();
      }
    },
    isListening: () => listening !== undefined,
    isLeaving: () => leaving > 0,
    isWaiting: () => waiting > 0,
    listen: async <T>(listener: Listener<T>) => {
      let found: T | undefined;
      const begin = (utterance: Utterance) => {
        const resolve = (value: T) => {
          found ??= value;
          utterance.isDone = true;
          speech.check();
        };
        listening = listener(resolve, stream.sampleRate, input.words());
      };
      await add("wait", begin, { interruptible: false, keep: false });
      listening = undefined;
      // What the agent has noticed of the callee is over: it gets other audio now.
      input.speech(false);
      input.answered();
      return found;
    },
    input: (audio, isSound) => listening?.(audio, isSound),
    overAt: () => agentOverAt(pause),
    open: async ({ audio, text, interruptible, keep }) => {
      const how = { interruptible, keep, isFirst: true };
      const spoken = await (audio ? play(audio, text, how) : ask("say", text, how));
      // It may be a disclosure that the law demands.
      if (spoken === "refused" && !connection().isOver) {
        throw new AgentException("not_supported");
      }
    },
    opening: () => opening,
    ready: () => {
      sendNotes();
      speech.check();
    },
    restart: () => {
      notes.unshift(...sentNotes.splice(0));
      speech.restart();
    },
  };
};
