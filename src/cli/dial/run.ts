import type { DatabaseSync } from "node:sqlite";
import { create } from "../../calls/create.ts";
import { type Campaign, openCampaign } from "../../campaigns/campaign.ts";
import { Draft, type Survey } from "../../campaigns/contacts/draft.ts";
import { nextDue } from "../../campaigns/dial/turn.ts";
import type { Progress } from "../../campaigns/index.ts";
import { sqlOf } from "../../campaigns/ledger.ts";
import { CallingHours } from "../../campaigns/window/hours.ts";
import { BadParametersException } from "../../errors.ts";
import { routeOf } from "../../rules/url.ts";
import type { Run, Stage } from "../command/command.ts";
import { type Exit, exits, Failure, UsageError } from "../command/failure.ts";
import { copyOfJournal } from "../journal/copy.ts";
import { journalFailure, openJournal } from "../journal/journal.ts";
import { reachDirectly } from "../local/direct.ts";
import { jsonLine } from "../terminal/json.ts";
import { print } from "../terminal/output.ts";
import { plain } from "../terminal/plain.ts";
import { confirm } from "./confirm.ts";
import { environment, requireReceiver } from "./environment.ts";
import type { dialFlags } from "./flags.ts";
import { contactsIn, requireReadable } from "./list/contacts.ts";
import { DoNotCall } from "./list/do-not-call.ts";
import { reader } from "./list/numbers.ts";
import { expected, planOf } from "./plan.ts";
import { receive } from "./receiver.ts";
import { type DialOptions, names, optionsOf, windowRule } from "./settings.ts";
import { statusLine, tell } from "./status.ts";

/** Opens the campaign; what is wrong with it is told by the flags. */
const open = async (
  database: DatabaseSync,
  options: DialOptions,
  status_callback_url: string,
  place: Parameters<typeof openCampaign>[1]["create"],
): Promise<Campaign> => {
  try {
    return await openCampaign(database, { ...options, status_callback_url, create: place });
  } catch (error) {
    if (!(error instanceof BadParametersException)) throw journalFailure(error);
    const told = error.issues.map(({ param, message }) => {
      const [option = ""] = param.split(".");
      return option === "window" ? windowRule : `${names[option] ?? param} ${message}`;
    });
    throw new UsageError(told.join("; "));
  }
};

/** Waits until no call lives any more, or each has been silent for too long. */
const drain = async ({ step, progress }: Campaign): Promise<void> => {
  while (progress().calling > 0) {
    await step();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

const exitOf = ({ state, unknown }: Progress, interrupted: boolean): Exit => {
  if (interrupted) return exits.interrupted;
  if (state === "paused") return exits.refused;
  return unknown > 0 ? exits.maybe : exits.done;
};

/** What became of the list, for `--json`. */
const summaryOf = (progress: Progress, draft: Draft, { listed, fresh, blocked }: Survey) => ({
  ...progress,
  duplicate: listed - fresh - blocked + draft.twice,
  refused_lines: draft.refused.length,
});

const dial: Run<typeof dialFlags> = async ({ flags, words, reached, signal }) => {
  const [list = ""] = words;
  requireReceiver(flags);
  const { apiKey, secret, baseUrl } = environment(flags);
  if (routeOf(baseUrl) === "loopback") reachDirectly(new URL(baseUrl).hostname);
  const options = optionsOf(flags, secret, new URL(baseUrl).href);
  const read = await reader(flags.country);
  const {
    listen,
    callback = "",
    json,
    journal = `${list.replace(/\.[a-z]+$/i, "")}.outdial`,
  } = flags;
  const say = (line: string) => print(plain(line), process.stderr);
  // Before anything is made: a name that is mistyped leaves nothing behind.
  requireReadable("the list", list);
  const dnc = flags.dnc === undefined ? undefined : new DoNotCall(flags.dnc, read);
  const barred = dnc?.numbers() ?? [];

  let campaign: Campaign | undefined;
  const dry = flags["dry-run"] === true;
  const receiver =
    listen !== undefined && !dry
      ? await receive(listen, flags["public-url"], baseUrl, secret, (received) => {
          // Then it is sent again.
          if (!campaign) throw new Error("The journal isn't open yet");
          campaign.note(received);
        })
      : undefined;
  const url = receiver?.url ?? (callback || "https://dry.run/status");
  const database = dry ? await copyOfJournal(journal) : await openJournal(journal, "a");
  campaign = await open(database, options, url, (params) => {
    reached("sent");
    return create(params, { apiKey, baseUrl });
  });
  const sql = sqlOf(database);
  const draft = new Draft(sql);
  const { refuse } = draft;
  const { variables: required = [] } = options;
  await draft.take(contactsIn(list, { read, required, refuse }), options);
  draft.bar(barred);
  const survey = draft.survey();
  const told = campaign.progress();
  for (const line of planOf(draft, survey, told, options)) await print(line, process.stderr);
  if (dry) {
    if (json) await print(jsonLine(summaryOf(expected(told, survey), draft, survey)) ?? "{}");
    return exits.done;
  }
  if (!flags.yes) await confirm("Call them?", signal);

  dnc?.block(campaign);
  draft.revise(Date.now());
  for (const row of (await campaign.add(draft.fresh())).refused) refuse(row);
  const { rate } = campaign;
  const hours = new CallingHours(options.window === "always" ? "always" : [options.window].flat());
  let stopping = false;
  const line = (): string => {
    const now = Date.now();
    const standing = {
      rate: campaign.rate || rate,
      opens: nextDue(sql, hours, now),
      now,
      stopping,
    };
    return statusLine(campaign.progress(), standing);
  };
  campaign.resume();
  const still = tell(line);
  const unwatch = dnc?.watch(campaign, (error) => {
    campaign.pause("the do-not-call list can't be read");
    say(
      `outdial: ${error instanceof Failure ? error.message : "the do-not-call list can't be read"}`,
    );
  });
  await campaign.run({ signal });
  const interrupted = signal.aborted && !campaign.progress().done;
  stopping = interrupted || campaign.progress().state === "paused";
  if (interrupted) campaign.pause("interrupted");
  await drain(campaign);
  still();
  unwatch?.();
  await receiver?.stop();
  const progress = campaign.progress();
  await campaign.close();
  database.close();
  reached("placed");
  if (progress.state === "paused" && !interrupted) say(`outdial: paused: ${progress.reason}`);
  if (json) await print(jsonLine(summaryOf(progress, draft, survey)) ?? "{}");
  return exitOf(progress, interrupted);
};

/** `outdial dial`: calls every contact of a list, each at most once an attempt. */
export const run: Run<typeof dialFlags> = async ({ reached, ...given }) => {
  let isSent = false;
  const notice = (stage: Stage): void => {
    isSent = true;
    reached(stage);
  };
  try {
    return await dial({ ...given, reached: notice });
  } catch (error) {
    const failure = journalFailure(error);
    if (!isSent || failure === error || !(failure instanceof Failure)) throw failure;
    throw new Failure(`${failure.message}; the same command goes on`, exits.maybe);
  }
};
