import type { Account } from "../../../server/account.ts";
import type { ApiParts } from "../../../server/api.ts";
import type { Message, ServedCall } from "../../../server/call.ts";
import type { FlowParts } from "../../../server/side.ts";
import type { CallRecording, MarkupCall } from "./call.ts";
import { type CallFields, limitsOf, paramsOf } from "./fields.ts";
import { followMarkup, type MarkupCarrier } from "./flow.ts";
import { messagesOf } from "./notifications.ts";
import { endRecordings } from "./record.ts";

/** What the routes need beside what every API needs. */
export interface MarkupRestParts extends ApiParts {
  readonly account: Account;
  readonly find: (callSid: string) => MarkupCall | undefined;
  /**
   * Starts a call.
   *
   * @param form - the body of the request, by which the call is known again after a start
   */
  readonly start: (
    fields: CallFields,
    url: string,
    accountSid: string,
    form?: string,
  ) => MarkupCall;
}

/** A recording of any call, with its call. */
export const recordingNamed = (
  { allCalls, find }: Pick<MarkupRestParts, "allCalls" | "find">,
  sid: string,
): { readonly call: MarkupCall; readonly recording: CallRecording } | undefined => {
  for (const { id } of allCalls()) {
    const call = find(id);
    const recording = call?.recordings.find((one) => one.sid === sid);
    if (call && recording) return { call, recording };
  }
  return;
};

/** The calls of an emulator whose carrier has markup. */
export class MarkupCalls {
  readonly #carrier: MarkupCarrier;
  readonly #recordingUrl: (origin: string, sid: string) => string;
  readonly #calls = new WeakMap<ServedCall, MarkupCall>();

  /** @param recordingUrl - the URL of a recording, at the origin of the request for its call */
  constructor(carrier: MarkupCarrier, recordingUrl: (origin: string, sid: string) => string) {
    this.#carrier = carrier;
    this.#recordingUrl = recordingUrl;
  }

  /** Keeps what other carriers don't have of a call. */
  #add(
    served: ServedCall,
    url: string,
    known: Pick<MarkupCall, "accountSid" | "fields" | "eventCount" | "hasRung">,
  ): MarkupCall {
    const call: MarkupCall = {
      served,
      ...known,
      endedBy: "callee",
      answeredBy: undefined,
      recordings: [],
      recordingUrl: (sid) => this.#recordingUrl(new URL(url).origin, sid),
      notify: undefined,
      redirect: undefined,
    };
    this.#calls.set(served, call);
    return call;
  }

  /**
   * Knows a call of a process before this one again.
   *
   * @param sent - the ids of the notifications that were made of it
   */
  restore(
    served: ServedCall,
    known: Pick<MarkupCall, "accountSid" | "fields">,
    url: string,
    sent: readonly string[],
  ): void {
    const eventCount = sent.filter((id) => /^\d+$/.test(id.slice(served.id.length + 1))).length;
    this.#add(served, url, { ...known, eventCount, hasRung: served.state !== "initiated" });
  }

  /** What the routes need. */
  restParts(parts: ApiParts, account: Account): MarkupRestParts {
    return {
      ...parts,
      account,
      find: (callSid) => {
        const served = parts.findCall(callSid);
        return served && this.#calls.get(served);
      },
      start: (fields, url, accountSid, form) =>
        parts.accept({
          params: paramsOf(fields),
          limits: limitsOf(fields),
          url,
          kept: { form, accountSid },
          prepare: (served) =>
            this.#add(served, url, { accountSid, fields, eventCount: 0, hasRung: false }),
        }),
    };
  }

  /** The notifications that are due when the state of a call has changed. */
  messagesOf(served: ServedCall): readonly Message[] {
    const call = this.#calls.get(served);
    if (!call) return [];
    const messages = messagesOf(call, this.#carrier);
    return served.isOver ? [...messages, ...endRecordings(call, this.#carrier)] : messages;
  }

  /** Follows the flow of an answered call. */
  async follow(served: ServedCall, parts: FlowParts): Promise<void> {
    const call = this.#calls.get(served);
    if (!call) return;
    call.notify = parts.notify;
    const notify = (message: Message) => parts.notify([message]);
    await followMarkup(call, parts, { carrier: this.#carrier, notify });
  }
}
