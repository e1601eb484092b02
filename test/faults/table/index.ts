import { type Runtime, runtimes } from "../../conformance/case.ts";
import type { ServiceName } from "../../conformance/services/index.ts";
import { type Fault, protocolsOf } from "../fault.ts";
import { body } from "./body.ts";
import { connection } from "./connection.ts";
import { head } from "./head.ts";
import { http2Faults } from "./http2.ts";
import { network } from "./network.ts";
import { status } from "./status.ts";
import { tlsFaults } from "./tls.ts";
import { faultWith } from "./with-service.ts";

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

/** Every fault, in the order in which it is run, done to a call by outdial's own interface or with a carrier. */
export const faultsOf = (service?: ServiceName): readonly Fault[] => {
  const faults = Object.values(groups).flat();
  return service ? faults.map((fault) => faultWith(service, fault)) : faults;
};

/** Which faults are wanted. */
export interface Wanted {
  /** A regular expression for their names. */
  readonly only: string;
  /** Each fault in one runtime only, which this seed chooses among those that can meet it. */
  readonly seed?: number | undefined;
  /** The carrier that calls are placed with; without one, outdial's own interface. */
  readonly service?: ServiceName | undefined;
}

/** The place in a list that a seed chooses for a fault. */
const placeOf = (name: string, seed: number, length: number): number => {
  let hash = seed >>> 0;
  for (const letter of name) hash = (Math.imul(hash, 31) + (letter.codePointAt(0) ?? 0)) >>> 0;
  return (hash % 9973) % length;
};

/** Those that a runtime meets; either those that take the network away, or the rest. */
export const wantedOf = (
  { only, seed, service }: Wanted,
  runtime: Runtime,
  isApart: boolean,
): readonly Fault[] =>
  faultsOf(service).filter((fault) => {
    if (!new RegExp(only).test(fault.name) || Boolean(fault.cut) !== isApart) return false;
    if (seed === undefined) return true;
    const able = runtimes.filter((each) => protocolsOf(fault, each).length > 0);
    // One runtime loses its network, as each outage takes seconds.
    return able[placeOf(fault.cut ? "" : fault.name, seed, able.length)] === runtime;
  });
