import type { Account } from "../../../server/account.ts";
import type { ApiParts } from "../../../server/api.ts";
import type { Message, ServedCall } from "../../../server/call.ts";
import type { FlowParts } from "../../../server/side.ts";
import type { MarkupCall } from "./call.ts";
import { type CallFields, limitsOf, paramsOf } from "./fields.ts";
import { followMarkup, type MarkupCarrier } from "./flow.ts";
import { messagesOf } from "./notifications.ts";
import { endRecordings } from "./recorder.ts";
import type { CallRecording } from "./recordings.ts";

/** What the routes need beside what every API needs. */
export interface MarkupRestParts extends ApiParts {
  readonly account: Account;
  readonly find: (callSid: string) => MarkupCall | undefined;
  /** Starts a call. */
  readonly start: (fields: CallFields, url: string, accountSid: string) => MarkupCall;
}

/** A recording of any call, with its call. */
export const recordingNamed = (
  { allCalls, find }: Pick<MarkupRestParts, "allCalls" | "find">,
  sid: string,
): { readonly known: MarkupCall; readonly recording: CallRecording } | undefined => {
  for (const { id } of allCalls()) {
    const known = find(id);
    const recording = known?.recordings.find((one) => one.sid === sid);
    if (known && recording) return { known, recording };
  }
  return;
};

/** The calls of an emulator whose carrier has markup. */
export class MarkupCalls {
  readonly #carrier: MarkupCarrier;
  readonly #recordingUrl: (origin: string, sid: string) => string;
  readonly #known = new WeakMap<ServedCall, MarkupCall>();

  /** @param recordingUrl - the URL of a recording, at the origin of the request for its call */
  constructor(carrier: MarkupCarrier, recordingUrl: (origin: string, sid: string) => string) {
    this.#carrier = carrier;
    this.#recordingUrl = recordingUrl;
  }

  /** What the routes need. */
  restParts(parts: ApiParts, account: Account): MarkupRestParts {
    return {
      ...parts,
      account,
      find: (callSid) => {
        const call = parts.findCall(callSid);
        return call && this.#known.get(call);
      },
      start: (fields, url, accountSid) =>
        parts.accept({
          params: paramsOf(fields),
          limits: limitsOf(fields),
          url,
          prepare: (call) => {
            const known: MarkupCall = {
              call,
              accountSid,
              fields,
              eventCount: 0,
              hasRung: false,
              endedBy: "callee",
              answeredBy: undefined,
              recordings: [],
              recordingUrl: (sid) => this.#recordingUrl(new URL(url).origin, sid),
              notify: undefined,
              redirect: undefined,
            };
            this.#known.set(call, known);
            return known;
          },
        }),
    };
  }

  /** The notifications that are due when the state of a call has changed. */
  messagesOf(call: ServedCall): readonly Message[] {
    const known = this.#known.get(call);
    if (!known) return [];
    const messages = messagesOf(known, this.#carrier);
    return call.isOver ? [...messages, ...endRecordings(known, this.#carrier)] : messages;
  }

  /** Follows the flow of an answered call. */
  async follow(call: ServedCall, parts: FlowParts): Promise<void> {
    const known = this.#known.get(call);
    if (!known) return;
    known.notify = parts.notify;
    const notify = (message: Message) => parts.notify([message]);
    await followMarkup(known, parts, { carrier: this.#carrier, notify });
  }
}
