import {
  type Acknowledged,
  type AfterDial,
  type BodySource,
  type CallOptions,
  type CallService,
  type CarrierClient,
  type CarrierMedia,
  type CarrierWebhooks,
  calls,
  type Decision,
  type Dialed,
  type EncodedCall,
  type Endpoint,
  type FlowInput,
  type Head,
  type MediaCodec,
  type MediaInput,
  type MediaMessage,
  type MediaStream,
  type OwnUrl,
  type PlaybackLine,
  type Redirect,
  type Service,
  type ServiceUrl,
  type Settings,
  type SignatureRefusal,
} from "outdial";
import type { CampaignService } from "outdial/campaigns";
import {
  type PublicKey,
  type TelnyxCallsOptions,
  type TelnyxOptions,
  telnyx,
  telnyxCalls,
} from "outdial/telnyx";
import { type AuthToken, type TwilioOptions, twilio, twilioCalls } from "outdial/twilio";
import {
  type SignatureSecret,
  type VonageOptions,
  type VonageVoice,
  vonage,
  vonageCalls,
} from "outdial/vonage";
import { params } from "./params.ts";

const authToken: AuthToken = async () => "the auth token";
const twilioOptions: TwilioOptions = { accountSid: `AC${"0".repeat(32)}`, authToken };
const signatureSecret: SignatureSecret = "a secret that the dashboard of Vonage shows";
const premium: VonageVoice = { style: 2, premium: true };
const vonageOptions: VonageOptions = {
  applicationId: "00000000-0000-0000-0000-000000000000",
  signatureSecret,
  voice: { "en-US": premium },
};

const publicKey: PublicKey = async () => ["11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="];
const telnyxCallsOptions: TelnyxCallsOptions = { applicationId: "1494404757140276705" };
const telnyxOptions: TelnyxOptions = { ...telnyxCallsOptions, publicKey };

export const services: readonly Service[] = [
  twilio(twilioOptions),
  vonage(vonageOptions),
  telnyx(telnyxOptions),
];
const onlyCalls: readonly CallService[] = [
  twilioCalls(twilioOptions),
  vonageCalls(vonageOptions),
  telnyxCalls(telnyxOptions),
];
export const accounts: readonly CampaignService[] = onlyCalls;

export const place = (service: CallService, more: CallOptions): Promise<unknown> => {
  const at: ServiceUrl = { baseUrl: "https://voice.test" };
  const endpoint: Endpoint = { service, ...at };
  return calls.create(params, { ...more, ...endpoint, apiKey: "key" });
};

/** A carrier that counts what it sends: whoever needs another one makes it of the same parts. */
export const counting = (service: Service, count: () => void): Service => {
  const { client, application, media }: Service = service;
  const encodeCall: CarrierClient["encodeCall"] = async (...call) => {
    count();
    const encoded: EncodedCall = await client.encodeCall(...call);
    return encoded;
  };
  const side: CarrierWebhooks = application;
  const streams: CarrierMedia = media;
  return { ...service, client: { ...client, encodeCall }, application: side, media: streams };
};

export const keyOf = ({ apiKey }: Settings): unknown => apiKey;
export const bodyOf = ({ source }: Head): BodySource => source;
export const calledFrom = ({ call }: FlowInput): string => call.from_number;
export const branchOf = ({ after }: FlowInput): AfterDial["on_busy"] => after?.on_busy;
export const reasonOf = ([reason]: SignatureRefusal): string => reason;
export const encode: MediaCodec["audio"] = () => [new Uint8Array(320) satisfies MediaMessage];
export const typeOf = ({ type }: MediaInput): string => type;
export const rateOf = ({ sampleRate }: MediaStream): number => sampleRate();
export const acknowledges = (line: PlaybackLine): Acknowledged | undefined => line.acknowledged;

/** What a carrier's document needs of a decision. */
export const leadsTo = ({ action }: Decision): Redirect["flow_url"] | undefined =>
  action.action === "redirect" ? action.flow_url : undefined;
export const follow = ({ signOwn }: Decision, dialed: Dialed): Promise<string> | undefined => {
  const own: OwnUrl = { dialed };
  return signOwn?.(own);
};
