import type { CallParams } from "../../index.ts";
import type { ClientSide } from "../../service.ts";
import { vonage } from "../../vonage/index.ts";
import type { Account } from "../account.ts";
import { firstTelnyxCall, firstTwilioCall, type SampleFlow, type Shell } from "./application.ts";

/** What a terminal shows of an emulator. */
interface Facts {
  readonly accountId: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
}

/** What `outdial emulator` knows of a carrier. */
interface EmulatedCarrier {
  /** What its account is called on a terminal. */
  readonly account: string;
  /** What its key is called on a terminal. */
  readonly key: string;
  /** Key and secret of the last start, as options of `createEmulator`. */
  readonly options: (kept: Account) => {
    readonly apiKey?: string | undefined;
    readonly webhookSecret?: string | undefined;
  };
  /** What is kept for the next start. */
  readonly kept: (facts: Facts) => Account;
  /** Whether a secret of its own signs, not the key. */
  readonly hasSecret: boolean;
  /** How an application that has the carrier's client is pointed here. */
  readonly hint: readonly string[];
  /** The flow of the sample application. */
  readonly flow: SampleFlow;
  /** The line that places a first call. */
  readonly firstCall: (shell: Shell, baseUrl: string, facts: Facts, call: CallParams) => string;
  /** How the dashboard places calls, if not by itself. */
  readonly encodeCall?: (accountId: string) => ClientSide["encodeCall"];
}

/** A text as an argument of a shell. */
const quoted = (text: string): string => `'${text}'`;

const variable: Readonly<Record<Shell, (name: string, value: string) => string>> = {
  sh: (name, value) => `${name}=${quoted(value)} `,
  powershell: (name, value) => `$env:${name} = ${quoted(value)}; `,
};

/** A PEM on one line, as an environment variable has it. */
const onOneLine = (pem: string): string => pem.trim().replace(/\s+/g, " ");

/** A token in a line of curl would expire: the command signs one itself. */
const firstVonageCall: EmulatedCarrier["firstCall"] = (shell, baseUrl, facts, call) => {
  const flags = {
    account: facts.accountId,
    "base-url": baseUrl,
    from: call.from_number,
    to: call.to_number,
    flow: call.flow_url,
    callback: call.status_callback_url,
  };
  const given = Object.entries(flags).map(([name, value]) => ` --${name} ${quoted(value)}`);
  const key = variable[shell]("OUTDIAL_API_KEY", onOneLine(facts.apiKey));
  return `${key}outdial call --service vonage${given.join("")}`;
};

/** A document of TwiML or TeXML that plays a file. */
const playDocument: SampleFlow = (media_url) =>
  new Response(`<Response><Play>${media_url}</Play></Response>`, {
    headers: { "Content-Type": "text/xml" },
  });

/** The carriers that the emulator speaks, by the names that `--service` takes. */
export const emulatedCarriers: Readonly<Record<string, EmulatedCarrier>> = {
  twilio: {
    account: "account SID",
    key: "auth token",
    options: ({ authToken }) => ({ apiKey: authToken }),
    kept: ({ apiKey }) => ({ authToken: apiKey }),
    hasSecret: false,
    hint: [
      "\n  In your application: the SID and the token above, and the base URL of its client, such as",
      "  client.api.baseUrl = process.env.TWILIO_BASE_URL",
    ],
    flow: playDocument,
    firstCall: firstTwilioCall,
  },
  telnyx: {
    account: "application",
    key: "API key",
    options: ({ apiKey }) => ({ apiKey }),
    kept: ({ apiKey }) => ({ apiKey }),
    hasSecret: true,
    hint: [
      '\n  In your application: the key above, the public key behind "signs with", whose private key is',
      "  published, and { baseURL: process.env.TELNYX_BASE_URL } for its client, with /v2 at its end",
    ],
    flow: playDocument,
    firstCall: firstTelnyxCall,
  },
  vonage: {
    account: "application",
    key: "private key",
    // The emulator has keys of its own, which are published.
    options: ({ webhookSecret }) => ({ webhookSecret }),
    kept: ({ webhookSecret }) => ({ webhookSecret }),
    hasSecret: true,
    hint: [
      "\n  In your application: the id and the key above, which is published and protects nothing, and",
      "  { apiHost: process.env.VONAGE_API_HOST } for its client",
    ],
    flow: (media_url) => Response.json([{ action: "stream", streamUrl: [media_url] }]),
    firstCall: firstVonageCall,
    encodeCall: (applicationId) => vonage({ applicationId }).client.encodeCall,
  },
};

/** What the emulator's terminal and sample application need to know of a carrier; none of outdial's own interface. */
export const emulatedCarrier = (service: string | undefined): EmulatedCarrier | undefined =>
  service && Object.hasOwn(emulatedCarriers, service) ? emulatedCarriers[service] : undefined;
