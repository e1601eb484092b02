/** Does once what is measured, and gives the id out of the answer. */
export type Place = () => Promise<string>;

/** Makes a client as its manual says, pointed at a server of ours. The signal is for those that are measured with one. */
export type Connect = (baseUrl: string, signal?: AbortSignal) => Place;

export const apiKey = "ak_0123456789abcdefghijklmnopqrstuvwxyzABCDEFG";

/** The call that everyone places, or as much of it as the peer's own POST takes. */
export const params = {
  from_number: "+12025550199",
  to_number: "+12025550100",
  flow_url: "https://app.test/flow",
  status_callback_url: "https://app.test/status",
} as const;
