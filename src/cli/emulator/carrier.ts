import { encodeCall } from "../../calls/create.ts";
import type { Emulator } from "../../emulator/index.ts";
import type { CallParams } from "../../index.ts";
import type { CarrierClient, CarrierWebhooks, Service } from "../../service.ts";
import { type AccountShapes, ownShapes } from "../account.ts";
import { carrierNamed } from "../carrier.ts";
import { callCommand, requestCommand, type Shell } from "./shell.ts";

/** What `outdial emulator` knows of an interface: outdial's own, or a carrier's. */
interface EmulatedInterface {
  /** What its account is called on a terminal; absent where the account is not shown. */
  readonly account?: string;
  /** What its key is called on a terminal and on the dashboard. */
  readonly key: string;
  /** What is kept of its account for the next start. */
  readonly kept: AccountShapes;
  /** Whether a secret of its own signs, not the key. */
  readonly hasSecret: boolean;
  /** The header that signs its requests to an application. */
  readonly signature: string;
  /** How an application that has the carrier's client is pointed here. */
  readonly hint: readonly string[];
  /** Parameters of a call to try beside numbers and URLs: it is recorded, as in outdial's own interface. */
  readonly params: Pick<CallParams, "record">;
  /** Whether a request for a call expires: a command that is kept is then `outdial call`, which signs a new one. */
  readonly expires: boolean;
}

/** The interface of a carrier. */
interface EmulatedCarrier extends EmulatedInterface {
  /** What it consists of, for the help. */
  readonly speaks: string;
}

const ownInterface: EmulatedInterface = {
  key: "API key",
  kept: ownShapes,
  hasSecret: true,
  signature: "webhook-signature",
  hint: [],
  params: {},
  expires: false,
};

/** The carriers that the emulator speaks, by the names that `--service` takes. */
export const emulatedCarriers: Readonly<Record<string, EmulatedCarrier>> = {
  twilio: {
    speaks: "REST, TwiML, status callbacks, Media Streams",
    account: "account SID",
    key: "auth token",
    kept: { apiKey: /^[\da-f]{32}$/ },
    hasSecret: false,
    signature: "X-Twilio-Signature",
    hint: [
      "\n  In your application: the SID and the token above, and the base URL of its client, such as",
      "  client.api.baseUrl = process.env.TWILIO_BASE_URL",
    ],
    params: { record: true },
    expires: false,
  },
  telnyx: {
    speaks: "REST of a TeXML application, TeXML, callbacks, media streaming",
    account: "application",
    key: "API key",
    kept: { apiKey: /^KEY_[\w-]{43}$/ },
    hasSecret: true,
    signature: "Telnyx-Signature-Ed25519",
    hint: [
      '\n  In your application: the key above, the public key behind "signs with", whose private key is',
      "  published, and { baseURL: process.env.TELNYX_BASE_URL } for its client, with /v2 at its end",
    ],
    params: { record: true },
    expires: false,
  },
  vonage: {
    speaks: "REST with JWT, NCCO, webhooks, WebSockets; its private key is published",
    account: "application",
    key: "private key",
    // Its keys are published ones.
    kept: { webhookSecret: /^[\w-]{43}$/ },
    hasSecret: true,
    signature: "Authorization",
    hint: [
      "\n  In your application: the id and the key above, which is published and protects nothing, and",
      "  { apiHost: process.env.VONAGE_API_HOST } for its client",
    ],
    params: {}, // Vonage records by an action.
    expires: true,
  },
};

/** What the emulator's terminal, dashboard and sample application need to know of the interface that it speaks. */
export const emulatedInterface = (service: string | undefined): EmulatedInterface =>
  (service && Object.hasOwn(emulatedCarriers, service) && emulatedCarriers[service]) ||
  ownInterface;

/** How calls to try are placed at an emulator, and how the sample application answers its flow requests. */
interface Trying {
  /** The carrier; `undefined` for outdial's own interface. */
  readonly service: Service | undefined;
  readonly encodeCall: CarrierClient["encodeCall"];
  readonly respond: CarrierWebhooks["respond"];
  /**
   * A command that places a call.
   *
   * @defaultValue for the shell `sh`
   */
  readonly commandFor: (params: CallParams, baseUrl: string, shell?: Shell) => Promise<string>;
}

const respondOwn: Trying["respond"] = async (decide) => Response.json(await decide());

/**
 * How calls to try are placed and answered: as the carrier's service does it for applications.
 *
 * @param detectsMachines - whether the flow has a part for machines by now
 */
export const tryingAt = async (
  emulator: Pick<Emulator, "service" | "accountId" | "apiKey">,
  detectsMachines = (): boolean => false,
): Promise<Trying> => {
  const { service: name, accountId: account } = emulator;
  const { params: more, expires } = emulatedInterface(name);
  const loaded = async (machineDetection?: "message"): Promise<Service | undefined> =>
    name ? carrierNamed(name).load({ account, machineDetection }) : undefined;
  const service = await loaded();
  const detecting = await loaded("message");
  const encodeSample: CarrierClient["encodeCall"] = (params, ...rest) => {
    const { client } = (detectsMachines() ? detecting : service) ?? { client: { encodeCall } };
    return client.encodeCall({ ...more, ...params }, ...rest);
  };
  return {
    service,
    encodeCall: encodeSample,
    respond: service?.application.respond ?? respondOwn,
    commandFor: async (params, baseUrl, shell = "sh") => {
      const { apiKey } = emulator;
      if (name && expires) {
        const at = { service: name, account, apiKey, baseUrl, detectsMachines: detectsMachines() };
        return callCommand(shell, at, params);
      }
      return requestCommand(shell, await encodeSample(params, baseUrl, apiKey));
    },
  };
};
