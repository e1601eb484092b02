import type { RecordingUrls } from "../account.ts";
import type { Message, RecordedPart, ServedCall } from "../call.ts";
import type { FlowParts } from "../side.ts";

/** What the notification of a recording says of it. */
interface RecordingFacts {
  readonly recording_id: string;
  readonly recording_url: string;
  /** Whole seconds. */
  readonly duration: number;
  readonly as?: string;
}

/** What recordings are made with. */
interface RecordingParts {
  readonly urls: RecordingUrls;
  readonly messageOf: (call: ServedCall, facts: RecordingFacts) => Message;
}

/** The recordings that `record` makes of what callees say. The id of one is that of its call, a dash and its number. */
export class FlowRecordings {
  readonly #parts: RecordingParts;
  readonly #origins = new WeakMap<ServedCall, string>();
  readonly #made = new WeakMap<ServedCall, RecordedPart[]>();

  constructor(parts: RecordingParts) {
    this.#parts = parts;
  }

  /** @param url - where the request for the call came in */
  add(call: ServedCall, url: string): void {
    this.#origins.set(call, new URL(url).origin);
  }

  /** Begins a recording, and returns what ends it and sends its notification. */
  begin(call: ServedCall, as: string | undefined, { notify }: FlowParts): () => void {
    const from = call.talkTime;
    return () => {
      const to = call.talkTime;
      const made = this.#made.get(call) ?? [];
      made.push({ from, to, side: "callee", gaps: [] });
      this.#made.set(call, made);
      const recording_id = `${call.id}-${made.length}`;
      const recording_url = this.#parts.urls.urlOf(this.#origins.get(call) ?? "", recording_id);
      const seconds = (to - from) / 1_000;
      call.log({ type: "recording", url: recording_url, seconds });
      const facts = { recording_id, recording_url, duration: Math.round(seconds) };
      notify([this.#parts.messageOf(call, { ...facts, ...(as !== undefined && { as }) })]);
    };
  }

  /** A recording as a WAV, or the part that a player requests. */
  fileOf(call: ServedCall | undefined, number: number, { headers }: Request): Response | undefined {
    const part = call && this.#made.get(call)?.[number - 1];
    return part && call.audio.download(part, headers.get("Range"), 1);
  }
}
