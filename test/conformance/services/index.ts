import type { Case, Env } from "../case.ts";
import { cases as client } from "../client/index.ts";
import { type Entry, entries } from "../entries.ts";
import { type Carrier, entryWith, exemptedNames, exemptionOf } from "./carrier.ts";
import { ownCases } from "./own.ts";
import { carrier as telnyx } from "./telnyx.ts";
import { carrier as twilio } from "./twilio.ts";
import { carrier as vonage } from "./vonage.ts";

export type { Carrier } from "./carrier.ts";

/** Every carrier of the package, made when it is asked for: a Worker makes no random numbers before that. */
const carriers = { twilio, vonage, telnyx } as const;

/** The name of a carrier's service. */
export type ServiceName = keyof typeof carriers;

/** Whether a text is the name of a service. */
export const isService = (name: string): name is ServiceName => Object.hasOwn(carriers, name);

/** The names of all services. */
export const serviceNames: readonly ServiceName[] = Object.keys(carriers).filter(isService);

const made = new Map<ServiceName, Carrier>();

/** A carrier, by the name of its service. */
export const carrierOf = (name: ServiceName): Carrier => {
  const carrier = made.get(name) ?? carriers[name]();
  made.set(name, carrier);
  return carrier;
};

/** The entries that place calls, with a carrier. */
export const entriesWith = (name: ServiceName): readonly Entry[] =>
  entries.map((entry) => entryWith(carrierOf(name), entry));

/** Every case that is run with a carrier: the client's once for each entry, then the carrier's own. */
export const casesWith = (
  name: ServiceName,
  withEntries: readonly Entry[] = entriesWith(name),
): readonly Case[] => {
  const carrier = carrierOf(name);
  const all = [...client, ...ownCases(carrier)];
  return [
    ...withEntries.flatMap((entry) =>
      all.map(({ name, run }): Case => {
        const exempt = exemptionOf(carrier, name);
        return {
          name: `${entry.entry}: ${name}`,
          run: (env: Env) => run({ ...env, ...entry }),
          ...(exempt !== undefined && { exempt }),
        };
      }),
    ),
    ...carrier.cases,
  ];
};

/** The cases that a carrier's list of exemptions names and that are not there. */
export const unknownExemptions = (name: ServiceName): readonly string[] => {
  const names = client.map((each) => each.name);
  return exemptedNames(carrierOf(name)).filter((each) => !names.includes(each));
};
