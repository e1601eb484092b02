import type { DatabaseSync } from "node:sqlite";
import { create } from "../../calls/create.ts";
import { type Campaign, openCampaign } from "../../campaigns/campaign.ts";
import type { Progress } from "../../campaigns/index.ts";
import { CallingHours } from "../../campaigns/window/hours.ts";
import { BadParametersException } from "../../errors.ts";
import { routeOf } from "../../rules/url.ts";
import type { Run } from "../command/command.ts";
import { type Exit, exits, Failure, UsageError } from "../command/failure.ts";
import { journalFailure, openJournal } from "../journal/journal.ts";
import { reachDirectly } from "../local/direct.ts";
import { jsonLine } from "../terminal/json.ts";
import { print } from "../terminal/output.ts";
import { plain } from "../terminal/plain.ts";
import { confirm } from "./confirm.ts";
import type { dialFlags } from "./flags.ts";
import { contactsIn } from "./list/contacts.ts";
import { DoNotCall } from "./list/do-not-call.ts";
import { normaliser } from "./list/numbers.ts";
import { planOf } from "./plan.ts";
import { receive } from "./receiver.ts";
import { type DialOptions, type DialValues, names, optionsOf } from "./settings.ts";
import { statusLine, tell } from "./status.ts";

/** What of the environment is used: the key and the secret come from nowhere else. */
const environment = (flags: DialValues) => {
  const { OUTDIAL_API_KEY: apiKey, OUTDIAL_SECRET: secret, OUTDIAL_BASE_URL } = process.env;
  const baseUrl = flags["base-url"] ?? OUTDIAL_BASE_URL;
  if (!baseUrl) throw new UsageError("which service? Set OUTDIAL_BASE_URL, or give --base-url");
  if (!routeOf(baseUrl)) throw new UsageError("the base URL must be https; http on loopback only");
  if (!apiKey) throw new UsageError("OUTDIAL_API_KEY is not set");
  if (!secret) {
    throw new UsageError("OUTDIAL_SECRET is not set: 16 characters or more, made at random");
  }
  return { apiKey, secret, baseUrl };
};

const requireReceiver = ({ listen, callback, attempts, concurrency }: DialValues): void => {
  if ((listen === undefined) === (callback === undefined)) {
    throw new UsageError(
      "either --listen or --callback must be given: who hears what becomes of a call?",
    );
  }
  if (callback !== undefined && (attempts ?? concurrency) !== undefined) {
    throw new UsageError("--attempts and --concurrency need --listen: only notifications can tell");
  }
};

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
    const told = error.issues.map(
      ({ param, message }) => `${names[param.split(".")[0] ?? ""] ?? param} ${message}`,
    );
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

/** `outdial dial`: calls every contact of a list, each at most once an attempt. */
export const run: Run<typeof dialFlags> = async ({ flags, words, reached, signal }) => {
  const [list = ""] = words;
  requireReceiver(flags);
  const { apiKey, secret, baseUrl } = environment(flags);
  if (routeOf(baseUrl) === "loopback") reachDirectly(new URL(baseUrl).hostname);
  const options = optionsOf(flags, secret, new URL(baseUrl).href);
  const normalise = await normaliser(flags.country);
  const { listen, callback = "", json } = flags;
  const say = (line: string) => print(plain(line), process.stderr);

  let campaign: Campaign | undefined;
  const dry = flags["dry-run"] === true;
  const receiver =
    listen !== undefined && !dry
      ? await receive(listen, flags["public-url"], baseUrl, secret, (received) =>
          campaign?.note(received),
        )
      : undefined;
  const file = dry ? ":memory:" : (flags.journal ?? `${list.replace(/\.[a-z]+$/i, "")}.outdial`);
  const url = receiver?.url ?? (callback || "https://dry.run/status");
  const database = await openJournal(file, "a");
  campaign = await open(database, options, url, (params) => {
    reached("sent");
    return create(params, { apiKey, baseUrl });
  });
  const dnc = flags.dnc === undefined ? undefined : new DoNotCall(flags.dnc, normalise, campaign);
  dnc?.read();
  const added = await campaign.add(contactsIn(list, normalise));
  for (const line of planOf(added, campaign.progress(), options)) {
    await print(line, process.stderr);
  }
  if (dry) return exits.done;
  if (!flags.yes) await confirm("Call them?", signal);

  const { rate } = campaign;
  const hours = new CallingHours(options.window === "always" ? "always" : [options.window].flat());
  let stopping = false;
  const line = (): string => {
    const now = Date.now();
    const standing = { rate: campaign.rate || rate, opens: hours.opens(now, ""), now, stopping };
    return statusLine(campaign.progress(), standing);
  };
  campaign.resume();
  const still = tell(line);
  const unwatch = dnc?.watch((error) => {
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
  if (json)
    await print(
      jsonLine({ ...progress, duplicate: added.duplicate, refused_lines: added.refused.length }) ??
        "{}",
    );
  return exitOf(progress, interrupted);
};
