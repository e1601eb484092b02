import { withoutThrowing } from "../../../lib/check.ts";
import { RestError } from "../../../server/rest.ts";

/** A field that breaks a rule. */
export interface InvalidParameter {
  readonly name: string;
  readonly reason: string;
}

const titles: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  429: "Too Many Requests",
  500: "Internal Error",
  503: "Service Unavailable",
};

/** Why a request is refused, in Vonage's form. */
export class VonageError extends RestError {
  override readonly name = "VonageError" as const;
  readonly #invalid: readonly InvalidParameter[];

  constructor(status: number, detail: string, invalid: readonly InvalidParameter[] = []) {
    super(status, detail);
    this.#invalid = invalid;
  }

  /** The detail, and the fields that are wrong. */
  override get reason(): string {
    const fields = this.#invalid.map(({ name, reason }) => `${name}: ${reason}`);
    return [this.message, ...fields].join(" ");
  }

  /** A problem of RFC 7807, with the fields that are wrong. */
  override body(instance: string): object {
    const title = titles[this.status] ?? "Error";
    return {
      type: `https://developer.vonage.com/api-errors#${title.toLowerCase().replaceAll(" ", "-")}`,
      title,
      detail: this.message,
      instance,
      ...(this.#invalid.length > 0 && { invalid_parameters: this.#invalid }),
    };
  }
}

/** The type of the API's responses. */
export const contentType = "application/json";

export const notFound = (): VonageError => new VonageError(404, "The resource was not found");

export const notAllowed = (method: string): VonageError =>
  new VonageError(405, `Method ${method} is not allowed`);

/** @throws {VonageError} when it is no JSON */
export const jsonOf = (text: string): unknown => {
  const body = withoutThrowing((): unknown => JSON.parse(text));
  if (body !== undefined) return body;
  throw new VonageError(400, "The body must be JSON");
};

/** @throws {VonageError} that names a field and its rule */
export const refuseField = (name: string, reason: string): never => {
  throw new VonageError(400, "The request has wrong parameters", [{ name, reason }]);
};
