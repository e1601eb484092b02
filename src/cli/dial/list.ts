import type {
  Campaign,
  ListColumns,
  Progress,
  RefusedContact,
  SyncPlan,
} from "../../campaigns/index.ts";
import { sendsOnce } from "../../http/post.ts";
import { exits, Failure, type Invocation } from "../command.ts";
import { delimiterOf, readContacts } from "./csv.ts";
import type { DoNotCallFile } from "./do-not-call.ts";
import { numberReader } from "./numbers.ts";
import type { DialOptions, dialFlags } from "./options.ts";
import { planLines } from "./plan.ts";
import { showStatus } from "./status.ts";

/** A list, and the plan to bring the campaign in line with it. */
export interface ListPlan {
  readonly changes: SyncPlan;
  readonly refused: readonly RefusedContact[];
}

/** What the plan of a list is made of, beside the list. */
interface ListFacts {
  readonly options: DialOptions;
  readonly blockFile: DoNotCallFile | undefined;
  /** Where opt-outs are written, if they are. */
  readonly optOutPath?: string | undefined;
  /** Numbers that opted out, and are blocked, too. */
  readonly optedOut: readonly string[];
  readonly warnings: readonly string[];
  /**
   * Whether a request of this process can be seen to be sent once.
   *
   * @defaultValue by its `fetch`
   */
  readonly isSentOnce?: boolean | undefined;
  /** When the ledger was changed, if there was one. */
  readonly lastChange?: Date | undefined;
  /**
   * Called once the plan is printed.
   *
   * @returns whether it is applied
   */
  readonly confirm: () => Promise<boolean>;
}

/** Reads the list, prints the plan, and applies it if it is confirmed. */
export const syncList = async (
  campaign: Campaign,
  { options, blockFile, optedOut, warnings, confirm, ...facts }: ListFacts,
  { flags, args: [list = ""], terminal, signal }: Invocation<typeof dialFlags>,
): Promise<ListPlan> => {
  const { isSentOnce = sendsOnce()(), lastChange, optOutPath } = facts;
  const progress = campaign.progress();
  const unreadable: RefusedContact[] = [];
  const listWarnings: string[] = [];
  let columns: ListColumns | undefined;
  let rows = 0;
  const contacts = readContacts(list, {
    readNumber: await numberReader(flags.country),
    delimiter: flags.delimiter === undefined ? undefined : delimiterOf(flags.delimiter),
    encoding: flags.encoding,
    numberColumn: flags["number-column"],
    zoneColumn: flags["zone-column"],
    optOutColumns: flags["opt-out-column"],
    ignoreColumns: flags["ignore-columns"]?.flatMap((names) => names.split(",")),
    variables: options.variables ?? [],
    onColumns: (found) => {
      columns = found;
    },
    onRefused: (row) => unreadable.push(row),
    onWarning: (text) => listWarnings.push(text),
  });
  const counted = async function* () {
    for await (const contact of contacts) {
      if (signal.aborted) throw new Failure("interrupted: nobody was called", exits.interrupted);
      rows++;
      yield contact;
    }
  };
  const hide = showStatus(terminal, () => `reading the list: ${rows.toLocaleString("en")} rows`);
  const allRefused = (plan: SyncPlan) =>
    [...unreadable, ...plan.refused].sort((one, other) => one.line - other.line);
  try {
    const changes = await campaign.sync(counted(), {
      doNotCall: [...((await blockFile?.numbers()) ?? []), ...optedOut],
      confirm: async (plan) => {
        hide();
        const refused = allRefused(plan);
        const lines = planLines({
          ...{ columns, refused, changes: plan, progress, options, lastChange },
          ...{ warnings: [...warnings, ...listWarnings], isSentOnce, optOutPath },
        });
        for (const line of lines) await terminal.report(line);
        return confirm();
      },
    });
    return { changes, refused: allRefused(changes) };
  } finally {
    hide();
  }
};

/** What `--json` has of a list and its progress. */
export const summaryOf = (progress: Progress, { changes, refused }: ListPlan) => {
  const { listed, duplicate, added, blocked } = changes;
  return {
    ...progress,
    state: progress.done ? "done" : progress.state,
    duplicate: listed - added - blocked + duplicate,
    refused_lines: refused.length,
  };
};
