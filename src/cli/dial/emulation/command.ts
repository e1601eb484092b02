import { basename } from "node:path";
import type { Script } from "../../../campaigns/index.ts";
import type { Service } from "../../../service.ts";
import { carrierNamed } from "../../carrier.ts";
import { type Environment, type Exit, exits, Failure, type Invocation } from "../../command.ts";
import { openTemporary } from "../../ledger.ts";
import { readScript } from "../../script.ts";
import { jsonLine } from "../../terminal.ts";
import { requireReadable } from "../csv.ts";
import { DoNotCallFile } from "../do-not-call.ts";
import { type ListPlan, summaryOf, syncList } from "../list.ts";
import { numberReader } from "../numbers.ts";
import { optOutPathOf, optOutsIn } from "../opt-outs.ts";
import {
  campaignOptions,
  type DialService,
  type DialValues,
  decimalOf,
  type dialFlags,
  listDetectionOf,
  requireFuture,
} from "../options.ts";
import { type EmulatedService, emulatedServices } from "../services.ts";
import { showStatus } from "../status.ts";
import { assignCallees, calleesIn, seedIn } from "./callees.ts";
import { type Figures, figuresOf } from "./figures.ts";
import { goOffline } from "./offline.ts";
import { prepareOutput, writeOutput } from "./output.ts";
import { emulateCampaign } from "./run.ts";
import { assumedLength, assumedScript, watchScript } from "./script.ts";
import { jsonOf, type Summary, summaryLines } from "./summary.ts";
import { localTimes } from "./times.ts";

/** The host of a script's URLs while it has none. */
const noHost = "https://emulator.invalid";

/** The carrier, by an account that needs no key. */
const serviceOf = async (
  flags: DialValues,
  env: Environment,
  script: Script,
): Promise<Service | undefined> => {
  const { service: given, account, "calls-per-second": callsPerSecond } = flags;
  const machineDetection = listDetectionOf(flags, env, script);
  const name = given ?? env.OUTDIAL_SERVICE;
  if (!name) return;
  const { load, sampleAccount } = carrierNamed(name);
  return load({
    account: account ?? env.OUTDIAL_ACCOUNT ?? sampleAccount,
    ...(callsPerSecond !== undefined && { callsPerSecond: decimalOf(callsPerSecond) }),
    machineDetection,
  });
};

/** What the calls do: a script, or what stands for a flow that is not asked. */
const scriptOf = async ({ script: file }: DialValues) => {
  if (file === undefined) return { script: assumedScript, unreached: undefined };
  return watchScript(await readScript(file));
};

/** The zone of the first hours. */
const zoneOf = ({ window }: ReturnType<typeof campaignOptions>): string | undefined =>
  window === "always" ? undefined : window[0]?.timezone;

/** What the options leave open. */
const hintsOf = (
  { flow, callees, script }: DialValues,
  service: Service | undefined,
  { conversations }: Figures,
): readonly string[] => {
  const isAsked = conversations.some(({ conversation }) =>
    conversation.some(({ type }) => type === "presses"),
  );
  const assumed = `each answered call is assumed to take ${assumedLength / 1_000} s. With --script contacts hear what it says.`;
  const hints: readonly (readonly [boolean, string])[] = [
    [
      script === undefined,
      `${flow ? "--flow is not requested" : "There is no --script"}: ${assumed}`,
    ],
    [
      callees === undefined && isAsked,
      "Nobody pressed a key: --callees press=1:60% lets 60 % of the contacts press 1.",
    ],
    [
      !service && /\bmachine=/.test(callees ?? ""),
      "Without --service machines are not detected: they hear what people hear.",
    ],
  ];
  return hints.filter(([isTrue]) => isTrue).map(([, hint]) => hint);
};

/** Prints what an emulation has shown. */
const printSummary = async (
  summary: Summary,
  plan: ListPlan,
  { flags, terminal, signal }: Invocation<typeof dialFlags>,
): Promise<Exit> => {
  const { progress, errors } = summary.emulation;
  const text = flags.json
    ? (jsonLine({ ...summaryOf(progress, plan), ...jsonOf(summary) }) ?? "{}")
    : summaryLines(summary).join("\n");
  await terminal.print(text);
  if (signal.aborted) return exits.interrupted;
  if (terminal.isLost) {
    throw new Failure("the result could not be written: is the disk full?", exits.refused);
  }
  const isBroken = errors.size > 0 || progress.flow_error > 0;
  return isBroken || progress.state === "paused" ? exits.refused : exits.done;
};

/**
 * `outdial dial --emulate`: calls a whole list on an emulator in this process.
 *
 * @throws {UsageError} which names the flag
 */
export const emulateList = async (invoked: Invocation<typeof dialFlags>): Promise<Exit> => {
  const { flags, args, env, terminal, signal } = invoked;
  const [list = ""] = args;
  const callees = flags.callees === undefined ? undefined : calleesIn(flags.callees);
  const seed = flags.seed === undefined ? 1 : seedIn(flags.seed);
  requireReadable("the list", list);
  if (flags.output !== undefined) prepareOutput(flags.output);
  const goOnline = goOffline();
  const database = await openTemporary();
  try {
    const { script, unreached } = await scriptOf(flags);
    const publicUrl = flags["public-url"] ?? noHost;
    const [first, ...others] = await emulatedServices(flags, script, () =>
      serviceOf(flags, env, script),
    );
    // It isn't requested.
    const flowOf = ({ own }: EmulatedService): DialService => ({
      ...own,
      flow_url: flags.script === undefined ? (flags.flow ?? "not given") : basename(flags.script),
    });
    const options = campaignOptions(flags, crypto.randomUUID(), [
      flowOf(first),
      ...others.map(flowOf),
    ]);
    requireFuture(options);
    const blockPath = flags["do-not-call"];
    const read = await numberReader(flags.country);
    const blockFile = blockPath === undefined ? undefined : new DoNotCallFile(blockPath, read);
    const optedOut = await optOutsIn(optOutPathOf(flags, list), read);
    let plan: ListPlan | undefined;
    const times = localTimes(zoneOf(options));
    let hide = (): void => {};
    const emulation = await emulateCampaign({
      ...{ database, options, script, publicUrl, seed, signal },
      start: Date.now(),
      sync: async (campaign) => {
        const confirm = async (): Promise<boolean> => true;
        const facts = { options, blockFile, optedOut, warnings: [], isSentOnce: true, confirm };
        plan = await syncList(campaign, facts, invoked);
      },
      decide: callees && ((numbers) => assignCallees(callees, numbers, seed)),
      onBegin: ({ progress }, clock) => {
        hide = showStatus(terminal, () => {
          const { contacts, waiting, calling, unclear } = progress();
          const done = contacts - waiting - calling - unclear;
          const at = clock();
          return `emulating: ${done.toLocaleString("en")} of ${contacts.toLocaleString("en")} done, ${times.day(at)} ${times.time(at)}`;
        });
      },
    }).finally(() => hide());
    const figures = figuresOf(emulation, times);
    const written =
      flags.output === undefined
        ? []
        : [await writeOutput(flags.output, { database, emulation, times, list: basename(list) })];
    const carrier = [first, ...others].find(({ service }) => service)?.service;
    const hints = [...hintsOf(flags, carrier, figures), ...written];
    const isInterrupted = signal.aborted;
    const found = { emulation, figures, times, unreached: unreached?.() };
    const summary = { ...found, isInterrupted, hints };
    if (!plan) throw new Error("The list was not read");
    return await printSummary(summary, plan, invoked);
  } finally {
    database.close();
    goOnline();
  }
};
