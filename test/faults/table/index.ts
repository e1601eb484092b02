import type { Fault } from "../fault.ts";
import { body } from "./body.ts";
import { connection } from "./connection.ts";
import { head } from "./head.ts";
import { http2Faults } from "./http2.ts";
import { network } from "./network.ts";
import { status } from "./status.ts";
import { tlsFaults } from "./tls.ts";

/** Every fault, in groups, with what is expected of it. */
export const groups: Readonly<Record<string, readonly Fault[]>> = {
  "The connection": connection,
  "The head": head,
  "The body": body,
  "The status": status,
  TLS: tlsFaults,
  "HTTP/2": http2Faults,
  "The network goes away": network,
};

/** Every fault, in the order in which it is run. */
export const faults: readonly Fault[] = Object.values(groups).flat();

/** Those with this in their name; either those that take the network away, or the rest. */
export const wantedOf = (only: string, apart: boolean): readonly Fault[] =>
  faults.filter(({ name, cut }) => name.includes(only) && Boolean(cut) === apart);
