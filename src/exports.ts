/** What `outdial` and `outdial/fetch` export beside `calls` and `Client`. */

export type { LiveCall, LiveState } from "./calls/call.ts";
export { Call } from "./calls/call.ts";
export {
  type CallAtUrls,
  type CallFields,
  type CallFlow,
  CallParams,
  type FlowAtUrl,
  type FlowInRequest,
} from "./calls/params.ts";
export type { Calls, CallsClient, ClientOptions } from "./client.ts";
export {
  BadParametersException,
  type Exception,
  type ExceptionFacts,
  type ExceptionName,
  type FieldError,
  ForbiddenException,
  isException,
  NetworkException,
  type ParameterIssue,
  type Placed,
  ServiceException,
  TimeoutException,
  UnauthorizedException,
} from "./errors.ts";
export type { AfterDial, Dialed } from "./flows/dialed.ts";
export type {
  CarrierMedia,
  MediaCodec,
  MediaInput,
  MediaStream,
} from "./flows/media/carrier-media.ts";
export type { Acknowledged, PlaybackLine } from "./flows/media/playback.ts";
export type { MediaMessage } from "./flows/media/socket.ts";
export type {
  CarrierWebhooks,
  Decision,
  FlowInput,
  OwnUrl,
  Redirect,
  SignatureRefusal,
} from "./flows/webhooks.ts";
export type { Attempt, EncodedCall, Fetch, OnAttempt } from "./http/post.ts";
export type { Head } from "./http/response.ts";
export type { BodySource } from "./lib/body.ts";
export type {
  ApiKey,
  CallOptions,
  CallService,
  CarrierClient,
  Endpoint,
  Options,
  ServiceUrl,
  Settings,
} from "./options.ts";
export type {
  CarrierLive,
  CauseArea,
  CauseList,
  ListedCause,
  LiveRefusal,
  LiveRequest,
  RecordingList,
  RedirectedCall,
  Service,
} from "./service.ts";
