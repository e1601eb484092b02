import type { Case } from "../case.ts";
import { cases as handler } from "./handler.ts";
import { cases as request } from "./request.ts";
import { cases as signatures } from "./signatures.ts";
import { cases as telnyx } from "./telnyx.ts";
import { cases as timestamped } from "./timestamped.ts";
import { cases as twilio } from "./twilio.ts";
import { cases as url } from "./url.ts";
import { cases as verification } from "./verification.ts";

/** What a notification must prove, and what becomes of it. */
export const cases: readonly Case[] = [
  ...url,
  ...signatures,
  ...timestamped,
  ...verification,
  ...request,
  ...handler,
  ...twilio,
  ...telnyx,
];
