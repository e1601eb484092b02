import { carrier as telnyx } from "../telnyx/stage.ts";
import { carrier as twilio } from "../twilio/stage.ts";
import { carrier as vonage } from "../vonage/stage.ts";
import type { Carrier } from "./carrier.ts";
import type { MarkupCarrier } from "./markup.ts";

/** The carriers whose applications answer XML. */
export const markupCarriers: readonly MarkupCarrier[] = [twilio, telnyx];

/** Every carrier of the package. */
export const carriers: readonly Carrier[] = [...markupCarriers, vonage];
