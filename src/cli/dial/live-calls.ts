import { end } from "../../calls/end.ts";
import { get } from "../../calls/get.ts";
import type { LiveEndpoint } from "../../calls/live.ts";
import type { CampaignOptions } from "../../campaigns/index.ts";
import type { ApiKey } from "../../options.ts";

type LiveCalls = Required<Pick<CampaignOptions, "end">> & Pick<CampaignOptions, "get">;

/** What a campaign reads and ends its calls by. */
export interface LiveCallFunctions {
  readonly functions: LiveCalls;
  /** For the plan. */
  readonly warnings: readonly string[];
}

const unread =
  "calls can't be asked for: a call whose notification is lost holds its slot until --settle. Telnyx needs OUTDIAL_ACCOUNT_SID";

/** Whether the account's options suffice to read a call. */
export const canRead = ({ service, baseUrl = "" }: LiveEndpoint): boolean => {
  try {
    return !service || Boolean(service.live.get("id", baseUrl));
  } catch {
    return false;
  }
};

/** The functions by which a campaign asks for its calls and ends them, with the account that places them. */
export const liveCallsOf = (apiKey: ApiKey, endpoint: LiveEndpoint): LiveCallFunctions => {
  const options = { apiKey, ...endpoint };
  const ending = { end: (id: string) => end(id, options) };
  return canRead(endpoint)
    ? { functions: { ...ending, get: (id) => get(id, options) }, warnings: [] }
    : { functions: ending, warnings: [unread] };
};
