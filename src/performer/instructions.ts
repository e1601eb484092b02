import type { Beginning, Dialled, FlowError, LegState, Part, Utterances } from "./line.ts";
import type { MediaSocket } from "./media-socket.ts";

/**
 * What follows an instruction: the next one, the end of the call, other instructions in the place of those that remain, or
 * a request for the next document in the form of the carrier.
 */
export type Then<Request> =
  | "next"
  | "end"
  | { readonly instructions: Iterable<Instruction<Request>> }
  | { readonly request: Request };

/** What follows, once it is known. */
export type Following<Request> = Then<Request> | Promise<Then<Request>>;

/** How often a prompt is repeated whose `loop` is 0, which means until the call is over. */
export const endlessLoops = 1_000;

/** What the callee is made to hear in one step. */
export interface Prompts {
  readonly step: Beginning;
  /** Played one after the other. */
  readonly parts: readonly Part[];
  /** How often each part is played, 1 by default. */
  readonly times?: number;
  /** What interrupts it, and then belongs to the next input; nothing by default. */
  readonly interruptedBy?: { readonly keys: boolean; readonly speech: boolean };
}

/** Plays prompts that no input of the same step follows. */
export interface Play<Request> extends Prompts {
  readonly type: "play";
  /** Whether what follows is no prompt of the same question. */
  readonly endsPrompts: boolean;
  /** By default the next instruction follows. */
  readonly next?: () => Following<Request>;
}

/** When keys and speech are complete. Times are in milliseconds. */
export interface InputRules {
  readonly takesKeys: boolean;
  readonly takesSpeech: boolean;
  /** The most keys. */
  readonly maxKeys: number;
  /** The keys that end the input, and do not belong to it. */
  readonly finishingKeys: string;
  /** How long the first input is waited for, from the end of the prompts. */
  readonly firstTimeout: number;
  /** How long another key is waited for. */
  readonly keyTimeout: number;
  /** How long it is silent until speech has ended. */
  readonly endSilence: number;
  readonly maxSpeech: number;
}

/** What came in: keys, or speech where it came first. */
export interface Taken {
  readonly keys: string;
  /** The key that ended the input. */
  readonly finishedBy: string | undefined;
  /** Whether the keys ended it, and not a time. */
  readonly isComplete: boolean;
  readonly speech: Utterances;
}

/** Takes keys or speech, during prompts and after them. */
export interface Input<Request> {
  readonly type: "input";
  /** Absent where it begins with its prompt. */
  readonly step?: Beginning;
  /** Read lazily: a prompt that is never played is never translated. */
  readonly prompts: Iterable<Prompts>;
  /** Whether input interrupts the prompts. */
  readonly bargesIn: boolean;
  readonly rules: InputRules;
  readonly next: (taken: Taken) => Following<Request>;
}

/** What ends a recording. Times are in milliseconds. */
export interface RecordRules {
  readonly keys: string;
  /** How long it is silent until it ends; 0 if silence doesn't end it. */
  readonly endSilence: number;
  /** Whether the silence before the callee speaks counts. */
  readonly countsFirstSilence: boolean;
  readonly maxDuration: number;
}

/** Records the callee. */
export interface Record<Request> {
  readonly type: "record";
  /** Absent where it began with its prompt. */
  readonly step?: Beginning;
  readonly beeps: boolean;
  /** What ends it; absent for a recording that goes on while the flow continues. */
  readonly rules?: RecordRules;
  /** Begins the recording, and returns what ends it by a key, or otherwise. */
  readonly begin: () => (key: string | undefined) => Following<Request>;
}

/** Calls another telephone, and connects the two. */
export interface Dial<Request> {
  readonly type: "dial";
  readonly step: Beginning;
  readonly to: string;
  /** Who is called with it: the first to answer is connected. */
  readonly others?: readonly string[];
  /** Whether the conversation is part of the recording of the call. */
  readonly record: boolean;
  /** In milliseconds. */
  readonly answerTimeout: number;
  readonly maxDuration?: number | undefined;
  readonly onState?: (leg: LegState) => void;
  readonly next: (dialled: Dialled) => Following<Request>;
}

/** Lets the callee join a conference. */
export interface Conference<Request> {
  readonly type: "conference";
  readonly step: Beginning;
  readonly name: string;
  /** Whether nobody else may join. */
  readonly isAlone: boolean;
  readonly maxDuration?: number | undefined;
  readonly onBegin?: () => void;
  readonly onState?: (leg: LegState) => void;
  readonly next: () => Following<Request>;
}

/** Connects a media socket. */
export interface Stream<Request> {
  readonly type: "stream";
  readonly step: Beginning;
  readonly open: () => MediaSocket | Promise<MediaSocket>;
  /** Makes it run beside the flow, under a name. */
  readonly beside?: { readonly name: string | undefined };
  /** Called when it has ended, by an error or not. */
  readonly onEnd?: (error: FlowError | undefined) => void;
  /** What follows one in the foreground. By default an error ends the flow. */
  readonly next?: (error: FlowError | undefined) => Following<Request>;
}

/** Ends streams beside the flow: that with a name, or all. */
interface StopStreams {
  readonly type: "stop streams";
  readonly step: Beginning;
  readonly name: string | undefined;
}

/** Does nothing on the line. */
interface Continue<Request> {
  readonly type: "continue";
  readonly step: Beginning;
  readonly next: () => Following<Request>;
}

/** One step of a flow, translated from the document of a carrier. */
export type Instruction<Request> =
  | Play<Request>
  | Input<Request>
  | Record<Request>
  | Dial<Request>
  | Conference<Request>
  | Stream<Request>
  | StopStreams
  | Continue<Request>;
