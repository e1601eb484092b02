import type { CallRecord } from "../../../emulator/index.ts";
import type { Outcome } from "../../../emulator/scenarios.ts";
import type { Callee } from "./callees.ts";
import { type ConversationLine, conversationIn } from "./conversation.ts";

/** One call of a contact, as the emulator had it. Times are in milliseconds since 1970. */
export interface EmulatedCall {
  readonly startedAt: number;
  readonly endedAt: number;
  /** Whether somebody, or a machine, answered. */
  readonly isAnswered: boolean;
  readonly conversation: readonly ConversationLine[];
}

/** Decides who does what: the attempts of a contact count from 1. */
export type Decide = (to_number: string, attempt: number) => Callee;

/** The most questions in one call that a callee answers before they hang up: a script may ask for ever. */
const mostQuestions = 20;

/** The calls of an emulation: what each callee does, and the conversation of each. */
export class EmulatedCalls {
  /** Those that have ended, of each contact, by its number. */
  readonly ended = new Map<string, EmulatedCall[]>();
  /** When the latest of them ended; `0` without one. */
  lastEnd = 0;
  readonly #attempts = new Map<string, number>();
  /** What the callees of live calls press, and the questions that they had, by the id of the call. */
  readonly #live = new Map<string, { readonly keys: readonly string[]; questions: number }>();
  /** A conversation that many have is kept once. */
  readonly #conversations = new Map<string, readonly ConversationLine[]>();

  /**
   * A call begins.
   *
   * @param decide - without it the number decides, and nobody presses a key
   */
  begin({ id, to_number }: CallRecord, decide: Decide | undefined): Outcome | undefined {
    const attempt = (this.#attempts.get(to_number) ?? 0) + 1;
    this.#attempts.set(to_number, attempt);
    const callee = decide?.(to_number, attempt);
    this.#live.set(id, { keys: callee?.keys ?? [], questions: 0 });
    return callee?.outcome;
  }

  /** What the callee of a call presses at its next question: `""` for nothing; `undefined` where they hang up. */
  answer(id: string): string | undefined {
    const live = this.#live.get(id);
    if (!live) return "";
    const { keys, questions } = live;
    live.questions++;
    return questions < mostQuestions ? (keys[questions] ?? keys.at(-1) ?? "") : undefined;
  }

  /** A call is over. */
  end({ id, to_number, initiated_at, ended_at, answered_at, history }: CallRecord): void {
    this.#live.delete(id);
    this.lastEnd = Math.max(this.lastEnd, ended_at ?? 0);
    const conversation = conversationIn(history);
    const text = JSON.stringify(conversation);
    const same = this.#conversations.get(text) ?? conversation;
    this.#conversations.set(text, same);
    const call = {
      startedAt: initiated_at,
      endedAt: ended_at ?? initiated_at,
      isAnswered: answered_at !== undefined,
      conversation: same,
    };
    const calls = this.ended.get(to_number);
    if (calls) calls.push(call);
    else this.ended.set(to_number, [call]);
  }
}
