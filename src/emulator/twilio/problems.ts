import { RestError } from "../rest.ts";

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
