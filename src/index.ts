/**
 * Places outbound voice calls over an HTTP API from any JavaScript runtime.
 *
 * @module
 */

export { Call } from "./calls/call.ts";
export * as calls from "./calls/index.ts";
export { CallParams } from "./calls/params.ts";
export { type Calls, Client, type ClientOptions } from "./client.ts";
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
export type { ApiKey, Fetch, Options } from "./options.ts";
