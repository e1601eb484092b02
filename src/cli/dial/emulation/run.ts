import type { DatabaseSync } from "node:sqlite";
import { redirect } from "../../../calls/redirect.ts";
import {
  type Campaign,
  type CampaignOptions,
  openCampaign,
  type Progress,
  type Result,
  type Script,
} from "../../../campaigns/index.ts";
import type { Call } from "../../../emulator/call.ts";
import { type Emulator, emulate } from "../../../emulator/emulator.ts";
import { scenarioOf } from "../../../emulator/scenarios.ts";
import { Client, TimeoutException } from "../../../index.ts";
import { fieldsOf } from "../../../lib/check.ts";
import { waitingBy } from "../../../lib/clock.ts";
import type { Service } from "../../../service.ts";
import { SimulatedTime } from "../../../testing/simulated-time.ts";
import type { DialOptions, DialService } from "../options.ts";
import { pathsOf, serveList, urlBelow } from "../script.ts";
import { campaignOf } from "../services.ts";
import { type Decide, type EmulatedCall, EmulatedCalls } from "./calls.ts";

/** What became of a list on the emulator. Times are in milliseconds since 1970. */
export interface Emulation {
  readonly progress: Progress;
  readonly results: readonly Result[];
  /** In order, of each contact, by its number. */
  readonly calls: ReadonlyMap<string, readonly EmulatedCall[]>;
  /** When it began. */
  readonly from: number;
  /** When every contact had ended, or no call could begin any more. */
  readonly to: number;
  /** What the script's functions threw, and how often. */
  readonly errors: ReadonlyMap<string, number>;
}

/** What is emulated. */
export interface EmulationOptions {
  /** An empty database. */
  readonly database: DatabaseSync;
  /** The campaign. Its secret can be any. */
  readonly options: DialOptions;
  readonly script: Script;
  /** The URL below which the service would reach the script. */
  readonly publicUrl: string;
  /** The time at the beginning, in milliseconds since 1970. */
  readonly start: number;
  /** Of the emulator's ids. */
  readonly seed: number;
  /** Reads the list into the campaign. */
  readonly sync: (campaign: Campaign) => Promise<unknown>;
  /**
   * Decides who does what, by the numbers of all contacts that wait.
   *
   * @defaultValue each number does what it does in `outdial emulator`
   */
  readonly decide?: ((numbers: readonly string[]) => Decide) | undefined;
  /** Called once the list is read, with what returns the emulated time in milliseconds since 1970. */
  readonly onBegin?: ((campaign: Campaign, clock: () => number) => void) | undefined;
  /** Ends it early. */
  readonly signal: AbortSignal;
}

/** How long a callee takes to press a key, in milliseconds. */
const answerDelay = 700;

/** How long the client waits for an answer that never comes, in milliseconds of the emulated time. */
const clientTimeout = 10_000;

/** An application in the process: its flow and its notifications; anything else stands for a recording. */
const applicationOf =
  (urls: readonly string[], serve: (request: Request) => Promise<Response>) =>
  (request: Request): Promise<Response> | Response => {
    const { origin, pathname } = new URL(request.url);
    return urls.includes(origin + pathname) ? serve(request) : new Response();
  };

/** The service's signatures are not checked: its requests come from this process. */
const unsigned = (service: Service): Service => ({
  ...service,
  application: { ...service.application, verify: undefined },
});

/** The numbers of the contacts that wait. */
const waitingNumbers = (campaign: Campaign): readonly string[] =>
  [...campaign.results()]
    .filter(({ disposition }) => disposition === undefined)
    .map(({ to_number }) => to_number);

/**
 * Places calls on the emulator. Where the answer never comes, the client gives up after its timeout in emulated time.
 *
 * @param begun - called for a number once its call has begun
 */
const creatorOf = (
  client: Client,
  time: SimulatedTime,
  begun: Map<string, () => void>,
): CampaignOptions["create"] => {
  const { wait, yieldTo } = waitingBy(time.clock);
  return async (params, own) => {
    const { to_number } = params;
    const { response } = scenarioOf(to_number);
    if (response !== "silent" && response !== "stalled") return client.calls.create(params, own);
    const controller = new AbortController();
    const hasBegun = new Promise<void>((resolve) => begun.set(to_number, resolve));
    let givenUp: Promise<void> | undefined;
    // Its call begins in a turn of its own, and before the time passes.
    const giveUp = async (): Promise<void> => {
      await yieldTo(time.media.hold(hasBegun).then(() => wait(clientTimeout)));
      controller.abort(new TimeoutException("no answer", { placed: "maybe" }));
    };
    const beforeSend = async (): Promise<void> => {
      await own.beforeSend?.();
      givenUp = giveUp();
    };
    try {
      return await client.calls.create(params, { ...own, beforeSend, signal: controller.signal });
    } finally {
      begun.get(to_number)?.();
      begun.delete(to_number);
      await givenUp;
    }
  };
};

/**
 * Calls a whole list on an emulator in this process, on its own clock: nothing waits in real time, and nothing is sent
 * over a network.
 *
 * @throws {BadParametersException} when an option of the campaign breaks its rule
 */
export const emulateCampaign = async ({
  database,
  options,
  script,
  publicUrl,
  start,
  seed,
  sync,
  decide,
  onBegin,
  signal,
}: EmulationOptions): Promise<Emulation> => {
  const time = new SimulatedTime({ epoch: start });
  const { clock } = time;
  const calls = new EmulatedCalls();
  const errors = new Map<string, number>();
  const over: Promise<void>[] = [];
  let decided: Decide | undefined;
  let list: Campaign | undefined;

  const begun = new Map<string, () => void>();
  const emulatedBy = ({ name, service: given }: DialService, at: number) => {
    const service = typeof given === "object" ? given : undefined;
    const serve = serveList({
      ...{ name, script, publicUrl, secret: options.secret },
      ...(service && {
        service: unsigned(service),
        redirect: (call, url) =>
          redirect(call, url, { service, apiKey: emulator.apiKey, fetch: emulator.fetch }),
      }),
      campaign: () => list,
      baseUrl: () => publicUrl,
      onError: (error) => {
        const message = String(fieldsOf(error).message ?? error);
        errors.set(message, (errors.get(message) ?? 0) + 1);
      },
    });
    const onQuestion = (call: Call): void => {
      const keys = calls.answer(call.id);
      if (keys === "") return;
      call.timeline.after(answerDelay, () => {
        if (keys === undefined) emulator.hangup(call.id);
        else emulator.press(call.id, keys);
      });
    };
    const paths = pathsOf(name);
    const urls = {
      flow_url: urlBelow(publicUrl, paths.flow),
      status_callback_url: urlBelow(publicUrl, paths.status),
    };
    const emulator: Emulator = emulate(
      {
        ...(service && { service }),
        // Another seed for each: their ids must differ.
        ...{ seed: seed + at, clock, keep: 0 },
        fetch: applicationOf(Object.values(urls), serve),
        onCall: async (call) => {
          const outcome = calls.begin(call, decided);
          begun.get(call.to_number)?.();
          // The emulator knows the call only once this function has returned.
          queueMicrotask(() =>
            over.push(emulator.ended(call.id).then((ended) => calls.end(ended))),
          );
          return outcome;
        },
      },
      { onQuestion },
    );
    const { apiKey, fetch } = emulator;
    const client = new Client(apiKey, {
      ...(service ? { service } : { baseUrl: "https://emulator.invalid" }),
      fetch,
    });
    return { name, emulator, completion: { ...urls, create: creatorOf(client, time, begun) } };
  };
  const [first, ...others] = options.services;
  const all = [emulatedBy(first, 0), ...others.map((own, at) => emulatedBy(own, at + 1))] as const;
  const campaign = await openCampaign(database, {
    ...campaignOf(
      options,
      ({ name }) => (all.find((each) => each.name === name) ?? all[0]).completion,
    ),
    clock,
  });
  list = campaign;
  try {
    await sync(campaign);
    decided = decide?.(waitingNumbers(campaign));
    onBegin?.(campaign, clock);
    let progress = await campaign.run({ signal });
    // A list that is paused has live calls still.
    if (!signal.aborted) progress = await campaign.drain({ signal });
    const done = clock();
    if (signal.aborted) for (const { emulator } of all) emulator.reset();
    else await time.runUntil(Promise.all(over));
    return {
      ...{ from: start, to: Math.max(done, calls.lastEnd), errors, calls: calls.ended },
      progress,
      results: [...campaign.results()],
    };
  } finally {
    await campaign.close();
  }
};
