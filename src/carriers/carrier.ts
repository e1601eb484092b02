import type { MakeSide } from "../server/side.ts";
import type { Service } from "../service.ts";

/** When the flow of a machine is requested: once it is known, or once its greeting is over. */
export type MachineDetection = "detect" | "message";

/** What a carrier's account is made of, from the flags and the environment of a command. */
export interface CarrierAccount {
  readonly account: string;
  readonly keyId?: string | undefined;
  /** Telnyx's account, which is not the application of `account`. */
  readonly accountSid?: string | undefined;
  /** The key that places calls. */
  readonly apiKey?: string | undefined;
  /** What verifies the carrier's notifications, where that is not the key. */
  readonly signatureSecret?: string | undefined;
  readonly callsPerSecond?: number | undefined;
  readonly machineDetection?: MachineDetection | undefined;
}

/** What `outdial emulator` shows of the interface that it speaks. */
export interface ShownInterface {
  /** What its account is called on a terminal; absent where the account is not shown. */
  readonly account?: string;
  /** What its key is called on a terminal and on the dashboard. */
  readonly key: string;
  /** How what is kept of its account for the next start looks; what has no shape is not kept. */
  readonly kept: { readonly apiKey?: RegExp; readonly webhookSecret?: RegExp };
  /** Whether a secret of its own signs, not the key. */
  readonly hasSecret: boolean;
  /** The header that signs its requests to an application. */
  readonly signature: string;
  /**
   * How an application that has the carrier's client is pointed here.
   *
   * @param setting - how the application reads a setting from its environment
   */
  readonly hint: (setting: (name: string) => string) => readonly string[];
  /** Parameters of a call to try beside numbers and URLs: it is recorded, as in outdial's own interface. */
  readonly params: { readonly record?: boolean };
  /** Whether a request for a call expires: a command that is kept is then `outdial call`, which signs a new one. */
  readonly expires: boolean;
}

/** What a project of `outdial init` has in the place of outdial's own interface. */
export interface ProjectService {
  /** Its name in code, which is also that of its entry. */
  readonly name: string;
  /** Its name for people. */
  readonly label: string;
  /** The account that the tests and the emulator use. */
  readonly account: string;
  /** The account as an expression: no file of a project has what looks like a key. */
  readonly accountText: string;
  /** The field of the service that has the account. */
  readonly accountField: "accountSid" | "applicationId";
  /** What the account and the key are, for the settings. */
  readonly accountIs: string;
  readonly keyIs: string;
  /** What verifies the carrier's requests: the field of the service, and a setting of its own where it is not the key. */
  readonly verifiedBy: "authToken" | "signatureSecret" | "publicKey";
  readonly verifierIs?: string;
  /** Whether the token of a media socket's URL comes with the first message of the stream. */
  readonly verifiesStart?: true;
  /** Whether the carrier finds a machine while the flow runs, so that the application redirects the call. */
  readonly redirects?: true;
  /** Whether `call.machine_detected` also comes of a person. */
  readonly reportsPersons?: true;
}

/** All that the emulator and the command know of a carrier. */
export interface Carrier {
  /** The carrier's own end, in the emulator. */
  readonly makeSide: MakeSide;
  /** How the id of an account begins, or what it is. */
  readonly account: string;
  /** An account that nobody has, for an emulator. */
  readonly sampleAccount: string;
  /** The key, for the help. */
  readonly key: string;
  /** What its interface consists of, for the help. */
  readonly speaks: string;
  readonly shown: ShownInterface;
  readonly project: ProjectService;
  /** The carrier's service. Its code is loaded only when it is asked for. */
  readonly load: (account: CarrierAccount) => Promise<Service>;
}

/** The options of a service that all carriers have. */
export const commonOptions = ({
  callsPerSecond,
  machineDetection,
}: CarrierAccount): { callsPerSecond?: number; machineDetection?: MachineDetection } => ({
  ...(callsPerSecond !== undefined && { callsPerSecond }),
  ...(machineDetection && { machineDetection }),
});
