import type { Received } from "../../../callbacks/receive.ts";
import type { Added } from "../../contacts/add.ts";
import type { Contact } from "../../contacts/contact.ts";
import type { Disposition } from "../../disposition.ts";
import type { Progress } from "../../ledger/campaign/progress.ts";
import type { Sample } from "../progress/history.ts";
import type { Share } from "../sharding/share.ts";

/** What a shard may be asked, and with what. */
export interface Asks {
  readonly open: Share;
  readonly add: readonly Contact[];
  readonly note: Received;
  readonly pause: string | undefined;
  readonly resume: undefined;
  readonly cancel: undefined;
  readonly block: readonly string[];
  readonly erase: readonly string[];
  readonly progress: undefined;
  readonly history: undefined;
}

/** What it answers. Results come in another way: a line of JSON for each. */
export interface Answers {
  readonly open: unknown;
  readonly add: Added;
  readonly note: boolean;
  readonly pause: unknown;
  readonly resume: unknown;
  readonly cancel: unknown;
  readonly block: number;
  readonly erase: number;
  readonly progress: Progress;
  readonly history: readonly Sample[];
}

/** Which results are wanted: all, or those with one disposition. */
export interface Wanted {
  readonly only?: Disposition | undefined;
}

const deeds: readonly string[] = [
  "open",
  "add",
  "note",
  "pause",
  "resume",
  "cancel",
  "block",
  "erase",
  "progress",
  "history",
] satisfies (keyof Asks)[];

export const isDeed = (what: string): what is keyof Asks => deeds.includes(what);
