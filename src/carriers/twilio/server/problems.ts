import { notEmulatedAt, RestError, shownPath } from "../../../server/rest.ts";
import type { FormRules } from "../../xml/server/fields.ts";

/** Why a request is refused, in Twilio's form. */
export class TwilioError extends RestError {
  override readonly name = "TwilioError" as const;
  readonly code: number;

  constructor(status: number, code: number, message: string) {
    super(status, message);
    this.code = code;
  }

  override body(): object {
    const { status, code, message } = this;
    return { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status };
  }
}

/** The type of the API's responses. */
export const contentType = "application/json;charset=utf-8";

export const notFound = (path: string): TwilioError =>
  new TwilioError(404, 20_404, `The requested resource ${shownPath(path)} was not found`);

export const notEmulated = (path: string): TwilioError =>
  new TwilioError(404, 20_404, notEmulatedAt(path));

export const notAllowed = (method: string): TwilioError =>
  new TwilioError(405, 20_004, `Method ${method} not allowed`);

/** The codes of fields that are missing, or no number. */
const numberCodes: Readonly<Record<string, readonly [missing: number, invalid: number]>> = {
  To: [21_201, 21_211],
  From: [21_213, 21_212],
};

/** The rules of Twilio's form, and its errors. */
export const twilioForm: FormRules = {
  document: "Twiml",
  maxDocument: 4_000,
  unsupported: ["ApplicationSid"],
  methods: { Url: ["Method"], FallbackUrl: ["FallbackMethod"] },
  timeout: [1, 600],
  timeLimit: [1, 86_400],
  refuse: ({ field, kind, value, rule }) => {
    const [missing, invalid] = numberCodes[field] ?? [21_205, 21_205];
    const refuse = (code: number, message: string): never => {
      throw new TwilioError(400, code, message);
    };
    switch (kind) {
      case "missing":
        if (field === "Url") return refuse(missing, "Url parameter is required.");
        return refuse(missing, `No '${field}' number is specified`);
      case "number":
        return refuse(invalid, `The '${field}' number ${value} is not a valid phone number.`);
      case "url":
        return refuse(field.endsWith("Callback") ? 21_609 : 21_205, `${field} ${rule}: ${value}`);
      case "length":
        return refuse(32_018, "Twiml size exceeded maximum allowed value of 4000 characters");
      case "unsupported":
        return refuse(20_001, `${field} ${rule}`);
      case "method":
        return refuse(21_209, `${field} ${rule}`);
      case "seconds":
        return refuse(21_208, `${field} ${rule}`);
    }
  },
};
