import {
  type ApiKey,
  type Attempt,
  BadParametersException,
  Call,
  type CallFields,
  type CallFlow,
  CallParams,
  type Calls,
  type CallsClient,
  Client,
  type ClientOptions,
  calls,
  type Exception,
  type ExceptionFacts,
  type ExceptionName,
  type Fetch,
  type FieldError,
  type FlowAtUrl,
  type FlowInRequest,
  ForbiddenException,
  isException,
  NetworkException,
  type OnAttempt,
  type Options,
  type ParameterIssue,
  type Placed,
  ServiceException,
  TimeoutException,
  UnauthorizedException,
} from "outdial";
import { create, Call as SameCall, CallParams as SameParams } from "outdial/calls";
import { is, parse } from "valibot";
import { params } from "./params.ts";

const { from_number, to_number }: CallFields = params;
export const inRequest = (flow: CallFlow): Promise<Call> => {
  const begins: FlowInRequest = { flow };
  return calls.create({ from_number, to_number, ...begins }, options);
};
export const atUrl = ({ flow_url }: FlowAtUrl): string => flow_url;

const send: Fetch = (url, init) => fetch(url, init);
const key: ApiKey = async () => "key";
const lines: string[] = [];
const line = ({ method, url, attempt, milliseconds, status, requestId, placed }: Attempt): string =>
  [method, url, attempt, milliseconds, status, requestId, placed].join(" ");
const onAttempt: OnAttempt = (attempt) => lines.push(line(attempt));
const kept: ClientOptions = {
  baseUrl: "https://voice.test",
  fetch: send,
  timeout: false,
  onAttempt,
};
const options: Options = { ...kept, apiKey: key, retries: 2, path: "auto", signal: undefined };

export const place = async (): Promise<readonly Call[]> => {
  await using client = new Client(key, kept);
  const either: CallsClient = client;
  const manager: Calls = either.calls;
  return Promise.all([
    calls.create(params, options),
    create({ ...params, record: false }, options),
    manager.create(params, { timeout: 1_000, signal: new AbortController().signal }),
  ]);
};

/** Every exception is distinguished by its name, and none is forgotten. */
const reported = (error: Exception): string => {
  switch (error.name) {
    case "BadParametersException": {
      const [issue]: readonly ParameterIssue[] = error.issues;
      return `${error.param} ${issue?.message}`;
    }
    case "ServiceException":
    case "UnauthorizedException":
    case "ForbiddenException": {
      const [first]: readonly FieldError[] = error.errors ?? [];
      return `${error.code} ${error.detail} ${error.retryAfter} ${first?.loc.join()} ${error.requestId}`;
    }
    case "TimeoutException":
    case "NetworkException":
      return error.message;
    default: {
      const none: never = error;
      return none;
    }
  }
};

export const explain = (
  error: unknown,
): { readonly text: string; readonly placed: Placed | undefined } => {
  if (isException(error)) return { text: reported(error), placed: error.placed };
  throw error;
};

const facts: ExceptionFacts = { placed: "maybe", code: 503 };
export const exceptions: readonly ServiceException[] = [
  new BadParametersException([{ param: "to_number", message: "is missing" }]),
  new ForbiddenException("refused", facts),
  new NetworkException("lost", facts),
  new ServiceException("failed", facts),
  new TimeoutException("late", facts),
  new UnauthorizedException("refused", facts),
];
export const names: readonly ExceptionName[] = exceptions.map(({ name }) => name);

export const call = (json: string): Call => parse(SameCall, JSON.parse(json));
export const isCall = (value: unknown): value is Call => is(Call, value);
export const areParams = (value: unknown): value is SameParams =>
  is(SameParams, value) && is(CallParams, value);
