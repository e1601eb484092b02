import { BadParametersException } from "../../../errors.ts";
import { LedgerException, type LedgerReason } from "../../ledger-exception.ts";

/** How a shard says why not. */
export const refusalOf = (error: unknown): Response => {
  if (error instanceof BadParametersException) {
    return Response.json({ issues: error.issues }, { status: 400 });
  }
  if (!(error instanceof LedgerException)) throw error;
  return Response.json({ reason: error.reason }, { status: 409 });
};

const isReason = (value: unknown): value is LedgerReason => typeof value === "string";

/**
 * Throws what a shard has thrown.
 *
 * @throws {BadParametersException} when it was asked for something against the rules
 * @throws {LedgerException} when its ledger can't be used, or there is none
 */
export const refuse = async (response: Response): Promise<never> => {
  const { issues, reason } = await response.json();
  if (issues) throw new BadParametersException(issues);
  if (isReason(reason)) throw new LedgerException(reason);
  throw new Error(`A shard has answered ${response.status}`);
};
