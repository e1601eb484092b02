import type { PlayedItem } from "../flows/media/playback.ts";
import type { Timers } from "../lib/timers.ts";
import type { Spoken } from "./agent-session.ts";

/** How often it is checked whether something can begin or is over, in ms. */
const interval = 100;

/** How long a refused request waits before it is sent again, in ms, and how often it is sent. */
const retryDelay = 500;
const maxTries = 5;

/** Something that is to be said. */
export interface Utterance {
  /** Names its audio on the line, or the request for it. */
  readonly id: string;
  /**
   * `audio` is played by us, a `request` is sent to the agent, and in a `wait` nothing is said.
   */
  readonly type: "audio" | "request" | "wait";
  /** Whether it begins before anything else, whoever speaks. */
  readonly isFirst?: boolean | undefined;
  /** Whether it begins in its turn, whoever speaks. */
  readonly isAtOnce?: boolean | undefined;
  /** Whether the callee can't interrupt it, and whether the agent then gets afterwards what they have said. */
  readonly isProtected: boolean;
  readonly isKept: boolean;
  readonly begin: () => void;
  /** Milliseconds that were played, and those that it has. */
  played: number;
  duration: number;
  /** When it was begun. */
  begunAt?: number | undefined;
  /** Responses of the agent that were open then: they are none to a request. */
  others?: ReadonlySet<string> | undefined;
  /** Whether all of it has come. */
  isDone?: boolean | undefined;
}

/** What a queue of utterances reads of its call, and what it calls. */
export interface SpeechListener {
  /** When it may begin, by the clock, as far as that is known. */
  readonly freeAt: (utterance: Utterance) => number;
  /** When all of it was played, or should have been long ago, by the clock, as far as that is known. */
  readonly overAt: (utterance: Utterance) => number;
  /** Whether not all of it was played, by what the service acknowledges. */
  readonly isPlaying: (utterance: Utterance) => boolean;
  /**
   * The agent gets silence in the place of the callee's audio, and afterwards their speech if that `isKept`. Left out:
   * no longer.
   */
  readonly mute: (isKept?: boolean) => void;
}

/** Everything that is to be said, one after the other. */
export interface Speech {
  /** Adds something; resolves with what has become of it. */
  readonly add: (utterance: Utterance) => Promise<Spoken>;
  readonly isProtected: () => boolean;
  readonly isBusy: () => boolean;
  /** Whether anything is being said, or is still to be said. */
  readonly isSaying: () => boolean;
  /** Whether audio of our own is played that the callee can interrupt. */
  readonly isOwn: () => boolean;
  /** Checks at once whether something can begin or is over. */
  readonly check: () => void;
  /** Audio of the agent has come, of so many ms. */
  readonly output: (ms: number, isAudible: boolean) => void;
  /** A response of the agent has begun, to this request if the service returns it. */
  readonly started: (id?: string) => void;
  /** A response of the agent has ended. */
  readonly done: (outcome?: "failed" | "cancelled", response?: string) => void;
  /** The service has refused a request. */
  readonly refused: (id?: string) => void;
  /** Another agent takes over: what was asked of the one before is asked for again. */
  readonly restart: () => void;
  /** The line was silenced: by the callee, by the application, which drops what waits too, or at the end. */
  readonly cut: (cuts: readonly PlayedItem[], by: "callee" | "application" | "end") => void;
}

interface QueuedUtterance extends Utterance {
  readonly resolve: (spoken: Spoken) => void;
}

const prefix = "outdial:";

/** The name of the audio that is played by us. */
export const ownItem = (count: number): string => prefix + count;
export const isOwn = ({ item }: PlayedItem): boolean => item.startsWith(prefix);

export const createSpeech = (
  timers: Timers,
  { freeAt, overAt, isPlaying, mute }: SpeechListener,
): Speech => {
  const queue: QueuedUtterance[] = [];
  /** Whether speech is kept, while the agent gets silence. */
  let kept: boolean | undefined;
  let tries = 0;
  /** The next one isn't begun before. */
  let notBefore = 0;
  let isOver = false;

  const isProtected = () => {
    const [first] = queue;
    return !!first?.isProtected && (first.isFirst || first.begunAt !== undefined);
  };
  const update = () => {
    const keeps = isProtected() ? queue[0]?.isKept : undefined;
    if (keeps !== kept) mute(keeps);
    kept = keeps;
  };
  const settle = (spoken: Spoken): void => {
    tries = 0;
    const settled = queue.shift();
    update();
    settled?.resolve(spoken);
    check();
  };
  const check = (): void => {
    const utterance = queue[0];
    if (!utterance || isOver) return;
    const now = timers.now();
    let at = Math.max(notBefore, freeAt(utterance));
    if (utterance.begunAt === undefined && at <= now) {
      utterance.begunAt = now;
      update();
      utterance.begin();
      if (queue[0] !== utterance) return;
    }
    if (utterance.begunAt !== undefined) at = overAt(utterance);
    if (at > now) timers.set("speech", Math.min(at - now, interval), check);
    else if (isPlaying(utterance)) settle("interrupted");
    else {
      utterance.played = utterance.duration;
      settle(utterance.duration > 0 ? "played" : "refused");
    }
  };
  /** The request that the agent responds to. */
  const request = () => {
    const first = queue[0];
    return first?.type === "request" && first.begunAt !== undefined ? first : undefined;
  };
  /** What was asked for is asked for again. */
  const again = (utterance: Utterance, wait: number) => {
    notBefore = timers.now() + wait;
    utterance.begunAt = undefined;
    update();
    check();
  };

  return {
    add: (utterance) =>
      new Promise((resolve) => {
        queue.push(Object.assign(utterance, { resolve }));
        update();
        if (queue.length === 1) check();
      }),
    isProtected,
    isBusy: () => queue.length > 0,
    isSaying: () => queue.some(({ type }) => type !== "wait"),
    isOwn: () => {
      const first = queue[0];
      return first?.type === "audio" && first.begunAt !== undefined && !first.isProtected;
    },
    check,
    output: (ms, isAudible) => {
      const asked = request();
      if (asked && (isAudible || asked.duration > 0)) asked.duration += ms;
    },
    started: (id) => {
      const asked = request();
      if (!asked || id !== asked.id) return;
      asked.duration = 0; // What has come was of another response.
      asked.isDone = false;
    },
    done: (outcome, response = "") => {
      const asked = request();
      if (!asked || asked.others?.has(response)) return;
      asked.isDone = true;
      if (outcome) settle(asked.duration > 0 ? "interrupted" : "refused");
    },
    refused: (id) => {
      const asked = request();
      if (!asked || (id ? id !== asked.id : asked.duration > 0)) return;
      asked.duration = 0; // What has come was of another response.
      asked.isDone = false;
      if (++tries < maxTries) again(asked, retryDelay);
      else settle("refused");
    },
    restart: () => {
      const asked = request();
      if (asked) again(asked, 0);
    },
    cut: (cuts, by) => {
      const first = queue[0];
      isOver ||= by === "end";
      if (by !== "callee") {
        for (const waiting of queue.splice(1)) waiting.resolve("refused");
      }
      if (!first) return;
      if (first.begunAt === undefined) {
        if (by !== "callee") settle("refused");
        return;
      }
      const isAudio = first.type === "audio";
      const lost = cuts
        .filter((cut) => (isAudio ? cut.item === first.id : !isOwn(cut)))
        .reduce((sum, { duration, played }) => sum + duration - played, 0);
      first.played = Math.max(0, Math.floor(first.duration - lost));
      const isWhole = lost === 0 && first.duration > 0 && (isAudio || first.isDone);
      settle(isWhole ? "played" : "interrupted");
    },
  };
};
