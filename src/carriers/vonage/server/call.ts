import type { Background, Line } from "../../../performer/line.ts";
import { flowErrorOf, type ServedCall } from "../../../server/call.ts";
import { type CallFacts, iso, type Reason } from "../../../server/history.ts";
import type { CallFields, Next, Target } from "./fields.ts";

/** A recording that an action began. */
interface NccoRecording {
  readonly id: string;
  /** Milliseconds since the answer. */
  readonly from: number;
  readonly events: Target | undefined;
}

/** A call on Vonage: the state that only this carrier has. */
export interface VonageCall {
  /** The call, as each carrier has it. */
  readonly served: ServedCall;
  readonly fields: CallFields;
  /** The id of the conversation, which other legs of the call share; a transfer leads into another one. */
  conversation: string;
  /** Where the request for the call came in. */
  readonly origin: string;
  /** Who ended the call, once it is over. */
  endedBy: "platform" | "user";
  /** The ids of its recordings. */
  readonly recordings: string[];
  /** The recording that is running. */
  recording: NccoRecording | undefined;
  /** Its line; absent until it is answered. */
  line: Line | undefined;
  /** What the API plays beside the flow. */
  live: Background | undefined;
  /** Makes the call continue with another NCCO; absent while it isn't answered. */
  transfer: ((next: Next) => void) | undefined;
}

/** The fields of a request to an application. */
export type Fields = Readonly<Record<string, unknown>>;

/** The id of a recording's URL. */
export const recordingUrlOf = (origin: string, id: string): string => `${origin}/v1/files/${id}`;

interface Ending {
  readonly status: string;
  readonly detail?: string;
  /** Whether `completed` comes after it. */
  readonly isCompleted: boolean;
}

/** How a leg that nobody answered ends. */
const endings: Readonly<Partial<Record<Reason, Ending>>> = {
  busy: { status: "busy", isCompleted: true },
  no_answer: { status: "timeout", isCompleted: true },
  rejected: { status: "rejected", detail: "declined", isCompleted: false },
  unreachable: { status: "failed", detail: "cannot_route", isCompleted: true },
  canceled: { status: "cancelled", isCompleted: true },
  // No word of Vonage's says so: of all, this one is never repeated by itself.
  lost: { status: "cancelled", isCompleted: true },
};

/** How a leg that nobody answered ended; `undefined` for one that was answered. */
export const endingOf = (reason: Reason | undefined): Ending | undefined =>
  reason && endings[reason];

const states = {
  initiated: "started",
  ringing: "ringing",
  answered: "answered",
  completed: "completed",
} as const;

/** The status of a call: the latest that was sent, or by which it ended. */
export const statusOf = ({ state, reason }: Pick<CallFacts, "state" | "reason">): string =>
  state === "failed" ? (endingOf(reason)?.status ?? "failed") : states[state];

/** A number as Vonage writes it: digits without a `+`. */
export const digitsOf = (number: string): string => number.replace(/^\+/, "");

/** An endpoint as Vonage writes it. */
const endpointOf = (to: string): object =>
  /^sips?:/i.test(to) ? { type: "sip", uri: to } : { type: "phone", number: digitsOf(to) };

/** The fields that name the call of a request. */
export const subjectOf = ({ served, conversation }: VonageCall): Fields => ({
  from: digitsOf(served.params.from_number),
  to: digitsOf(served.params.to_number),
  uuid: served.id,
  conversation_uuid: conversation,
});

/** What is known of a leg's length and price when it is over. */
export const endFields = (answeredAt: number | undefined, endedAt: number): Fields => ({
  start_time: answeredAt === undefined ? null : iso(answeredAt),
  end_time: iso(endedAt),
  duration: String(answeredAt === undefined ? 0 : Math.round((endedAt - answeredAt) / 1000)),
  rate: "0.00000000",
  price: "0",
  network: answeredAt === undefined ? null : "US-FIXED",
});

/** A call as the API returns it. */
export const resourceOf = (call: VonageCall): object => {
  const { served, conversation } = call;
  const { facts, id } = served;
  const { answered_at, ended_at, from_number, to_number } = facts;
  return {
    _links: { self: { href: `/v1/calls/${id}` } },
    uuid: id,
    conversation_uuid: conversation,
    to: endpointOf(to_number),
    from: endpointOf(from_number),
    status: statusOf(facts),
    direction: "outbound",
    ...(ended_at !== undefined && endFields(answered_at, ended_at)),
    ...(ended_at === undefined && answered_at !== undefined && { start_time: iso(answered_at) }),
    // Vonage says it at the event URL alone: it is the emulator's own field.
    ...flowErrorOf(served),
  };
};
