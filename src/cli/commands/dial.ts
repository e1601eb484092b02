import { resolve } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { signUrl } from "../../callbacks/index.ts";
import {
  type Campaign,
  type CampaignOptions,
  LedgerException,
  openCampaign,
  type Progress,
} from "../../campaigns/index.ts";
import { defaultConcurrency } from "../../campaigns/options.ts";
import { recordingFiles } from "../../campaigns/recordings.ts";
import type { RecordingInput } from "../../flows/index.ts";
import { BadParametersException } from "../../index.ts";
import { carrierNames, keyNote } from "../carrier.ts";
import {
  type Command,
  defineCommand,
  type Exit,
  exits,
  Failure,
  type Invocation,
  issueLine,
  issuesByFlag,
  type Stage,
  UsageError,
} from "../command.ts";
import { requireReadable } from "../dial/csv.ts";
import { DoNotCallFile, unreadable, type Watch } from "../dial/do-not-call.ts";
import { calleeNames } from "../dial/emulation/callees.ts";
import { type ListPlan, summaryOf, syncList } from "../dial/list.ts";
import { numberReader } from "../dial/numbers.ts";
import { OptOutFile, optOutPathOf, optOutsIn, requireWritable } from "../dial/opt-outs.ts";
import {
  campaignOptions,
  checkEmulation,
  type DialOptions,
  dialFlags,
  requireFuture,
  requireReceiver,
  windowRule,
} from "../dial/options.ts";
import { progressAfter } from "../dial/plan.ts";
import { type Receiver, receiverAddress, startReceiver } from "../dial/receiver.ts";
import {
  erasedLine,
  prepareFolder,
  RecordingFolder,
  recordingCommand,
} from "../dial/recordings.ts";
import { requestErrors, troubleOf } from "../dial/refusals.ts";
import {
  campaignOf,
  checkOptions,
  entriesOf,
  type ListService,
  listServices,
  secretIn,
} from "../dial/services.ts";
import { Speed, showStatus, statusLine, summaryLines } from "../dial/status.ts";
import { hintAtInterrupt, pauseNote } from "../dial/stopping.ts";
import {
  lastChangeOf,
  ledgerFailure,
  ledgerPathOf,
  openDatabase,
  openPreview,
  stampLock,
} from "../ledger.ts";
import { readScript } from "../script.ts";
import { jsonLine, plain, type Terminal } from "../terminal.ts";

/** The names of options that no flag sets. */
const names = {
  ...carrierNames,
  apiKey: "OUTDIAL_API_KEY or --key-file",
  baseUrl: "--base-url or OUTDIAL_BASE_URL:",
  secret: "SIGNING_SECRET",
  status_callback_url: "--callback or --public-url",
  "window.a field.timezone": "--timezone", // Of one of several windows.
};

/** The failure for options that break a rule, by their flags. */
const optionsFailure = (error: unknown): unknown => {
  if (!(error instanceof BadParametersException)) return ledgerFailure(error);
  const issues = issuesByFlag(error.issues, dialFlags, names);
  return new UsageError(
    issues.some(({ param }) => param === "--window") ? windowRule : issueLine(issues),
  );
};

/**
 * Asks whether to call them.
 *
 * @throws {Failure} unless the answer is yes
 */
const confirm = async (terminal: Terminal, signal: AbortSignal): Promise<void> => {
  if (!terminal.isInteractive) throw new UsageError("not a terminal: pass --yes");
  const answer = await terminal.ask("Call them? [y/N] ", signal).catch(() => undefined);
  if (answer === undefined) throw new Failure("interrupted: nobody was called", exits.interrupted);
  if (/^y(es)?$/i.test(answer.trim())) return;
  throw new Failure("not confirmed: nobody was called", exits.refused);
};

/** @param failedFlows - how many contacts ended in this run because their flow failed */
const exitOf = (progress: Progress, failedFlows: number, interrupted: boolean): Exit => {
  const { state, unknown, call_back_missed } = progress;
  if (interrupted) return exits.interrupted;
  if (state === "paused" || failedFlows > 0) return exits.refused;
  return unknown + call_back_missed > 0 ? exits.maybe : exits.done;
};

type Invoked = Invocation<typeof dialFlags>;

/** What a run has opened, so that it is closed however the run ends. */
interface Opened {
  receiver?: Receiver;
  campaign?: Campaign;
  database?: DatabaseSync;
  endStamping?: () => void;
}

/**
 * Closes the receiver first: it still accepts the notifications of the last calls.
 *
 * @returns whether another program holds the ledger, so that it could not be marked as closed
 */
const closeAll = async (opened: Opened): Promise<boolean> => {
  const { receiver, campaign, database, endStamping } = opened;
  for (const name of ["receiver", "campaign", "database", "endStamping"] as const) {
    delete opened[name];
  }
  try {
    await receiver?.stop();
    await campaign?.close();
    return false;
  } catch (error) {
    if (error instanceof LedgerException && error.reason === "busy") return true;
    throw error;
  } finally {
    database?.close();
    endStamping?.();
  }
};

const jsonSummary = (progress: Progress, plan: ListPlan): string =>
  jsonLine(summaryOf(progress, plan)) ?? "{}";

/** Prints the result for `--json`; returns the exit code, which is never 0 when the result was lost. */
const printSummary = async (terminal: Terminal, line: string, exit: Exit): Promise<Exit> => {
  await terminal.print(line);
  if (!terminal.isLost) return exit;
  await terminal.report("outdial: the result could not be written: is the disk full?");
  return exit === exits.done ? exits.refused : exit;
};

/**
 * Asks the handlers of the flow and of the notifications whether they have the secret of the run.
 *
 * @returns warnings of those that don't say
 * @throws {Failure} if one has another secret: every call would fail
 */
const checkHandlers = async (
  campaign: Pick<Campaign, "check">,
  { signal, flags }: Invoked,
): Promise<readonly string[]> => {
  const checks = await campaign.check({ fetch, signal }).catch((error: unknown) => {
    throw signal.aborted ? new Failure("interrupted: nobody was called", exits.interrupted) : error;
  });
  const { script, "public-url": publicUrl } = flags;
  const elsewhere = checks.find(({ result, status }) => result === "unclear" && status);
  // It asks itself: any other answer is that of another server, which calls would get as well.
  if (script !== undefined && publicUrl !== undefined && elsewhere) {
    throw new Failure(
      `--public-url does not lead to --listen: HTTP ${elsewhere.status} came from another server than this command, which serves the script below it. Nobody was called`,
      exits.usage,
    );
  }
  const flagOf = {
    flow_url: script === undefined ? "--flow" : "--public-url",
    status_callback_url: names.status_callback_url,
  } as const;
  const texts = checks.map(({ param, result, message, service }) => ({
    result,
    text: `${service === undefined ? "" : `${service}: `}${message.replace(param, flagOf[param]).replace("the campaign's secret", "SIGNING_SECRET")}`,
  }));
  const refused = texts.filter(({ result }) => result === "refused").map(({ text }) => text);
  if (refused.length > 0) {
    throw new Failure(`${refused.join("; ")}. Nobody was called`, exits.usage);
  }
  return texts.filter(({ result }) => result === "unclear").map(({ text }) => text);
};

/** Calls the contacts, with a status line, until all have ended or the run is stopped. */
const callContacts = async (
  campaign: Campaign,
  ledger: string,
  pausedFor: string | undefined,
  blockFile: DoNotCallFile | undefined,
  troubleNow: () => string | undefined,
  { services }: DialOptions,
  { flags, terminal, signal }: Invoked,
): Promise<{ readonly progress: Progress; readonly interrupted: boolean }> => {
  const { rate: fullRate } = campaign;
  const concurrency = services.reduce(
    (sum, { concurrency: own = defaultConcurrency }) => sum + own,
    0,
  );
  const speed = new Speed();
  let watch: Watch | undefined;
  let isOver = false;
  const line = (width: number): string => {
    const stopping = isOver || signal.aborted;
    const now = Date.now();
    const progress = campaign.progress();
    const rate = campaign.rate || fullRate;
    const never = progress.waiting > 0 ? Number.POSITIVE_INFINITY : now;
    const nextCall = campaign.nextCall ?? never;
    const measured = speed.measure(progress, now);
    const isLimited = progress.calling + progress.unclear >= concurrency;
    const isFull = isLimited && measured === 0;
    const end = campaign.lastCall(isLimited && measured ? Math.min(rate, measured) : rate) ?? never;
    const listTrouble = watch?.isUnreadable ? unreadable : undefined;
    const trouble = campaign.busy
      ? "another program holds the ledger"
      : (listTrouble ?? troubleNow());
    return statusLine(progress, { rate, nextCall, end, isFull, now, stopping, trouble }, width);
  };
  const hide = showStatus(terminal, line);
  const { "services-file": file } = flags;
  const stopped = file === undefined ? ledger : `${ledger} --services-file ${file}`;
  const endNotice = hintAtInterrupt(campaign, stopped, { terminal, signal });
  /** Goes on after the pause of a do-not-call list that can be read again. */
  const run = async (): Promise<Progress> => {
    // Somebody may have stopped it from outside meanwhile: only the pause that is known is taken back.
    if (pausedFor !== undefined) await campaign.resume(pausedFor);
    for (;;) {
      const progress = await campaign.run({ signal });
      const isReadAgain = progress.reason === unreadable && (await watch?.readAgain(signal));
      if (!isReadAgain) return campaign.progress();
      await campaign.resume(unreadable);
    }
  };
  try {
    watch = blockFile?.watch(campaign, (message) => {
      terminal.report(`outdial: ${plain(message)}`);
    });
    await blockFile?.block(campaign);
    const { done, state } = await run();
    const interrupted = signal.aborted && !done;
    isOver = interrupted || state === "paused";
    if (interrupted) await campaign.pause("interrupted");
    return { progress: await campaign.drain(), interrupted };
  } finally {
    hide();
    endNotice();
    watch?.stop();
  }
};

/**
 * @param foundCalls - called if the ledger has calls of an earlier run that may be live
 */
const dial = async (invoked: Invoked, opened: Opened, foundCalls: () => void): Promise<Exit> => {
  const { flags, args, env, terminal, reached } = invoked;
  const [list = ""] = args;
  checkEmulation(flags);
  if (flags.emulate) {
    const { emulateList } = await import("../dial/emulation/command.ts");
    return emulateList(invoked);
  }
  const entries = entriesOf(flags);
  requireReceiver(flags, entries);
  const given = flags.script === undefined ? undefined : await readScript(flags.script);
  const services = await listServices(flags, env, entries, given);
  const byName = (name: string | undefined): ListService =>
    services.find(({ own }) => own.name === name) ?? services[0];
  const secret = secretIn(env);
  await signUrl("https://outdial.test/", { secret }); // Checks the secret before anything is opened.
  const [first, ...others] = services;
  const described = campaignOptions(flags, secret, [first.own, ...others.map(({ own }) => own)]);
  checkOptions(described);
  const file = ledgerPathOf(flags.ledger, list);
  const lastChange = lastChangeOf(file);
  if (!lastChange) requireFuture(described);
  // A mistyped name leaves no file behind.
  requireReadable("the list", list);
  const read = await numberReader(flags.country);
  const blockPath = flags["do-not-call"];
  const blockFile = blockPath === undefined ? undefined : new DoNotCallFile(blockPath, read);
  await blockFile?.numbers();

  const dry = flags["dry-run"] === true;
  const optOutPath = optOutPathOf(flags, list);
  const ledgerFiles = ["", "-lock", "-journal"].map((end) => resolve(`${file}${end}`));
  // A ledger that doesn't exist yet can't be recognized by its content.
  if (optOutPath !== undefined && ledgerFiles.includes(resolve(optOutPath))) {
    throw new UsageError("--opt-outs must be another file than the ledger");
  }
  const folderPath =
    flags.recordings === undefined || dry ? undefined : await prepareFolder(flags.recordings);
  const optedOut = await optOutsIn(optOutPath, read);
  if (optOutPath !== undefined && dry) await requireWritable(optOutPath);
  const optOuts = optOutPath === undefined || dry ? undefined : await OptOutFile.open(optOutPath);
  const recordings =
    folderPath === undefined
      ? undefined
      : new RecordingFolder({
          folder: folderPath,
          campaign: () => opened.campaign,
          fetch: (url, { service, signal }) => byName(service).recording(url, signal),
          commandFor: (made, path, name) => {
            const carrier = byName(name).service?.name;
            const service = flags["services-file"] === undefined ? carrier : name;
            return recordingCommand(made, path, { ...flags, service }, carrier);
          },
          report: (line) => void terminal.report(`outdial: ${plain(line)}`),
        });
  const script = given && (recordings?.watch(given) ?? given);
  const where = {
    publicUrl: flags["public-url"],
    serviceUrls: services.map(({ baseUrl }) => baseUrl),
  };
  if (flags.listen !== undefined && dry) receiverAddress({ ...where, listen: flags.listen });
  if (flags.listen !== undefined && !dry) {
    const onError = requestErrors((text) => terminal.report(text));
    const servedBy = ({ own: { name }, service, redirect }: ListService) => ({
      ...{ name, service, redirect, secret, script, onError },
      campaign: () => opened.campaign,
      ...(optOuts && { optOut: (numbers: readonly string[]) => optOuts.add(numbers) }),
      ...(recordings && { onRecording: (made: RecordingInput) => recordings.keep(made, name) }),
      onErasedRecording: (id: string) => void terminal.report(`outdial: ${plain(erasedLine(id))}`),
    });
    opened.receiver = await startReceiver({
      ...where,
      listen: flags.listen,
      services: [servedBy(first), ...others.map(servedBy)],
    });
  }
  opened.database = dry ? await openPreview(file) : await openDatabase(file, true);

  const troubles = new Map<string | undefined, string>();
  const createBy =
    ({ client, own: { name } }: ListService): CampaignOptions["create"] =>
    async (params, own) => {
      reached("recorded");
      try {
        const call = await client.calls.create(params, own);
        troubles.delete(name);
        return call;
      } catch (error) {
        const trouble = troubleOf(error);
        if (trouble === undefined) troubles.delete(name);
        else troubles.set(name, name === undefined ? trouble : `${name}: ${trouble}`);
        throw error;
      }
    };
  const urlsOf = (name: string | undefined) => {
    const { flow_url, ...urls } = opened.receiver?.urlsOf(name) ?? {};
    return { ...urls, ...(script && flow_url !== undefined && { flow_url }) };
  };
  const complete = ({ own }: ListService) => ({ ...own, ...urlsOf(own.name) });
  const options: DialOptions = {
    ...described,
    services: [complete(first), ...others.map(complete)],
  };
  const campaign = await openCampaign(
    opened.database,
    campaignOf(options, ({ name }) => {
      const service = byName(name);
      // The ledger belongs to the base URL already.
      return { ...service.live.functions, create: createBy(service), account: service.apiKey };
    }),
  );
  // Before a recording may come: erasing its contact deletes it there.
  if (folderPath !== undefined) recordingFiles(opened.database).keepFolder(folderPath);
  opened.campaign = campaign;
  if (!dry) opened.endStamping = stampLock(file);
  const { calling, unclear, state, reason, flow_error: failedBefore } = campaign.progress();
  if (calling + unclear > 0) foundCalls();
  const paused = pauseNote({ state, reason }, flags);

  // Before the check: a tunnel may be led here only now that the port is known.
  for (const url of opened.receiver?.localUrls ?? []) {
    await terminal.report(`Notifications arrive at ${url}`);
  }
  const unclearHandlers = dry ? [] : await checkHandlers(campaign, invoked);
  const unread = services.flatMap(({ own: { name }, live }) =>
    live.warnings.map((text) => (name === undefined ? text : `${name}: ${text}`)),
  );
  const warnings = [...unread, ...unclearHandlers, ...(paused ? [paused] : [])];
  const confirmed = async (): Promise<boolean> => {
    if (!dry && !flags.yes) await confirm(terminal, invoked.signal);
    return !dry;
  };
  const facts = {
    options,
    blockFile,
    optOutPath,
    optedOut,
    warnings,
    lastChange,
    confirm: confirmed,
  };
  const plan = await syncList(campaign, facts, invoked);
  if (dry) {
    const after = progressAfter(campaign.progress(), plan.changes);
    return flags.json ? printSummary(terminal, jsonSummary(after, plan), exits.done) : exits.done;
  }
  const { progress, interrupted } = await callContacts(
    campaign,
    file,
    state === "paused" ? (reason ?? "") : undefined,
    blockFile,
    () => [...troubles.values()].join("; ") || undefined,
    options,
    invoked,
  );
  await recordings?.complete(invoked.signal);
  const isHeld = await closeAll(opened);
  reached("placed");
  if (recordings) {
    for (const line of [recordings.summary, ...recordings.commands]) {
      await terminal.report(plain(line));
    }
  }
  if (isHeld) {
    await terminal.report(
      "outdial: another program holds the ledger, so it was not marked as closed: the next run checks it",
    );
  }
  for (const line of summaryLines(progress, { ledger: file, interrupted })) {
    await terminal.report(plain(line));
  }
  const exit = exitOf(progress, progress.flow_error - failedBefore, interrupted);
  const kept = recordings && {
    recordings: recordings.saved,
    recordings_failed: recordings.failed,
    recordings_missing: recordings.missing,
  };
  return flags.json
    ? printSummary(terminal, jsonSummary({ ...progress, ...kept }, plan), exit)
    : exit;
};

/** `outdial dial`: calls every contact of a list, each at most once per attempt. */
export const command: Command = defineCommand({
  args: ["list.csv"],
  flags: dialFlags,
  example: `dial people.csv --from +12025550199 --script survey.ts --window "mon-fri 9:00-18:00" \\
      --listen 127.0.0.1:3000 --public-url https://app.example`,
  notes: [
    `The list is a CSV file. Its columns are found by name, without case, spaces, "-" and "_": to_number
(or phone_number, contact_number, phone; number, if there is none of these), id, timezone, call_at
(when it is called first: 2026-06-03T15:00Z, or 2026-06-03 15:00 by its time zone) and from_number.
Every other column can be a variable. --number-column and --zone-column choose other columns. They
are separated by ",", ";" or tab, as the header has it.`,
    `A list with a column such as DoNotCall or opt_out, or one that nothing uses and that has only a few
short values or dates, is refused until you say what it means: --opt-out-column NAME blocks each row
that has anything there but false, no, n or 0; --opt-out-column NAME=VALUE each row with that value;
with --ignore-columns the column says something else.`,
    `A number is digits in groups and nothing else, such as +49 30 123456-0; any other row is refused.`,
    `--retry takes the place of --retry-on and --retry-after: each reason has its own delay, and its
attempts count all of the contact's, the first included. --attempts is the most for any reason then.`,
    `With --script that file is the flow, and this command serves it behind --listen: its default export
has onAnswer, steps and the like of flowHandler, whose functions also get contact and campaign. What
people answer is in the ledger. With onMachine the carrier finds out what answered.`,
    `--emulate needs no key, secret, --listen or ledger. --callees has shares of the contacts:
${calleeNames.join(", ")}, and press=KEYS, such as
press=4/5:60%: 4 at the first question, 5 at all others. Who is left answers, and presses nothing.
Without --callees the number decides, as in outdial emulator.`,
    `A stopped run resumes where it left off: run the same command again. Ctrl-C stops dialling and waits
for the live calls; outdial stop does so from another terminal, and with --hang-up ends them. A
contact that is no longer in the list is not called any more.`,
    `While the ledger is open it may have a file -journal beside it, which belongs to it. Copy or move it
while nothing dials. It must have one name: a hard link is refused.`,
    `The key is read from OUTDIAL_API_KEY or from a file, and the secret that signs the URLs from
SIGNING_SECRET: 16 characters or more, the one by which the application verifies. To change the
secret of a campaign, set it to new,old.
${keyNote}
The ledger belongs to its account. With Twilio's auth token its signatures are verified, too.`,
    `--services-file takes the place of --from, --rate, --concurrency and what names a service: a JSON
list of services, such as [{ "name": "main", "baseUrl": "https://…", "apiKeyEnv": "MAIN_KEY",
"from_number": "+1…", "rate": 5, "concurrency": 20 }]. With a carrier a service has service and
account, too. apiKeyEnv and signatureSecretEnv name environment variables. Each service has its
notifications at its own path: /main/status. One that is down pauses alone.`,
    `Calling lists has legal duties: hours, consent, do-not-call lists, announcing that a call is
recorded and that a machine speaks.`,
  ],
  exits: {
    0: "every contact has a known outcome",
    1: "paused (also by outdial stop), a flow failed, not confirmed, or --json was not written",
    2: "the command line, the list or the ledger is wrong, or the ledger is in use",
    3: "some contacts are unknown: they may have been called; or a promised call-back was missed",
    130: "interrupted; the same command resumes",
  },
  run: async ({ reached, ...invoked }) => {
    const opened: Opened = {};
    let isSent = false;
    const notice = (stage: Stage): void => {
      isSent = true;
      reached(stage);
    };
    reached("listed");
    try {
      const exit = await dial({ ...invoked, reached: notice }, opened, () => reached("recorded"));
      await closeAll(opened);
      return exit;
    } catch (error) {
      // What failed first is the reason: closing a ledger that cannot be written fails as well.
      await closeAll(opened).catch(() => {});
      const failure = optionsFailure(error);
      if (!isSent || failure === error || !(failure instanceof Failure)) throw failure;
      const { message, facts } = failure;
      // Without its ledger the same command would call everybody again.
      const advice = facts.reason === "moved" ? "" : "; the same command resumes";
      throw new Failure(`${message}${advice}`, exits.maybe);
    }
  },
});
