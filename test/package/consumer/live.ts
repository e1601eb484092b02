import type {
  CallsClient,
  CarrierLive,
  CauseArea,
  CauseList,
  ListedCause,
  LiveRefusal,
  LiveRequest,
  RecordingList,
  Service,
} from "outdial";
import {
  type Cause,
  type EndedOptions,
  end,
  ended,
  get,
  type LiveCall,
  type LiveEndpoint,
  type LiveOptions,
  type LiveState,
  type OptionsOrClient,
  press,
  type RecordingOptions,
  type RedirectedCall,
  recording,
  redirect,
  type Why,
  why,
} from "outdial/calls";

const over: readonly LiveState[] = ["completed", "failed"];
const endpoint: LiveEndpoint = { baseUrl: "https://voice.example" };

/** Ends a call that lasts for too long. */
export const endLate = async (id: string, apiKey: string): Promise<boolean> => {
  const options: LiveOptions = { ...endpoint, apiKey };
  const { state }: LiveCall = await get(id, options);
  if (!over.includes(state)) await end(id, options);
  return over.includes(state);
};

/** Continues a live call at another flow. */
export const continueAt = (
  call: RedirectedCall,
  flow_url: string,
  options: LiveOptions,
): Promise<void> => redirect(call, flow_url, options);

export const download = async (url: string, options: RecordingOptions): Promise<ArrayBuffer> =>
  (await recording(url, options)).arrayBuffer();

/** What a carrier of one's own needs for calls that were placed. */
export const liveOf = ({ live }: Service): CarrierLive => live;
export const isOver = ({ hasEnded }: CarrierLive, refusal: LiveRefusal): boolean =>
  hasEnded(refusal);
export const methodOf = ({ method }: LiveRequest): string => method;

export const pressKeys = (id: string, options: LiveOptions): Promise<void> =>
  press(id, "12#", options);

/** What a page shows of a call that failed. */
export const failureOf = async (id: string, client: CallsClient): Promise<string> => {
  const { explanation, causes }: Why = await why(id, client);
  const links = causes.map(({ code, link, text, level }: Cause) => [level, code, link ?? text]);
  return [explanation, ...links.flat()].join(" ");
};
export const areaOf = ({ area }: ListedCause): CauseArea | undefined => area;
export const listOf = ({ causes }: CarrierLive): CauseList | undefined => causes;

/** Waits for the end of a call with what its client has. */
export const endOf = (id: string, client: CallsClient): Promise<LiveCall> => {
  const wait: EndedOptions = { endTimeout: 60_000 };
  const same: OptionsOrClient = client;
  return ended(id, same, wait);
};
export const latest = ({ urlIn }: RecordingList): string | undefined => urlIn({}, "", "cs_1");
