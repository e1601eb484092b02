import { Auth } from "@vonage/auth";
import { verifySignature } from "@vonage/jwt";
import { Voice } from "@vonage/voice";
import { vonage } from "../../src/carriers/vonage/index.ts";
import type { EmulatorOptions } from "../../src/emulator/index.ts";
import type { Carrier } from "../carriers/carrier.ts";
import { type Answers, answering, serveApplication, startEmulator } from "../carriers/stage.ts";
import { applicationId, signatureSecret } from "../unit/vonage/service.ts";

/** The numbers, as Vonage writes them. */
export const from = "12025550199";
export const to = "12025550100";

const emulated = {
  service: { name: "vonage", account: applicationId },
  webhookSecret: signatureSecret,
} as const;
const options = { applicationId, callsPerSecond: 1_000 };

export const carrier: Carrier = {
  name: "vonage",
  service: vonage({ ...options, signatureSecret }),
  stranger: vonage({ ...options, signatureSecret: "the secret of another account" }),
  emulated,
  keyOf: ({ apiKey }) => apiKey,
  account: applicationId,
  // Its completed, which comes after busy, timeout and failed, too, has no reason.
  events: [
    [answering, ["initiated", "ringing", "answered", "completed"], "normal"],
    ["+12025550101", ["initiated", "ended", "failed"], "busy"],
    ["+12025550102", ["initiated", "ringing", "ended", "failed"], "no_answer"],
    ["+12025550103", ["initiated", "ringing", "failed"], "rejected"],
    ["+12025550104", ["initiated", "ended", "failed"], "unreachable"],
  ],
  redeliveries: 1,
  steps: { play: "stream", next: "notify", dial: "connect", end: [] },
  rejected: "failed",
  records: false,
  signsStart: false,
  frame: 20,
};

/** Vonage's client, as an application has it: only its host is another. */
export const clientFor = (baseUrl: string, privateKey: string, id: string = applicationId) =>
  new Voice(new Auth({ applicationId: id, privateKey }), { apiHost: baseUrl });

/** An emulator of Vonage on a port, and Vonage's own client for it. */
export const startVonage = async (options: EmulatorOptions = {}) => {
  const { emulator, baseUrl } = await startEmulator({ ...emulated, ...options });
  return { emulator, baseUrl, client: clientFor(baseUrl, emulator.apiKey) };
};

/** An application that takes only what Vonage's own verifier accepts. Media are for anyone. */
export const startApplication = (answers: Answers = {}) =>
  serveApplication<Readonly<Record<string, unknown>>>(
    {
      isSigned: ({ method, path, headers }) => {
        const token = headers.authorization?.replace(/^Bearer /, "") ?? "";
        return (
          (method === "GET" && path.endsWith(".wav")) || verifySignature(token, signatureSecret)
        );
      },
      fieldsOf: (body) => JSON.parse(body),
      type: "application/json",
    },
    answers,
  );

/** A request for a call, as Vonage's client takes it. */
export const callOf = (origin: string, more: object = {}, number: string = to) => ({
  to: [{ type: "phone" as const, number }],
  from: { type: "phone" as const, number: from },
  answer_url: [`${origin}/answer`],
  answer_method: "POST",
  event_url: [`${origin}/events`],
  ...more,
});

/** Places a call with Vonage's client. */
export const place = async (client: Voice, call: object): Promise<string> => {
  const { uuid } = await client.createOutboundCall(call as never);
  return uuid;
};

/** Follows one NCCO from the answer to the end of the call; it names URLs of the application by their paths. */
export const follow = async (
  ncco: object,
  {
    answers = {},
    to: number,
    more = {},
    ...options
  }: EmulatorOptions & { answers?: Answers; to?: string; more?: object } = {},
) => {
  const application = await startApplication({ "/answer": ncco, ...answers });
  const { emulator, client, baseUrl } = await startVonage(options);
  const uuid = await place(client, callOf(application.origin, more, number));
  return { ...application, emulator, client, baseUrl, uuid, call: await emulator.ended(uuid) };
};
