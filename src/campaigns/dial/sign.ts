import { signUrl } from "../../callbacks/url/sign.ts";
import type { CallParams } from "../../calls/params.ts";
import type { ContactRow } from "../ledger/contact.ts";
import type { CampaignSettings } from "../settings.ts";

/** Seconds that a URL outlives the horizon of its call: for clocks that differ, and late deliveries. */
const margin = 86_400;

/** What an attempt is to POST: its own signed URLs bring back which it is. */
export const sign = async (
  { contact, to_number, id, variables, attempts }: ContactRow,
  campaign: string,
  settings: CampaignSettings,
): Promise<CallParams> => {
  const { from_number, flow_url, status_callback_url, record, secret, settle } = settings;
  const expiresIn = Math.ceil(settle) + margin;
  const context = { campaign, contact, attempt: attempts + 1, ...(id !== undefined && { id }) };
  const said = variables === undefined ? context : { ...context, variables: JSON.parse(variables) };
  const [flow, status] = await Promise.all([
    signUrl(flow_url, { secret, context: said, expiresIn }),
    signUrl(status_callback_url, { secret, context, expiresIn }),
  ]);
  return {
    from_number,
    to_number,
    flow_url: flow,
    status_callback_url: status,
    ...(record !== undefined && { record }),
  };
};
