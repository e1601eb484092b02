import type { Side } from "../../../performer/media-socket.ts";
import type { Message, RecordedAudio, ServedCall } from "../../../server/call.ts";
import type { CallFacts, Reason } from "../../../server/history.ts";
import type { CallFields, Next, Receiver, RecordingEventName } from "./fields.ts";

/** What recorded a call. */
type RecordingSource = "OutboundAPI" | "StartCallRecordingAPI" | "RecordVerb" | "DialVerb";

/** When nothing is recorded, in milliseconds since the answer. */
interface Gap {
  readonly from: number;
  to: number;
}

/** A recording of a call, or of a part of it. Times are in milliseconds since the answer. */
export interface CallRecording {
  readonly sid: string;
  readonly source: RecordingSource;
  readonly channels: 1 | 2;
  /** Whose audio it has. */
  readonly track: "both" | "inbound" | "outbound";
  from: number;
  /** Absent while it runs. */
  to?: number;
  status: "in-progress" | "paused" | "completed" | "absent";
  /** Where it is silent; absent for one that leaves out what the flow doesn't record. */
  readonly gaps?: Gap[];
  readonly receiver: Receiver<RecordingEventName> | undefined;
}

/** The side whose audio a recording has; `undefined` for both. */
const sideOf = ({ track }: CallRecording): Side | undefined => {
  if (track === "both") return;
  return track === "inbound" ? "callee" : "application";
};

/** Whole seconds. */
export const secondsOf = ({ from, to = from }: CallRecording): number =>
  Math.round((to - from) / 1_000);

/** Removes the silence before and after what the callee said. */
export const trim = (recording: RecordedAudio, part: CallRecording): void => {
  const { from, to = from } = part;
  const first = recording.firstAudible(from, to);
  if (first === undefined) return;
  part.to = recording.lastAudible(from, to) ?? to;
  part.from = first;
};

/** A recording as a WAV, or the part that a player requests. */
export const fileOf = (
  { served }: { readonly served: ServedCall },
  part: CallRecording,
  { url, headers }: Request,
): Response | undefined => {
  const { from, to = served.talkTime, gaps, channels, status } = part;
  if (status !== "completed") return;
  const wanted =
    new URL(url).searchParams.get("channels") ?? new URL(url).searchParams.get("RequestedChannels");
  const count = wanted === "2" || (wanted === null && channels === 2) ? 2 : 1;
  const side = sideOf(part);
  return served.audio.download({ from, to, gaps, side }, headers.get("Range"), count);
};

/** A call on a carrier with markup: the state that other carriers do not have. */
export interface MarkupCall {
  /** The call, as each carrier has it. */
  readonly served: ServedCall;
  /** The account in requests about the call. */
  readonly accountSid: string;
  readonly fields: CallFields;
  /** How many events of the call were sent. */
  eventCount: number;
  /** Whether its telephone has rung. */
  hasRung: boolean;
  /** Who ends the call: whoever is called, or the flow and the API. */
  endedBy: "callee" | "caller";
  /** What answered, once it is known. */
  answeredBy: string | undefined;
  /** Its recordings, the oldest first; those that were deleted are left out. */
  readonly recordings: CallRecording[];
  /** The URL of a recording. */
  readonly recordingUrl: (sid: string) => string;
  /** Sends notifications of the call; absent while it isn't answered. */
  notify: ((messages: readonly Message[]) => void) | undefined;
  /** Makes the call continue elsewhere; absent while it isn't answered. */
  redirect: ((next: Next) => void) | undefined;
}

const states = {
  initiated: "initiated",
  ringing: "ringing",
  answered: "in-progress",
  completed: "completed",
} as const;

/** The status of a call that nobody answered, by the reason. */
export type Failures = Readonly<Partial<Record<Reason, string>>>;

/** The status of a call in requests to the application. */
export const statusOf = (
  { state, reason = "normal" }: Pick<CallFacts, "state" | "reason">,
  failures: Failures,
): string => (state === "failed" ? (failures[reason] ?? "failed") : states[state]);

/** A time in RFC 2822, by its milliseconds since 1970. */
export const rfc2822 = (time: number): string =>
  new Date(time).toUTCString().replace("GMT", "+0000");
