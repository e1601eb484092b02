import type { Context } from "../callbacks/signed-url.ts";
import { fieldsOf, isText } from "../lib/check.ts";

/** A recording that the service has, for `onRecording` of `flowHandler`. */
export interface RecordingInput {
  /** The call that it was made in. */
  readonly call_id: string;
  /** The name that the `record` has given it. */
  readonly as?: string | undefined;
  /** The service's id of it: it may come twice. */
  readonly recording_id: string;
  /** Where the audio is. It is a secret: whoever has a Telnyx URL has the audio, for ten minutes. */
  readonly recording_url: string;
  /** Whole seconds. */
  readonly duration?: number | undefined;
  /** The context of the signed `flow_url`. */
  readonly context: Context;
}

/** Whether a value can be the name of an answer or a recording (`as`). */
export const isAnswerName = (value: unknown): value is string =>
  isText(value) && /^[a-z]\w{0,31}$/.test(value);

/** The recording in a notification of the service; `undefined` while it isn't there, or there is none. */
export const recordingIn = (
  event: unknown,
): Pick<RecordingInput, "recording_id" | "recording_url" | "duration"> | undefined => {
  const { type, data } = fieldsOf(event);
  const { recording_id, recording_url, duration } = fieldsOf(data);
  if (type !== "recording.completed" || !isText(recording_id) || !isText(recording_url)) return;
  return {
    recording_id,
    recording_url,
    ...(Number.isFinite(duration) && { duration: Number(duration) }),
  };
};

/** The recording in a verified notification, as outdial's own interface sends it to `status_callback_url`. */
export const recordedBy = ({
  event,
  context,
}: {
  readonly event: { readonly call_id: string | null; readonly data?: unknown };
  readonly context: Context;
}): RecordingInput | undefined => {
  const recording = recordingIn(event);
  const { as } = fieldsOf(event.data);
  return (
    recording && {
      ...{ call_id: event.call_id ?? "", ...recording, context },
      ...(isText(as) && { as }),
    }
  );
};
