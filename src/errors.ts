/** Whether a telephone may have rung. `"no"`: certainly not. `"maybe"`: every other case. */
export type Placed = "no" | "maybe";

/** One error that the service reports for one field. */
export interface FieldError {
  /** The path of the field, from the outside in: `["body", "to_number"]`, `["header", "x-api-key"]`. */
  readonly loc: readonly string[];
  /** The service's message, without the API key and telephone numbers. */
  readonly msg: string;
  /** The service's name for the rule, such as `"missing"`; empty when it sent none. */
  readonly type: string;
}

/** One rule that a parameter or an option breaks: the field and the rule, never the value. */
export interface ParameterIssue {
  /** The field of the parameters (`"to_number"`) or the option (`"baseUrl"`). */
  readonly param: string;
  /** The rule, as the end of a sentence that starts with `param`. */
  readonly message: string;
}

/** What is known of a failed call, apart from the message. */
export interface ExceptionFacts {
  /** Whether a telephone may have rung; absent if no call was being placed. */
  readonly placed?: Placed | undefined;
  /** The HTTP status. */
  readonly code?: number | undefined;
  /** The service's own explanation. */
  readonly detail?: string | undefined;
  /** The service's constant for the error: its `code`. */
  readonly reason?: string | undefined;
  /** The service's constant for the kind of error. */
  readonly type?: string | undefined;
  /** The errors of each field. */
  readonly errors?: readonly FieldError[] | undefined;
  /** The seconds that the service asks to wait. */
  readonly retryAfter?: number | undefined;
  /** The request's id at the service. */
  readonly requestId?: string | undefined;
  /** The last state of a call whose end did not come. */
  readonly state?: string | undefined;
  /** The first field or option that breaks a rule. */
  readonly param?: string | undefined;
  /** Every rule that is broken. */
  readonly issues?: readonly ParameterIssue[] | undefined;
}

/** The literal names of the exceptions. */
export type ExceptionName =
  | "ServiceException"
  | "BadParametersException"
  | "UnauthorizedException"
  | "ForbiddenException"
  | "TimeoutException"
  | "NetworkException";

const outcome = { no: "no call was placed", maybe: "a call may have been placed" } as const;

/**
 * The service refused the request, failed, or sent a response that is not valid. This is the base class
 * of the other exceptions, and the exception for each HTTP status that has no class of its own.
 *
 * It never contains the API key or a telephone number. It has no `cause`, because an error of the
 * platform may hold the request with its headers.
 *
 * @example Decide by what is known about the telephone
 * ```ts
 * import { calls, ServiceException } from "outdial";
 * import { createEmulator } from "outdial/emulator";
 *
 * const { apiKey, fetch } = createEmulator({ clock: "instant", fetch: () => new Response() });
 * const params = {
 *   from_number: "+12025550199",
 *   to_number: "+12025550110", // here the emulator answers 503
 *   flow_url: "https://app.test/flow",
 *   status_callback_url: "https://app.test/status",
 * };
 * try {
 *   await calls.create(params, { apiKey, baseUrl: "https://emulator.test", fetch });
 * } catch (error) {
 *   if (!(error instanceof ServiceException)) throw error;
 *   console.log(error.code, error.placed, error.retryAfter); // 503 "maybe" 1
 * }
 * ```
 * @see docs/errors.md
 */
export class ServiceException extends Error {
  /** The literal name of the class, whole even in minified code. */
  override readonly name: ExceptionName = "ServiceException";
  /**
   * `"no"`: no telephone rang. `"maybe"`: a telephone may have rung. Only a status notification shows
   * whether it did: don't repeat the call automatically. Absent in the exceptions of `get`, `end`, `redirect` and
   * `recording`, which place no call and may be repeated: they say nothing of the call's own request.
   */
  declare readonly placed?: Placed;
  /** The HTTP status; `0` for a redirect whose status a browser hides; absent when no head came. */
  declare readonly code?: number;
  /** The service's own explanation, without the key and anything that looks like a telephone number. */
  declare readonly detail?: string;
  /** The service's own constant for the error, its body's `code`. Compare this, not the message. */
  declare readonly reason?: string;
  /** The service's own constant for the kind of error, its body's `type`. */
  declare readonly type?: string;
  /** The errors of each field, when the service sent any: the first 32. */
  declare readonly errors?: readonly FieldError[];
  /** The seconds that the service asks to wait: its `Retry-After`. */
  declare readonly retryAfter?: number;
  /** The request's id at the service, for its support, when `x-request-id` or `request-id` has one. */
  declare readonly requestId?: string;

  /**
   * Describes what went wrong, and whether a call was placed.
   *
   * @param what - the start of the message; what is known about the call follows in brackets
   * @param facts - the fields of the exception; those that are undefined are left out
   * @param said - what the message says of the call in brackets; `false`: nothing
   */
  constructor(
    what: string,
    facts: ExceptionFacts,
    said: Placed | false | undefined = facts.placed,
  ) {
    super(said ? `${what} (${outcome[said]})` : what);
    for (const [name, fact] of Object.entries(facts)) {
      if (fact !== undefined) Object.assign(this, { [name]: fact });
    }
  }
}

/**
 * A parameter or an option breaks a rule. `create` throws it before any request, and so do the other
 * functions of this package that check their input. `placed` is always `"no"`.
 */
export class BadParametersException extends ServiceException {
  /** The literal name of the class, whole even in minified code. */
  override readonly name = "BadParametersException" as const;
  /** The first field or option that breaks a rule. */
  declare readonly param: string;
  /** Every rule that is broken, in the order of the fields. */
  declare readonly issues: readonly ParameterIssue[];

  /**
   * Describes which parameters break which rules.
   *
   * @param issues - every rule that is broken, at least one
   * @param said - `"no"` if a call was being placed: then the message says that none was
   */
  constructor(issues: readonly ParameterIssue[], said: "no" | false = false) {
    super(
      issues.map(({ param, message }) => `${param} ${message}`).join("; "),
      { placed: "no", param: issues[0]?.param, issues },
      said,
    );
  }
}

/**
 * HTTP 401. `placed` is `"no"`, unless the response came through a redirect.
 */
export class UnauthorizedException extends ServiceException {
  /** The literal name of the class, whole even in minified code. */
  override readonly name = "UnauthorizedException" as const;
}

/**
 * HTTP 403: the key is invalid or revoked, or `from_number` is not the account's; `detail` says
 * which. `placed` is `"no"`, unless the response came through a redirect.
 */
export class ForbiddenException extends ServiceException {
  /** The literal name of the class, whole even in minified code. */
  override readonly name = "ForbiddenException" as const;
}

/**
 * The deadline passed, or `notAfter` before the request was sent. `placed` is `"no"` if no request was sent yet. It is also `"no"` if the head of a
 * refusal had arrived (then `code` has its status). Otherwise it is `"maybe"`.
 */
export class TimeoutException extends ServiceException {
  /** The literal name of the class, whole even in minified code. */
  override readonly name = "TimeoutException" as const;
  /** Of `ended` alone: the state of the call when it was last read; absent if it never was. */
  declare readonly state?: string;
}

/**
 * The connection failed. `placed` is `"no"` if the runtime reports that no connection was made, and
 * otherwise `"maybe"`. The message ends with the platform's message, without the API key and telephone
 * numbers.
 */
export class NetworkException extends ServiceException {
  /** The literal name of the class, whole even in minified code. */
  override readonly name = "NetworkException" as const;
}

/** The classes of the exceptions, by their names, but that for parameters. */
const classes: Readonly<
  Record<Exclude<ExceptionName, "BadParametersException">, typeof ServiceException>
> = {
  ServiceException,
  UnauthorizedException,
  ForbiddenException,
  TimeoutException,
  NetworkException,
};

/**
 * What a request did that places no call, as the end of a sentence, for each `placed` of an exception: `"no"` if it did
 * nothing for certain.
 */
export type Effect = Readonly<Record<Placed, string>>;

/** What looks like a telephone number, but for a status: a service may quote one that the caller did not pass. */
const numberLike = /(?<!^HTTP \d{0,2})\+?\d(?:[\s().-]{0,3}\d){6,14}/g;

const withoutNumbers = (text: string): string => text.replace(numberLike, "***");

/** A constant of the service; `undefined` for one that looks like a telephone number. */
const constantOf = (text: string | undefined): string | undefined =>
  text && withoutNumbers(text) === text ? text : undefined;

/** What a service said, without telephone numbers, all of which are unknown here. */
const factsWithoutNumbers = ({ detail, reason, type, errors, ...facts }: ExceptionFacts) => ({
  ...facts,
  detail: detail === undefined ? undefined : withoutNumbers(detail),
  reason: constantOf(reason),
  type: constantOf(type),
  errors: errors?.map((error) => ({
    loc: error.loc.map(withoutNumbers),
    msg: withoutNumbers(error.msg),
    type: withoutNumbers(error.type),
  })),
});

/**
 * An exception as the functions throw it that place no call: without `placed`, and without what looks like a telephone
 * number, as those of the call may not be known here. Whoever places a call and then ends it
 * must not read in the one exception that the other request placed nothing.
 *
 * @param error - of any kind; what is no exception of this package is returned as it is
 * @param effect - what the request did, for the message; absent for one that changes nothing
 */
export const withoutPlaced = <E>(error: E, effect?: Effect): E | ServiceException => {
  if (!(error instanceof ServiceException)) return error;
  const { name, placed = "maybe", issues, ...facts }: ExceptionFacts & ServiceException = error;
  if (name === "BadParametersException") {
    const refused = new BadParametersException(issues ?? []);
    Reflect.deleteProperty(refused, "placed");
    return refused;
  }
  const done = effect ? ` (${effect[placed]})` : "";
  const message = error.message.replace(` (${outcome[placed]})`, done);
  return new classes[name](withoutNumbers(message), factsWithoutNumbers(facts));
};

/** Every exception of this package, as a union that `name` discriminates. */
export type Exception =
  | BadParametersException
  | UnauthorizedException
  | ForbiddenException
  | TimeoutException
  | NetworkException
  | (ServiceException & { readonly name: "ServiceException" });

/**
 * Whether a caught value is an exception of this package. The reason of your own abort signal is not.
 *
 * @example Handle every exception by its name
 * ```ts
 * import { calls, type Exception, isException } from "outdial";
 *
 * const advice = (error: Exception): string => {
 *   switch (error.name) {
 *     case "BadParametersException":
 *       return `mend ${error.param}`;
 *     case "UnauthorizedException":
 *     case "ForbiddenException":
 *       return "look at the key";
 *     case "TimeoutException":
 *     case "NetworkException":
 *     case "ServiceException":
 *       return error.placed === "no" ? "try again" : "ask the service first";
 *   }
 * };
 *
 * const params = { from_number: "", to_number: "", flow_url: "", status_callback_url: "" };
 * try {
 *   await calls.create(params, { apiKey: "key", baseUrl: "https://voice.test" });
 * } catch (error) {
 *   if (isException(error)) console.log(advice(error)); // mend from_number
 * }
 * ```
 */
export const isException = (error: unknown): error is Exception => {
  try {
    return error instanceof ServiceException;
  } catch {
    return false; // A Proxy may throw when its prototype is read.
  }
};
