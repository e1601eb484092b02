import type { ApiParts } from "../server/api.ts";
import type { EmulatorEvent, RefusedEvent } from "../server/history.ts";
import { KeptKeys } from "../server/outdial/kept-keys.ts";
import type { EventLog } from "./event-log.ts";

/** How many refused requests are kept. */
const maxRefused = 100;

/** The most characters of a refused request's path and of its reason, which may name the path. */
const maxPath = 200;
const maxDetail = 400;

/** The requests that the API of an emulator has received. */
export class ReceivedRequests implements Pick<ApiParts, "onRefused" | "keys"> {
  /** How many valid requests for a call came, by `to_number`. */
  readonly posts: Map<string, number> = new Map();
  readonly keys: KeptKeys;
  readonly #eventLog: EventLog<EmulatorEvent>;
  #refused: readonly RefusedEvent[] = [];

  /** @param now - milliseconds since 1970, by the emulator's clock */
  constructor(eventLog: EventLog<EmulatorEvent>, now: () => number) {
    this.#eventLog = eventLog;
    this.keys = new KeptKeys(now);
  }

  /** The latest that were refused, the oldest first. */
  get refused(): readonly RefusedEvent[] {
    return this.#refused;
  }

  count(to_number: string): void {
    this.posts.set(to_number, (this.posts.get(to_number) ?? 0) + 1);
  }

  readonly onRefused: ApiParts["onRefused"] = ({ method, path, status, detail }) => {
    const event: RefusedEvent = {
      type: "refused",
      at: new Date().toISOString(),
      method,
      path: path.slice(0, maxPath),
      status,
      detail: detail.slice(0, maxDetail),
    };
    this.#refused = [...this.#refused, event].slice(-maxRefused);
    this.#eventLog.append(event);
  };

  clear(): void {
    this.posts.clear();
    this.keys.clear();
    this.#refused = [];
  }
}
