import { type Context, type Secret, signUrl, verifyUrl } from "../callbacks/signed-url.ts";
import { stream } from "../flows/actions.ts";
import { flowHandler } from "../flows/handler.ts";
import { machineUrl } from "../flows/machine-url.ts";
import { fail } from "../lib/check.ts";
import { mostSteps } from "../server/call.ts";
import type { Service } from "../service.ts";
import type { CheckedOptions, SimulatedOptions } from "./simulate-options.ts";

/** What the options of an application have beside the time of the call. */
type SocketOptions = Omit<SimulatedOptions, "simulation">;

/** What is behind an answered call: its flow, and what its media sockets need. */
export interface CallApplication {
  readonly flow_url: string;
  /** Answers the requests of the service. */
  readonly answer: (request: Request) => Response | Promise<Response>;
  /** The options of the application of a media socket, by the URL of the socket. */
  readonly optionsFor: (url: string) => SocketOptions | Promise<SocketOptions>;
}

const defaultUrl = "https://app.test/flow";

const pathOf = (url: string): string => {
  const { pathname, search } = new URL(url);
  return pathname + search;
};

/** Whether the carrier sends the token of the URL with `start`. */
const hasToken = (service: Service | undefined): boolean =>
  service !== undefined && "secret" in service.media.optionRules;

/** Frames of 20 ms, as the carriers have them. */
const frameDuration = 20;

const ownSecret = "a secret of simulated calls, which nobody else needs";

/** A flow that connects one media socket. */
const socketApplication = async ({
  service,
  context,
}: CheckedOptions): Promise<CallApplication> => {
  const secret = ownSecret;
  const ws_url = await signUrl("wss://app.test/media", { secret, context });
  const action = stream(ws_url, { chunk_size: frameDuration, ...(service && { record: false }) });
  const flow = flowHandler({
    dangerouslyAllowUnverified: true,
    // The emulator's account is one of its own: nobody needs to verify it.
    ...(service && {
      service: { ...service, application: { ...service.application, verify: undefined } },
    }),
    onAnswer: () => action,
  });
  const options = {
    ...(service && { service }),
    ...(hasToken(service) ? { secret, url: pathOf(ws_url) } : context && { context }),
  };
  return { flow_url: defaultUrl, answer: flow, optionsFor: () => options };
};

/** The URL of a flow, signed where its handler has a secret. */
const signedUrl = async (
  { answeredBy, flow_url = defaultUrl }: CheckedOptions,
  signing: { readonly secret: Secret; readonly context: Context | undefined } | undefined,
): Promise<string> => {
  if (!signing) return flow_url;
  return answeredBy === "machine"
    ? machineUrl(flow_url, { ...signing, answered_by: "machine_end_beep" })
    : signUrl(flow_url, signing);
};

/** @throws {BadParametersException} where a flow has been asked too often, which may be for ever */
const checkLength = (requests: number): void => {
  if (requests <= mostSteps) return;
  const rule = `must have at most ${mostSteps} actions: outdial's own interface ends a call there, and a carrier ends no loop`;
  fail("flow", rule);
};

/** A flow of the application's. Where its media is, nobody needs to answer: its length is assumed. */
const flowApplication = async (
  flow: NonNullable<CheckedOptions["flow"]>,
  options: CheckedOptions,
): Promise<CallApplication> => {
  const { service, secret, context, media = () => new Response(null) } = options;
  let requests = 0;
  return {
    flow_url: await signedUrl(options, secret ? { secret, context } : undefined),
    // The service requests a part of media, and the whole of anything else.
    answer: (request) => {
      if (request.headers.has("range")) return media(request);
      checkLength(++requests);
      return flow(request);
    },
    optionsFor: async (url) => ({
      ...(service && { service }),
      ...(secret &&
        (hasToken(service)
          ? { secret, url: pathOf(url) }
          : { context: await verifyUrl(url, { secret }) })),
    }),
  };
};

/** The options that a flow alone has. */
const ofFlows = ["flow_url", "secret", "answeredBy", "media", "apiKey", "webhookSecret"] as const;

/** @throws {BadParametersException} for an option that needs another one */
const checkNeeds = (options: CheckedOptions): void => {
  const { app, flow, secret, context, answeredBy, line, time } = options;
  if (!app && !flow) fail("app", "is missing, as is flow");
  if (!flow) {
    for (const name of ofFlows) if (options[name] !== undefined) fail(name, "needs flow");
    return;
  }
  if (!secret && context) fail("context", "needs secret, which signs the flow_url");
  if (!secret && answeredBy === "machine") fail("answeredBy", "needs secret, which signs the URL");
  if (app) return;
  if (line) fail("line", "needs app: only the audio of a media socket has these faults");
  if (time === "real") fail("time", 'must be "virtual" without app: no frame shows how late it is');
};

/**
 * What is behind the call that is simulated.
 *
 * @throws {BadParametersException} for an option that needs another one
 */
export const applicationOf = async (options: CheckedOptions): Promise<CallApplication> => {
  checkNeeds(options);
  return options.flow ? flowApplication(options.flow, options) : socketApplication(options);
};
