import { RestError } from "../../../server/rest.ts";
import type { FormRules } from "../../xml/server/fields.ts";

/** The titles of Telnyx's errors, by their codes. */
const titles = {
  10002: "Invalid phone number",
  10003: "Invalid URL",
  10004: "Missing required parameter",
  10005: "Resource not found",
  10007: "Unexpected error",
  10009: "Authentication failed",
  10010: "Authorization failed",
  10011: "Too many requests",
  10015: "Bad Request",
  10017: "Associated resource does not exist",
  10023: "Invalid JSON",
  10024: "Unsupported Content-Type",
  10027: "Unprocessable Entity",
  90002: "Invalid value for timeout",
  90018: "Call has already ended",
} as const;

/** Why a request is refused, in Telnyx's form. */
export class TelnyxError extends RestError {
  override readonly name = "TelnyxError" as const;
  readonly #code: keyof typeof titles;
  readonly #field: string | undefined;

  /** @param field - the field that breaks a rule */
  constructor(status: number, code: keyof typeof titles, detail: string, field?: string) {
    super(status, detail);
    this.#code = code;
    this.#field = field;
  }

  override body(): object {
    const code = String(this.#code);
    return {
      errors: [
        {
          code,
          title: titles[this.#code],
          detail: this.message,
          ...(this.#field !== undefined && { source: { pointer: `/${this.#field}` } }),
          meta: { url: `https://developers.telnyx.com/docs/overview/errors/${code}` },
        },
      ],
    };
  }
}

/** The error of each kind of problem with a field. */
const codes = {
  missing: 10004,
  number: 10002,
  url: 10003,
  method: 10027,
  seconds: 90002,
  length: 10015,
  unsupported: 10015,
} as const;

/** The rules of Telnyx's request for a call, and its errors. */
export const telnyxForm: FormRules = {
  document: "Texml",
  // The application is in the path, or read before.
  unsupported: [],
  // Newer documents have the one, older ones the other.
  methods: { Url: ["UrlMethod", "Method"], FallbackUrl: ["FallbackMethod"] },
  timeout: [5, 120],
  timeLimit: [30, 14_400],
  refuse: ({ field, kind, rule }) => {
    throw new TelnyxError(
      kind === "unsupported" ? 400 : 422,
      codes[kind],
      `${field} ${rule}`,
      field,
    );
  },
};
