import type { EmulatorOptions } from "outdial/emulator";
import { carrierOf } from "../conformance/services/index.ts";

/** How a service speaks with the rig: outdial's own interface, or a carrier's. */
export interface Interface {
  /** The flags of `outdial dial`, and its environment beside key and URL. */
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The option of the emulator. */
  readonly service?: EmulatorOptions["service"];
  /** The headers of a POST with the emulator's own key. */
  readonly headersFor: (apiKey: string) => Readonly<Record<string, string>>;
  readonly readCall: (body: string) => {
    readonly to_number: string;
    readonly status_callback_url: string;
  };
  /** The status that refuses a call, so that nothing is placed. */
  readonly refusal: number;
  /** Whether a status says that no call was placed. */
  readonly refuses: (status: number) => boolean;
  /** The answer to a flow request: the call ends. */
  readonly hangup: () => Response;
  readonly contentType: string;
  /** The disposition that a notification tells; `undefined` if it isn't the last one. */
  readonly dispositionIn: (body: string) => string | undefined;
}

const own: Interface = {
  flags: [],
  environment: {},
  headersFor: (apiKey) => ({ "X-API-Key": apiKey, "Content-Type": "application/json" }),
  readCall: JSON.parse,
  refusal: 422,
  refuses: (status) => status < 500,
  hangup: () => Response.json({ action: "hangup" }),
  contentType: "application/json",
  dispositionIn: (body) => {
    const { type, data } = JSON.parse(body);
    if (type === "call.completed" && data.reason !== "flow_error") return "completed";
    return /completed|failed/.test(type) ? data.reason : undefined;
  },
};

const account = "AC0123456789abcdef0123456789abcdef";

/** What a `CallStatus` of Twilio's means for a contact; `no-answer` is a refusal with the SIP response 603. */
const dispositions: Readonly<Record<string, string>> = {
  completed: "completed",
  busy: "busy",
  "no-answer": "no_answer",
  canceled: "canceled",
  failed: "unreachable",
};

const twilio = (): Interface => {
  const { contentType, placedNothing, readCall } = carrierOf("twilio");
  return {
    // With an API key the signed URL alone is verified: the rig delivers at other ports than Twilio has signed.
    flags: [
      ...["--service", "twilio", "--key-id", account.replace("AC", "SK")],
      ...["--calls-per-second", "250"],
    ],
    environment: { OUTDIAL_ACCOUNT: account },
    service: { name: "twilio", account },
    headersFor: (token) => ({
      Authorization: `Basic ${btoa(`${account}:${token}`)}`,
      "Content-Type": contentType,
    }),
    readCall,
    refusal: 400,
    refuses: (status) => placedNothing.includes(status),
    hangup: () =>
      new Response("<Response><Hangup/></Response>", { headers: { "Content-Type": "text/xml" } }),
    contentType,
    dispositionIn: (body) => {
      const fields = new URLSearchParams(body);
      const status = fields.get("CallStatus") ?? "";
      const isDeclined = status === "no-answer" && fields.get("SipResponseCode") === "603";
      return isDeclined ? "rejected" : dispositions[status];
    },
  };
};

/** Those that `outdial dial` can be tried with, by the name of the service. */
export const interfaces: Readonly<Record<string, () => Interface>> = { outdial: () => own, twilio };
