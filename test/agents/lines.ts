import { calls } from "outdial";
import {
  type Agent,
  type AgentSession,
  connectAgent,
  type SessionEnd,
  type SessionOptions,
} from "outdial/agents";
import { signUrl } from "outdial/callbacks";
import { press } from "outdial/calls";
import { type CallAudio, type Callee, type CallRecord, createEmulator } from "outdial/emulator";
import { type Action, flowHandler, hangup, stream } from "outdial/flows";
import { telnyx } from "outdial/telnyx";
import { twilio } from "outdial/twilio";
import { vonage } from "outdial/vonage";
import { onTestFinished } from "vitest";
import { answering, from, listenForSockets } from "../carriers/stage.ts";
import type { Hearing } from "./callee.ts";

const accountSid = "AC0123456789abcdef0123456789abcdef";
const authToken = "fedcba9876543210fedcba9876543210";
const signatureSecret = "the signature secret of an account";
const secret = "a secret that was made at random";

/** Each line: our side of its service, what its emulator takes besides, and whether the query of its URL is in `start`. */
const lines = {
  own: { service: undefined, emulated: {}, signsStart: false },
  twilio: {
    service: twilio({ accountSid, authToken }),
    emulated: { apiKey: authToken },
    signsStart: true,
  },
  telnyx: {
    service: telnyx({
      applicationId: "1773070540731319841",
      publicKey: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=", // Of the key that its emulator signs with.
    }),
    emulated: { apiKey: "KEY0123456789ABCDEF" },
    signsStart: true,
  },
  vonage: {
    service: vonage({ applicationId: "78d335fa-323d-0114-9c3d-d6f0d48968cf", signatureSecret }),
    emulated: { webhookSecret: signatureSecret },
    signsStart: false,
  },
} as const;

/** Longer than a busy machine keeps anything waiting. */
export const limits = {
  ...{ maxDuration: 240_000, agentTimeout: 120_000, silenceTimeout: 120_000, keysTimeout: 120_000 },
} as const;

export type LineName = keyof typeof lines;

/** How a call on a line is made. */
interface Calling {
  readonly agent: Agent;
  readonly callee: (hearing: Hearing) => Callee;
  readonly talk: SessionOptions;
  /** Called with the session once the first text of a response has come. */
  readonly onAnswered?: (session: AgentSession) => unknown;
  /** Whether keys are pressed by the service's API. */
  readonly pressesByApi?: boolean;
  /** What follows the stream; left out, the call is hung up. */
  readonly after?: () => Action;
}

/** A call that is over. */
interface LineCall {
  readonly end: SessionEnd;
  readonly audio: CallAudio;
  readonly errors: readonly unknown[];
  /** How often the flow was asked what to do. */
  readonly steps: number;
  readonly history: CallRecord["history"];
}

/** Calls somebody by the emulator of a line, in real time and over real sockets, and puts an agent on the line. */
export const callOn = async (
  name: LineName,
  { agent, callee, talk, onAnswered, pressesByApi, after = hangup }: Calling,
): Promise<LineCall> => {
  const { service, emulated, signsStart } = lines[name];
  const ours = service && { service };
  const errors: unknown[] = [];
  const onError = (error: unknown) => errors.push(error);
  const { promise: ended, resolve: onEnd } = Promise.withResolvers<SessionEnd>();
  const ws_url = await listenForSockets((socket, url) => {
    const verified = signsStart && { secret, url };
    let texts = 0;
    const onTranscript = () => ++texts === 1 && onAnswered?.(session);
    const session = connectAgent(socket, agent, {
      ...{ ...talk, ...ours, ...verified },
      ...{ onTranscript, onError, onEnd },
      ...(pressesByApi && { press: (keys, { call_id }) => press(call_id, keys, live) }),
    });
  });
  const sign = (url: string) => signUrl(url, { secret });
  const flow_url = await sign("https://app.test/flow");
  let steps = 0;
  const flow = flowHandler({
    ...ours,
    secret,
    onAnswer: async () => (++steps === 1 ? stream(await sign(ws_url), { flow_url }) : after()),
    onError,
  });
  const emulator = createEmulator({
    ...ours,
    ...emulated,
    ringDuration: 0,
    responseTimeout: 120_000, // Only ends what hangs: the machine may do much else.
    host: "127.0.0.1",
    fetch: (request) =>
      request.url.includes("/flow") ? flow(request) : new Response(null, { status: 204 }),
    callee: callee((id) => emulator.audio(id)),
  });
  onTestFinished(() => emulator.close());
  const { apiKey, fetch } = emulator;
  const live = { ...ours, apiKey, fetch, baseUrl: "https://emulator.test" };
  const { id } = await calls.create(
    {
      from_number: from,
      to_number: answering,
      flow_url,
      status_callback_url: await sign("https://app.test/status"),
    },
    live,
  );
  const { history } = await emulator.ended(id);
  const end = await ended;
  const audio = emulator.audio(id);
  if (!audio) throw new Error("no audio is known of the call");
  return { end, audio, errors, steps, history };
};
