import { Client, calls } from "outdial";
import * as straight from "outdial/fetch";

/** An entry of the package that places calls, and the names by which it does. */
export interface Entry {
  /** As it is imported. */
  readonly entry: string;
  readonly calls: Pick<typeof calls, "create">;
  readonly Client: typeof Client | typeof straight.Client;
}

/** Every entry that places calls. */
export const entries: readonly Entry[] = [
  { entry: "outdial", calls, Client },
  { entry: "outdial/fetch", ...straight },
];
