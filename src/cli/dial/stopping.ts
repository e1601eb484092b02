import type { Campaign, Progress } from "../../campaigns/index.ts";
import { stopReason } from "../../campaigns/progress.ts";
import { exits, Failure } from "../command.ts";
import type { Terminal } from "../terminal.ts";

/** Whether `outdial stop` has stopped a campaign. */
export const isStopped = ({ state, reason }: Pick<Progress, "state" | "reason">): boolean =>
  state === "paused" && reason === stopReason;

/**
 * What the plan says of a pause that the run takes back.
 *
 * @throws {Failure} after `outdial stop`, which only `--resume` takes back
 */
export const pauseNote = (
  { state, reason }: Pick<Progress, "state" | "reason">,
  { resume, "dry-run": dry }: { readonly resume?: boolean; readonly "dry-run"?: boolean },
): string => {
  if (state !== "paused") return "";
  if (!isStopped({ state, reason }) || resume) return `paused (${reason}): this run dials on`;
  const rule = "the ledger was stopped by outdial stop: pass --resume to dial on";
  if (dry) return rule;
  throw new Failure(rule, exits.refused);
};

/**
 * Prints at the first ctrl-C how live calls are ended.
 *
 * @returns a function that removes the listener
 */
export const hintAtInterrupt = (
  campaign: Pick<Campaign, "progress">,
  ledger: string,
  { terminal, signal }: { readonly terminal: Terminal; readonly signal: AbortSignal },
): (() => void) => {
  const printHint = (): void => {
    const { calling } = campaign.progress();
    if (calling === 0) return;
    if (terminal.columns !== undefined) terminal.replaceLine("");
    const calls = calling === 1 ? "the live call goes on" : `${calling} live calls go on`;
    terminal.report(
      `No further call begins; ${calls}. To end them: outdial stop ${ledger} --hang-up`,
    );
  };
  signal.addEventListener("abort", printHint, { once: true });
  return () => signal.removeEventListener("abort", printHint);
};
