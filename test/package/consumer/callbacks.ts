import {
  type AnsweredEvent,
  byOccurrence,
  type CallbackOptions,
  CallEvent,
  type CallEventOf,
  type Checks,
  type CompletedEvent,
  type Context,
  callbackHandler,
  didRing,
  type EventData,
  type EventStamp,
  type FailedEvent,
  type InitiatedEvent,
  isFinal,
  type MachineDetectedEvent,
  type OnError,
  type OpenUnion,
  type OtherType,
  type Received,
  type Refusal,
  RefusedException,
  type RingingEvent,
  receive,
  type Secret,
  type SignOptions,
  signUrl,
  type TimestampedHmac,
  timestampedHmac,
  type UnknownEvent,
  type Verification,
  verifyUrl,
} from "outdial/callbacks";
import { is } from "valibot";

const secret: Secret = ["the secret of today, at random", "the secret of yesterday, too"];
const signing: SignOptions = { secret, context: { order: 17 }, expiresIn: 3_600 };
const checks: Checks = { webhookSecret: "whsec_x" };
const signature: TimestampedHmac = {
  secret,
  timestampHeader: "x-timestamp",
  signatureHeader: "x-signature",
  encoding: "base64",
  prefix: "v1=",
};
const verification: Verification = {
  ...checks,
  secret,
  publicUrl: "https://app.test/voice/status",
  verify: timestampedHmac(signature),
};

export const url = (): Promise<string> => signUrl("https://app.test/status", signing);
export const opened = (): Promise<Context> => verifyUrl("wss://app.test/media", { secret });

const onError: OnError = (error, request) =>
  error instanceof RefusedException ? [error.reason, error.status, request.url] : undefined;

export const lasted = ({ event }: Received): number =>
  event.type === "call.completed" ? (event.data.duration ?? 0) : 0;

const tell = ({ event, context }: Received): string => {
  if (!event.known) {
    const { type, call_id, data, region }: UnknownEvent = event;
    return `${type} ${call_id} ${data?.stream_id} ${region}`;
  }
  if (isFinal(event)) return `${event.data.reason} ${event.data.hangup_time}`;
  switch (event.type) {
    case "call.initiated":
      return `${event.data.start_time} ${context.order}`;
    case "call.ringing":
      return `${event.data.to}`;
    case "call.answered":
      return `${event.data.answer_time}`;
    case "call.machine_detected":
      return `${event.data.answered_by} ${event.data.beep}`;
    default: {
      const none: never = event;
      return none;
    }
  }
};

const options: CallbackOptions = {
  ...verification,
  onEvent: tell,
  onError,
  waitUntil: (work) => void work,
};
export const handler: (request: Request) => Promise<Response> = callbackHandler(options);
export const read = (request: Request): Promise<Received> =>
  receive(request, { dangerouslyAllowUnverified: true });

const call = { known: true, call_id: "cs_1", data: {} } as const;
const initiated: InitiatedEvent = { ...call, type: "call.initiated" };
const ringing: RingingEvent = { ...call, type: "call.ringing", data: { to: "+1" } };
const answered: AnsweredEvent = { ...call, type: "call.answered" };
const completed: CompletedEvent = {
  ...call,
  type: "call.completed",
  data: { duration: 1, reason: "normal" },
};
const failed: FailedEvent = { ...call, type: "call.failed", data: { reason: "busy" } };
const machine: MachineDetectedEvent = {
  ...call,
  type: "call.machine_detected",
  data: { answered_by: "machine_end_beep", beep: true },
};
const stamp: EventStamp = { id: "evt_1", account_id: "ac_1" };
const data: EventData = { reason: "a word of next year" satisfies OpenUnion<"busy"> };
export const stamped: CallEventOf<"call.moved", "reason"> = {
  ...call,
  ...stamp,
  ...{ type: "call.moved", data },
};
export const isStream = (type: OtherType): boolean => type === "stream.started";
const unknown: UnknownEvent = { known: false, type: "stream.started", call_id: null, data: null };
export const moved: CallEventOf<"call.moved", "reason"> = { ...call, type: "call.moved" };

const known: CallEvent[] = [initiated, ringing, answered, machine, completed, failed];
const events: (CallEvent | UnknownEvent)[] = [...known, unknown];
export const rang: boolean = didRing(events.sort(byOccurrence));
export const isEvent = (value: unknown): value is CallEvent => is(CallEvent, value);
export const refusals: readonly Refusal[] = ["no_token", "wrong_signature"];
