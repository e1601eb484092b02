import type { Side } from "../../../performer/media-socket.ts";
import type { RecordedAudio, ServedCall } from "../../../server/call.ts";
import type { Receiver, RecordingEventName } from "./fields.ts";

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
