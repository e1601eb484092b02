import type { Carrier } from "./carrier.ts";
import { telnyxCarrier } from "./telnyx/carrier.ts";
import { twilioCarrier } from "./twilio/carrier.ts";
import { vonageCarrier } from "./vonage/carrier.ts";

/**
 * The carriers, by the names that the emulator's `service` and the command's `--service` take. A new one is its folder and
 * a line here.
 */
export const carriers: Readonly<Record<string, Carrier>> = {
  twilio: twilioCarrier,
  telnyx: telnyxCarrier,
  vonage: vonageCarrier,
};

/** The carrier with a name, if there is one. */
export const carrierNamed = (name: string): Carrier | undefined =>
  Object.hasOwn(carriers, name) ? carriers[name] : undefined;
