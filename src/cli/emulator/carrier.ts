import { encodeCall } from "../../calls/create.ts";
import type { ShownInterface } from "../../carriers/carrier.ts";
import { carrierNamed } from "../../carriers/carriers.ts";
import type { Emulator } from "../../emulator/index.ts";
import type { CarrierWebhooks } from "../../flows/webhooks.ts";
import type { CallParams } from "../../index.ts";
import type { CarrierClient } from "../../options.ts";
import type { Service } from "../../service.ts";
import { ownShapes } from "../account.ts";
import { callCommand, requestCommand, type Shell } from "./shell.ts";

const ownInterface: ShownInterface = {
  key: "API key",
  kept: ownShapes,
  hasSecret: true,
  signature: "webhook-signature",
  hint: () => [],
  params: {},
  expires: false,
};

/** What the emulator's terminal, dashboard and sample application need to know of the interface that it speaks. */
export const emulatedInterface = (service: string | undefined): ShownInterface =>
  (service === undefined ? undefined : carrierNamed(service)?.shown) ?? ownInterface;

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

const respondOwn: Trying["respond"] = async (decide) => Response.json((await decide()).action);

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
    name ? carrierNamed(name)?.load({ account, machineDetection }) : undefined;
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
