import {
  type AnsweredEvent,
  byOccurrence,
  type CallbackOptions,
  type Checks,
  type CompletedEvent,
  type Context,
  callbackHandler,
  didRing,
  Event,
  type EventOf,
  type FailedEvent,
  type InitiatedEvent,
  isFinal,
  type OnError,
  type Received,
  type Refusal,
  RefusedException,
  type RingingEvent,
  receive,
  type Secret,
  type SignOptions,
  signUrl,
  type UnknownEvent,
  type Verification,
  verifyUrl,
} from "outdial/callbacks";
import { is } from "valibot";

const secret: Secret = ["the secret of today, at random", "the secret of yesterday, too"];
const signing: SignOptions = { secret, context: { order: 17 }, expiresIn: 3_600 };
const checks: Checks = { webhookSecret: "whsec_x" };
const verification: Verification = { ...checks, secret };

export const url = (): Promise<string> => signUrl("https://app.test/status", signing);
export const opened = (): Promise<Context> => verifyUrl("wss://app.test/media", { secret });

const onError: OnError = (error, request) =>
  error instanceof RefusedException ? [error.reason, error.status, request.url] : undefined;

const tell = ({ event, context }: Received): string => {
  if (event.type === "call.completed" && isFinal(event)) {
    return `${event.data.duration} ${context.order}`;
  }
  return event.call_id;
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

const initiated: InitiatedEvent = { type: "call.initiated", call_id: "cs_1", data: {} };
const ringing: RingingEvent = { type: "call.ringing", call_id: "cs_1", data: { to: "+1" } };
const answered: AnsweredEvent = { type: "call.answered", call_id: "cs_1", data: {} };
const completed: CompletedEvent = {
  type: "call.completed",
  call_id: "cs_1",
  data: { duration: 1, reason: "normal" },
};
const failed: FailedEvent = { type: "call.failed", call_id: "cs_1", data: { reason: "busy" } };
const unknown: UnknownEvent = { type: "call.queued", call_id: "cs_1", data: {} };
const custom: EventOf<"call.moved"> = { type: "call.moved", call_id: "cs_1", data: {} };

const events: Event[] = [initiated, ringing, answered, completed, failed, unknown, custom];
export const rang: boolean = didRing(events.sort(byOccurrence));
export const isEvent = (value: unknown): value is Event => is(Event, value);
export const refusals: readonly Refusal[] = ["no_token", "wrong_signature"];
