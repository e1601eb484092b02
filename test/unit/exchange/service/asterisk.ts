import { appendFileSync } from "node:fs";
import type { AriClient, AriResponse, ChannelEvent } from "../../../../src/exchange/ari.ts";

/** An Asterisk without telephones: its channels, its log of them, and what was asked of it. */
export class FakeAsterisk implements AriClient {
  readonly app = "outdial";
  readonly socketUrl = "ws://asterisk.test";
  readonly headers = {};
  isOpen = true;
  /** The channels that are there, and their names. */
  readonly channels = new Map<string, string>();
  /** All telephones that were called, by their channels. */
  readonly called: string[] = [];
  readonly hungUp: string[] = [];
  readonly #watchers = new Map<string, (event: ChannelEvent) => void>();
  readonly #log: string | undefined;
  /** Called with each request for a telephone, before anything comes of it. */
  onOriginate: (id: string) => unknown = () => {};
  /** Called when the socket of events is lost, or back. */
  onState: (state: "lost" | "back") => void = () => {};

  /** @param log - the file of its log of channels; it writes none by default */
  constructor(log?: string) {
    this.#log = log;
  }

  async start(): Promise<void> {}

  close(): void {}

  watch(channel: string, onEvent: (event: ChannelEvent) => void): () => void {
    this.#watchers.set(channel, onEvent);
    return () => this.#watchers.delete(channel);
  }

  /** Reports an event of a channel. */
  emit(channel: string, event: ChannelEvent): void {
    this.#watchers.get(channel)?.(event);
  }

  /** A channel starts. */
  begin(id: string, name: string): void {
    this.channels.set(id, name);
    if (this.#log) appendFileSync(this.#log, `CHAN_START,${id},${name}\n`);
  }

  send(...request: Parameters<AriClient["request"]>): void {
    this.request(...request).catch(() => {});
  }

  readonly request: AriClient["request"] = async (method, path, query = {}) => {
    if (!this.isOpen) throw new TypeError("Asterisk is away");
    const { channelId = "", endpoint = "" } = query;
    const id = decodeURIComponent(path.split("/")[2] ?? "");
    switch (`${method} ${path.replace(/^(\/channels)\/(?!create|externalMedia).+/, "$1/id")}`) {
      case "POST /channels":
        await this.onOriginate(channelId);
        return this.#create(channelId, endpoint, () => this.called.push(channelId));
      case "POST /channels/create":
        return this.#create(channelId, endpoint);
      // Its media never come: an answered call waits for them.
      case "POST /channels/externalMedia":
        return new Promise<AriResponse>(() => {});
      case "GET /channels":
        return this.#answer(200, this.#all());
      case "GET /bridges":
        return this.#answer(200, []);
      case "GET /channels/id":
        return this.channels.has(id)
          ? this.#answer(200, { id, name: this.channels.get(id) })
          : this.#answer(404, {});
      case "DELETE /channels/id": {
        if (!this.channels.delete(id)) return this.#answer(404, {});
        this.hungUp.push(id);
        return this.#answer(204, undefined);
      }
      default:
        return this.#answer(200, {});
    }
  };

  #all(): readonly object[] {
    return [...this.channels].map(([id, name]) => ({ id, name }));
  }

  #create(id: string, endpoint: string, then: () => void = () => {}): AriResponse {
    if (this.channels.has(id)) return this.#answer(409, {});
    this.begin(id, endpoint);
    then();
    return this.#answer(200, { id });
  }

  #answer(status: number, body: unknown): AriResponse {
    return { status, body };
  }
}
