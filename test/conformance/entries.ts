import { Client, calls } from "outdial";
import * as straight from "outdial/fetch";

/** An entry of the package that places calls, and the names by which it does. */
export interface Entry {
  /** As it is imported. */
  readonly entry: string;
  readonly calls: Pick<typeof calls, "create">;
  readonly Client: typeof Client | typeof straight.Client;
  /** Whether an HTTP status says that no call was placed. */
  readonly refuses: (status: number) => boolean;
}

/** The refusals of outdial's own interface: a proxy may send these four for a request that was processed. */
const refuses = (status: number): boolean =>
  [307, 308].includes(status) ||
  (status >= 400 && status < 500 && ![408, 409, 425, 499].includes(status));

/** Every entry that places calls. */
export const entries: readonly Entry[] = [
  { entry: "outdial", calls, Client, refuses },
  { entry: "outdial/fetch", ...straight, refuses },
];
