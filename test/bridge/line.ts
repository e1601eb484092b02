import type { MediaEvent, MediaSocket } from "outdial/flows";

type Listener = (event: MediaEvent) => void;

/** A media socket whose other end is the test. */
export class TestSocket implements MediaSocket {
  readyState = 1;
  /** What the bridge has sent. */
  readonly sent: { readonly type: string; readonly [field: string]: unknown }[] = [];
  closed: number | undefined;
  readonly listeners = new Map<string, Set<Listener>>();

  send(message: string): void {
    this.sent.push(JSON.parse(message));
  }

  close(code?: number): void {
    this.closed ??= code;
    this.readyState = 3;
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener));
  }

  removeEventListener(type: string, listener: Listener): void {
    this.listeners.get(type)?.delete(listener);
  }

  happen(type: string, event: object = {}): void {
    for (const listener of this.listeners.get(type) ?? []) listener({ type, ...event });
  }

  /** What the service sends first. */
  start(): void {
    const data = { encoding: "audio/l16", sample_rate: 8000, channels: 1 };
    const ids = { account_id: "ac_1", call_id: "cs_1", stream_id: "st_1", message_id: 1 };
    this.happen("message", { data: JSON.stringify({ type: "start", ...ids, data }) });
  }

  /** What the person says: 16-bit samples. */
  hears(samples: Int16Array): void {
    const audio_b64 = Buffer.from(samples.buffer).toString("base64");
    const message = { type: "audio", stream_id: "st_1", message_id: 2, data: { audio_b64 } };
    this.happen("message", { data: JSON.stringify(message) });
  }
}
