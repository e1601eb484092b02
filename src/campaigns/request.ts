import { signUrlAt } from "../callbacks/signed-url.ts";
import type { CallAtUrls } from "../calls/params.ts";
import { fnv1a, utf8 } from "../lib/encoding.ts";
import type { DueContact } from "./due-contacts.ts";
import type { CampaignSettings, ServiceSettings } from "./options.ts";

/** Who calls a telephone: one of the numbers, always the same while the numbers are. */
export const senderOf = (to_number: string, from_number: string | readonly string[]): string => {
  if (typeof from_number === "string") return from_number;
  // It begins with a word of its own, so that it differs from that of the shards; its low bits follow the last digit alone.
  const hash = fnv1a(utf8(`from:${to_number}`));
  return from_number[((hash ^ (hash >>> 16)) >>> 0) % from_number.length] ?? "";
};

/** Who calls a contact by a service: one of several has numbers of its own, and the contact may have called by another's. */
export const senderAt = (
  { to_number, from_number: own }: Pick<DueContact, "to_number" | "from_number">,
  { from_number, name }: Pick<ServiceSettings, "from_number" | "name">,
): string => {
  const isKnown = own !== undefined && (name === undefined || [from_number].flat().includes(own));
  return isKnown ? own : senderOf(to_number, from_number);
};

/** Seconds that a URL is valid after its attempt is given up: for clocks that differ, and late deliveries. */
const urlMargin = 86_400;

/**
 * The parameters of an attempt: its own signed URLs bring back which attempt it is.
 *
 * @param signed - when they are signed, by the machine's clock
 */
export const paramsOf = async (
  { contact, written: to_number, id, variables, attempts, from_number = "" }: DueContact,
  campaign: string,
  settings: CampaignSettings,
  signed: number,
): Promise<CallAtUrls> => {
  const { flow_url, status_callback_url, record, secret, settleTimeout } = settings;
  const expiresIn = Math.ceil(settleTimeout / 1000) + urlMargin;
  const context = { campaign, contact, attempt: attempts + 1, ...(id !== undefined && { id }) };
  const flowContext =
    variables === undefined ? context : { ...context, variables: JSON.parse(variables) };
  const [flow, status] = await Promise.all([
    signUrlAt(flow_url, { secret, context: flowContext, expiresIn }, signed),
    signUrlAt(status_callback_url, { secret, context, expiresIn }, signed),
  ]);
  return {
    from_number,
    to_number,
    flow_url: flow,
    status_callback_url: status,
    ...(record !== undefined && { record }),
  };
};

/** The last time that a `Date` can have, in milliseconds since 1970. */
const lastDate = 8.64e15;

/** The machine's time, which the client reads, at which a campaign's clock shows an instant. */
export const onMachine = (clock: () => number, at: number): Date | undefined => {
  const before = Date.now();
  const now = clock();
  const after = Date.now();
  const ahead = now < before ? now - before : Math.max(0, now - after);
  return at === Number.POSITIVE_INFINITY ? undefined : new Date(Math.min(lastDate, at - ahead));
};
