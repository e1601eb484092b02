/** What `outdial` and `outdial/fetch` export beside `calls` and `Client`. */
export { Call } from "./calls/call.ts";
export type { LiveCall, LiveState } from "./calls/live-call.ts";
export { CallParams } from "./calls/params.ts";
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
export type { Acknowledged, PlaybackLine } from "./flows/media/playback.ts";
export type { MediaStream } from "./flows/media/session.ts";
export type { Attempt, Fetch, OnAttempt } from "./http/post.ts";
export type { Head } from "./http/response.ts";
export type { BodySource } from "./lib/body.ts";
export type { ApiKey, CallOptions, Endpoint, Options, ServiceUrl, Settings } from "./options.ts";
export type {
  CallService,
  CarrierClient,
  CarrierLive,
  CarrierMedia,
  CarrierWebhooks,
  Dialed,
  EncodedCall,
  FlowInput,
  LiveRefusal,
  LiveRequest,
  MediaCodec,
  MediaInput,
  MediaMessage,
  RedirectedCall,
  Service,
  SignatureRefusal,
} from "./service.ts";
