import { type Calls, type CallsClient, type Options, ServiceException } from "outdial";
import { type Call, Client, calls, ServiceException as SameException } from "outdial/fetch";
import { params } from "./params.ts";

// What is written for one entry takes the other.
export const place = async ({ apiKey, ...kept }: Options): Promise<readonly Call[]> => {
  await using client: CallsClient = new Client(apiKey, kept);
  const managers: readonly Calls[] = [client.calls];
  const placed = managers.map((manager) => manager.create(params, { timeout: 1_000 }));
  return Promise.all([calls.create(params, { ...kept, apiKey }), ...placed]);
};

export const isSame: boolean =
  new SameException("failed", { placed: "no" }) instanceof ServiceException;
