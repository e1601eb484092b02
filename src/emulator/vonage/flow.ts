import type { Message } from "../call.ts";
import { FlowError, type FlowParts } from "../line.ts";
import type { Utterance } from "../utterances.ts";
import { perform } from "./actions.ts";
import { subjectOf, type VonageCall } from "./call.ts";
import type { ActionContext } from "./context.ts";
import type { NccoAction, Next } from "./fields.ts";
import { parseNcco, shownNcco } from "./ncco.ts";
import { errorMessages, machineMessages } from "./notifications.ts";
import { askForNcco } from "./requests.ts";
import type { SignWebhook } from "./tokens.ts";

/** What flows need beside what every flow needs. */
export interface FlowSide {
  readonly sign: SignWebhook;
  readonly newUuid: () => string;
  readonly notify: (messages: readonly Message[]) => void;
}

/** The actions that speak before keys are taken. */
const prompts: ReadonlySet<string> = new Set(["talk", "stream", "wait"]);

/** How many NCCOs in a row may take no time. */
const maxNccos = 50;

/** How long the detection of a machine takes, in milliseconds. */
const detectionDuration = 2_000;

/** Whether the next `input` takes speech. */
const takesSpeech = (following: readonly NccoAction[]): boolean => {
  const type = following.find(({ action }) => action === "input")?.type;
  return Array.isArray(type) && type.includes("speech");
};

/** The flow of one call. */
class VonageFlow {
  readonly #known: VonageCall;
  readonly #parts: FlowParts;
  readonly #side: FlowSide;
  readonly #keys: string[] = [];
  readonly #spoken: Utterance[] = [];
  /** Where the call continues, as a request of the API wants it. */
  #transferred: Next | undefined;
  #step = 0;

  constructor(known: VonageCall, parts: FlowParts, side: FlowSide) {
    this.#known = known;
    this.#parts = parts;
    this.#side = side;
  }

  /** Performs NCCO after NCCO until nothing is left to do, or the call is over. */
  async follow(): Promise<void> {
    const { call, fields } = this.#known;
    call.recording.pause(0);
    this.#detect();
    let next: Next | undefined = fields.first;
    let since = 0;
    let count = 0;
    try {
      while (next && !call.isOver) {
        if (call.talkTime > since) count = 0;
        since = call.talkTime;
        this.#step++;
        if (++count > maxNccos) {
          throw new FlowError(
            this.#step,
            "The NCCO",
            `follows ${maxNccos} others that take no time`,
          );
        }
        next = await this.#performNext(next);
      }
    } catch (error) {
      if (error instanceof FlowError && !call.isOver) {
        this.#side.notify(errorMessages(this.#known, error.message, this.#side.sign));
      }
      throw error;
    } finally {
      this.#known.transfer = undefined;
      if (!call.isOver) this.#known.endedBy = "platform";
    }
  }

  /** Finds out what answered, while the flow runs. */
  #detect(): void {
    const { call, fields } = this.#known;
    const { machineDetection } = fields;
    if (!machineDetection) return;
    const { machine } = call;
    const notify = (sub_state?: "beep_start" | "beep_timeout") => {
      const status = machine ? "machine" : "human";
      this.#side.notify(machineMessages(this.#known, status, sub_state, this.#side.sign));
    };
    const { behavior, beepTimeout } = machineDetection;
    call.timeline.after(detectionDuration, () => {
      notify();
      if (!machine || behavior === "continue") return;
      this.#known.endedBy = "platform";
      call.transition("normal");
    });
    if (!machine || beepTimeout === undefined) return;
    const isHeard = machine.beeps && machine.readyAt <= beepTimeout * 1_000;
    const at = isHeard ? Math.max(machine.readyAt, detectionDuration) : beepTimeout * 1_000;
    call.timeline.after(at, () => notify(isHeard ? "beep_start" : "beep_timeout"));
  }

  /** Performs an NCCO, and returns the next one. */
  async #performNext(next: Next): Promise<Next | undefined> {
    const { call } = this.#known;
    const interrupt = new AbortController();
    const stop = () => interrupt.abort();
    call.over.signal.addEventListener("abort", stop);
    this.#known.transfer = (elsewhere) => {
      this.#transferred = elsewhere;
      stop();
      call.timeline.skip();
    };
    try {
      const then = await this.#performNcco(next, interrupt.signal);
      return this.#takeTransferred() ?? (then && { ncco: then });
    } catch (error) {
      const elsewhere = this.#takeTransferred();
      if (elsewhere) return elsewhere;
      throw error;
    } finally {
      call.over.signal.removeEventListener("abort", stop);
    }
  }

  #takeTransferred(): Next | undefined {
    const transferred = this.#transferred;
    this.#transferred = undefined;
    return transferred;
  }

  async #performNcco(next: Next, signal: AbortSignal): Promise<readonly NccoAction[] | undefined> {
    const ncco = await this.#nccoOf(next, signal);
    const { sign, newUuid, notify } = this.#side;
    const known = this.#known;
    for (const [at, action] of ncco.entries()) {
      const context: ActionContext = {
        known,
        step: this.#step,
        signal,
        parts: this.#parts,
        sign,
        newUuid,
        notify,
        keys: this.#keys,
        spoken: this.#spoken,
        takesSpeech: takesSpeech(ncco.slice(at + 1)),
        isLast: at === ncco.length - 1,
      };
      const then = await perform(action, context);
      const follower = ncco[at + 1]?.action ?? "";
      if (prompts.has(action.action) && !prompts.has(follower) && follower !== "input") {
        known.call.endPrompts();
      }
      if (signal.aborted || then) return then;
    }
    return;
  }

  /** Logs the NCCO that came with the request for the call. */
  #logInline(ncco: readonly NccoAction[]): void {
    const document = shownNcco(JSON.stringify(ncco));
    this.#known.call.log({ type: "flow", step: this.#step, url: "", ms: 0, ...document });
  }

  async #nccoOf(next: Next, signal: AbortSignal): Promise<readonly NccoAction[]> {
    const step = this.#step;
    if ("ncco" in next) {
      if (step === 1) this.#logInline(next.ncco);
      return parseNcco(next.ncco, step);
    }
    const fields = {
      ...subjectOf(this.#known),
      endpoint_type: "phone",
      region_url: "https://api.nexmo.com",
    };
    const parts = {
      known: this.#known,
      request: this.#parts.request,
      sign: this.#side.sign,
      signal,
      step,
    };
    return (await askForNcco({ target: next, fields, isOptional: false }, parts)) ?? [];
  }
}

/** Follows the flow of an answered call. */
export const followNcco = (known: VonageCall, parts: FlowParts, side: FlowSide): Promise<void> =>
  new VonageFlow(known, parts, side).follow();
