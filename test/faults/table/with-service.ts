import { type Carrier, carrierOf, type ServiceName } from "../../conformance/services/index.ts";
import type { Behaviour, Difference, Fault, Outcome } from "../fault.ts";

/** The ids of the table in the carrier's field: as long as before, so that no length in the table changes. */
const textWith = ({ idField }: Carrier, text: string): string =>
  text.replaceAll(/"id":"cs_(\d)"/g, (_, digit: string) => idField(digit));

const behaviourWith = (service: ServiceName, behaviour: Behaviour = {}): Behaviour => {
  const carrier = carrierOf(service);
  const { body, raw, frames } = behaviour;
  return {
    ...behaviour,
    service,
    ...(body !== undefined && { body: textWith(carrier, body) }),
    ...(raw !== undefined && { raw: textWith(carrier, raw) }),
    ...(frames && {
      frames: frames.map((frame) => ({
        ...frame,
        ...(frame.data !== undefined && { data: textWith(carrier, frame.data) }),
      })),
    }),
  };
};

/** What a status means with the carrier, which has one path. */
const outcomeWith = <T extends Partial<Outcome>>({ placedNothing }: Carrier, outcome: T): T => {
  const { code, posts } = outcome;
  const isRefusal = code !== undefined && code >= 300;
  return {
    ...outcome,
    ...(isRefusal && { placed: placedNothing.includes(code) ? "no" : "maybe" }),
    ...(isRefusal && posts === 2 && { posts: 1 }),
  } as T;
};

/** A fault of a server that answers as a carrier does. */
export const faultWith = (service: ServiceName, fault: Fault): Fault => {
  const carrier = carrierOf(service);
  const except = Object.entries(fault.except ?? {}).map(([where, difference]) => {
    const { code = fault.expected.code } = difference ?? {};
    const isToldOther = difference?.placed !== undefined && code !== undefined && code >= 300;
    const own: Difference | undefined =
      difference && isToldOther
        ? { ...difference, placed: outcomeWith(carrier, { ...difference, code }).placed ?? "maybe" }
        : difference;
    return [where, own];
  });
  return {
    ...fault,
    server: behaviourWith(service, fault.server),
    expected: outcomeWith(carrier, fault.expected),
    ...(fault.except && { except: Object.fromEntries(except) }),
  };
};
