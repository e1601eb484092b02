import { end } from "../../calls/end.ts";
import { get } from "../../calls/get.ts";
import type { LiveOptions } from "../../calls/live.ts";
import type {
  EndedCalls,
  LiveServices,
  OpenCall,
  OpenedLedger,
  Progress,
} from "../../campaigns/index.ts";
import {
  type Command,
  defineCommand,
  type Environment,
  type Exit,
  exits,
  Failure,
  type Values,
} from "../command.ts";
import { isStopped } from "../dial/stopping.ts";
import { withLedger } from "../ledger.ts";
import { fileOptionsOf, liveFailure, liveFlags, liveOptionsOf } from "../live.ts";
import { refuseBesideFile, servicesIn } from "../services-file.ts";
import { counted, jsonLine, plain, type Terminal } from "../terminal.ts";

const { timeout: _, json: __, ...accountFlags } = liveFlags;

const flags = {
  "hang-up": { type: "boolean", help: "ends every live call, too" },
  ...accountFlags,
  json: { type: "boolean", help: "one line of JSON; errors too, on stderr" },
} as const;

/** How calls are ended and read from here, and why some can't be. */
interface Ender {
  readonly live?: LiveServices | undefined;
  readonly why?: string | undefined;
}

/** What ends the calls of one service from here, or why it can't. */
const endedBy = async (
  optionsOf: () => Promise<LiveOptions>,
): Promise<{ readonly live?: Pick<LiveServices, "end" | "get">; readonly why?: string }> => {
  try {
    const options = await optionsOf();
    return { live: { end: (id) => end(id, options), get: (id) => get(id, options) } };
  } catch (error) {
    const failure = liveFailure(error);
    if (failure instanceof Failure) return { why: failure.message };
    throw failure;
  }
};

/** A list can be stopped without an account, too: then the process that dials ends the calls. */
const enderOf = async (given: Values<typeof flags>, env: Environment): Promise<Ender> => {
  const { "services-file": file } = given;
  if (file === undefined) return endedBy(() => liveOptionsOf(given, env));
  refuseBesideFile(
    given,
    Object.keys(accountFlags).filter((name) => name !== "services-file"),
  );
  const services: Record<string, Pick<LiveServices, "end" | "get">> = {};
  const reasons: string[] = [];
  for (const entry of servicesIn(file)) {
    const { live, why } = await endedBy(() => fileOptionsOf(entry, file, env));
    if (live) services[entry.name] = live;
    if (why !== undefined) reasons.push(why);
  }
  return { live: { services }, why: reasons.length > 0 ? reasons.join("; ") : undefined };
};

/** Somebody who may be in a call, as the results name the contact. */
const lineOf = ({ to_number, id, call_id }: OpenCall): string =>
  `  ${[to_number || "(erased)", id, call_id].filter(Boolean).map(String).map(plain).join(", ")}`;

const stoppedText = "Stopped: no further call begins until outdial dial --resume";

/** Why nobody was being called before. */
const idleReason = ({ contacts, done, state, reason, calling, unclear }: Progress) => {
  if (calling + unclear > 0) return;
  if (contacts === 0) return "the ledger has no contacts yet";
  if (done) return "every contact has ended";
  if (isStopped({ state, reason })) return "it was stopped already";
  if (state === "paused") return `it was paused (${reason})`;
  return "no call was live: no run dials from it, or none may begin now";
};

const noteOf = (idle: string | undefined): string =>
  idle ? `. It stopped nobody: ${plain(idle)}` : "";

const hangUpLines = (
  { ended, failed, unclear }: EndedCalls,
  idle: string | undefined,
): readonly string[] => [
  `${stoppedText}. ${counted(ended, "live call")} ended${ended + failed.length + unclear.length > 0 ? "" : noteOf(idle)}`,
  ...(failed.length > 0 ? [`${counted(failed.length, "live call")} could not be ended:`] : []),
  ...failed.map(lineOf),
  ...(unclear.length > 0 ? ["May be live, and the id of the call is not known:"] : []),
  ...unclear.map(lineOf),
];

/** Stops a campaign and has its live calls ended. */
const hangUp = async (
  ledger: OpenedLedger,
  { live, why }: Ender,
  idle: string | undefined,
  terminal: Terminal,
  json: boolean,
): Promise<Exit> => {
  const result = await ledger.endCalls(live);
  if (json)
    await terminal.print(jsonLine({ stopped: true, ...result, ...(idle && { idle }) }) ?? "{}");
  else for (const line of hangUpLines(result, idle)) await terminal.print(line);
  const { failed, unclear } = result;
  if (failed.length > 0 && why !== undefined) {
    const left = `no further call begins, but ${counted(failed.length, "live call")} could not be ended from here`;
    throw new Failure(`${left}: ${why}`, exits.maybe);
  }
  return failed.length + unclear.length > 0 ? exits.maybe : exits.done;
};

/** `outdial stop`: begins no further call of a ledger, also while another process dials from it. */
export const command: Command = defineCommand({
  args: ["ledger"],
  flags,
  example: "stop people.outdial",
  notes: [
    `It works from another terminal, and also where the dialling process is dead: then it ends the calls
itself, by the same service and key, or --services-file, as outdial dial. A call that is being
placed is ended when its id arrives. It may be repeated.`,
    `Without --hang-up the live calls go on to their end, and no key is needed. A stopped ledger is not
dialled from until outdial dial is given --resume.`,
  ],
  exits: {
    0: "nothing begins; with --hang-up every live call has ended",
    2: "the command line or the ledger is wrong: nothing was stopped",
    3: "nothing begins; with --hang-up calls may still be live, which are listed",
  },
  run: async ({ args: [file = ""], flags: given, env, terminal, reached }) => {
    const { "hang-up": isHangUp = false, json = false } = given;
    const ender = isHangUp ? await enderOf(given, env) : undefined;
    reached("live");
    return withLedger(file, async (ledger) => {
      const idle = idleReason(ledger.progress());
      if (ender) return hangUp(ledger, ender, idle, terminal, json);
      await ledger.stop();
      const { calling, unclear } = ledger.progress();
      const live =
        calling > 0 ? `. ${counted(calling, "live call")}: --hang-up ends them` : noteOf(idle);
      const line = json
        ? jsonLine({ stopped: true, calling, unclear, ...(idle && { idle }) })
        : `${stoppedText}${live}`;
      await terminal.print(line ?? "{}");
      return exits.done;
    });
  },
});
