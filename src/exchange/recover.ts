import { fieldsOf, isRecord, isText } from "../lib/check.ts";
import type { AriClient } from "./ari.ts";
import { fencePrefix, startedBy } from "./channel-log.ts";
import type { Store, StoredRow } from "./store.ts";

/** How long a fence stands, in milliseconds: a request for a telephone that comes later than that came from nowhere. */
const fenceLifetime = 60_000;

/** How often the channels are compared with the calls, in milliseconds. */
const sweepInterval = 60_000;

/** A fence: a channel that calls nobody, and whose id no telephone can have meanwhile. */
const fenceEndpoint = `${fencePrefix}fence@outdial-fence`;

/** What a process before has left of a call. */
export type Left =
  /** Its telephone was connected until now. */
  | "live"
  /** Its telephone was called, or may have been. */
  | "ended"
  /** No telephone was called, and none will be. */
  | "not placed";

/** What recovering needs of the service. */
export interface RecoveryParts {
  readonly ari: Pick<AriClient, "app" | "isOpen" | "request">;
  readonly store: Store;
  readonly channelLog: string | undefined;
  /** Whether a call runs in this process. */
  readonly isLive: (id: string) => boolean;
  /** Ends a call that a process before has left. */
  readonly lose: (row: StoredRow, left: Left) => void;
  readonly onSwept: (channels: number) => void;
}

/** The id of the call that a channel or a bridge belongs to, as this exchange names them. */
const callOf = (name: string): string => name.replace(/^(media|bridge)_/, "").replace(/_\d+$/, "");

const itemsOf = (body: unknown): readonly { readonly id: string; readonly name: string }[] =>
  (Array.isArray(body) ? body : []).filter(isRecord).flatMap(({ id, name }) => {
    return isText(id) ? [{ id, name: isText(name) ? name : "" }] : [];
  });

/**
 * Compares Asterisk's channels with the store: ends calls whose process has died, and hangs up the telephones that nobody
 * serves. What isn't of this store is never touched.
 */
export class Recovery {
  readonly #parts: RecoveryParts;
  #sweeping: ReturnType<typeof setInterval> | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: RecoveryParts) {
    this.#parts = parts;
  }

  /** Recovers and sweeps now, and each minute. */
  start(): Promise<void> {
    this.#sweeping = setInterval(() => this.run(), sweepInterval);
    return this.run();
  }

  stop(): void {
    clearInterval(this.#sweeping);
  }

  /** Recovers and sweeps, after what runs already. While Asterisk is away nothing is found out. */
  run(): Promise<void> {
    this.#running = this.#running
      .then(async () => {
        await this.#recover();
        await this.#sweep();
      })
      .catch(() => {});
    return this.#running;
  }

  /**
   * Keeps an id from becoming a telephone's.
   *
   * @returns whether a telephone has it
   * @throws {TypeError} when Asterisk gives no answer
   */
  async fence(id: string): Promise<boolean> {
    const { ari, store } = this.#parts;
    store.keep(() => store.fence(id, Date.now() + fenceLifetime));
    const query = { endpoint: fenceEndpoint, app: ari.app, channelId: id };
    const { status } = await ari.request("POST", "/channels/create", query);
    if (status === 200) return false;
    if (status !== 409) throw new TypeError(`Asterisk answered HTTP ${status}`);
    const { status: found, body } = await ari.request("GET", `/channels/${id}`);
    // It may have ended since, or be the fence of a process before.
    if (found !== 200) return true;
    const { name } = fieldsOf(body);
    return !(isText(name) && name.startsWith(fencePrefix));
  }

  /** Ends the calls that no process runs. */
  async #recover(): Promise<void> {
    const { store, isLive, lose, channelLog } = this.#parts;
    const left = store.live.filter(({ id }) => !isLive(id));
    const fenced: StoredRow[] = [];
    await Promise.all(
      left.map(async (row) => {
        if (!row.isSettled && !(await this.fence(row.id))) fenced.push(row);
        else lose(row, (await this.#hangUp(row.id)) ? "live" : "ended");
      }),
    );
    const started = await startedBy(
      channelLog,
      fenced.map(({ id }) => id),
    );
    for (const row of fenced) {
      lose(row, started.get(row.id) === "not called" ? "not placed" : "ended");
    }
  }

  /** @returns whether it was there */
  async #hangUp(channel: string): Promise<boolean> {
    const { status } = await this.#parts.ari.request("DELETE", `/channels/${channel}`);
    return status < 300;
  }

  /** Hangs up what belongs to calls of this store that no process runs. */
  async #sweep(): Promise<void> {
    const { ari, store, isLive, onSwept } = this.#parts;
    const isLeft = (name: string) => {
      const id = store.call(name) ? name : callOf(name);
      return !isLive(id) && store.call(id) !== undefined;
    };
    const { body: channels } = await ari.request("GET", "/channels");
    const swept = itemsOf(channels).filter(({ id, name }) => {
      const isFence = name.startsWith(fencePrefix) && store.fencedUntil(id) > Date.now();
      return isLeft(id) && !isFence;
    });
    await Promise.all(swept.map(({ id }) => this.#hangUp(id)));
    const { body: bridges } = await ari.request("GET", "/bridges");
    for (const { id } of itemsOf(bridges)) {
      if (isLeft(id)) await ari.request("DELETE", `/bridges/${id}`);
    }
    if (swept.length > 0) onSwept(swept.length);
  }
}
