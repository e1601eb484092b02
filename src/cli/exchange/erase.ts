import { resolve } from "node:path";
import { controlTokenOf } from "../../exchange/operator.ts";
import { eraseRecordings } from "../../exchange/recorder.ts";
import { type ExchangeSettings, readSecrets, readSettings } from "../../exchange/settings.ts";
import { openStore, type Store } from "../../exchange/store.ts";
import { fieldsOf } from "../../lib/check.ts";
import { baseUrlOf } from "../address.ts";
import { type Exit, exits, Failure, type Host, UsageError } from "../command.ts";
import { numberReader } from "../dial/numbers.ts";
import { jsonLine } from "../terminal.ts";
import type { ExchangeFlags } from "./flags.ts";

/** What was erased, and how many calls of the number are live: those stay. */
interface Erased {
  readonly calls: number;
  readonly live: number;
}

/** How long a running exchange may take, in milliseconds. */
const askTimeout = 60_000;

/** Has the running exchange erase a number. The number is in no URL. */
const askExchange = async (
  { pages: { host, port } }: ExchangeSettings,
  recordingSecret: string,
  number: string,
): Promise<Erased> => {
  const fail = (): never => {
    throw new Failure(
      "the exchange runs, and its pages do not answer: end it, and repeat the command",
      exits.refused,
    );
  };
  const response = await fetch(`${baseUrlOf(host, port)}/control/erase`, {
    method: "POST",
    headers: { Authorization: `Bearer ${controlTokenOf(recordingSecret)}` },
    body: new URLSearchParams({ number }),
    redirect: "manual",
    signal: AbortSignal.timeout(askTimeout),
  }).catch(fail);
  if (!response.ok) return fail();
  const { erased, live } = fieldsOf(await response.json().catch(fail));
  return { calls: Number(erased), live: Number(live) };
};

/** Erases a number where no exchange runs. */
const eraseHere = (store: Store, folder: string, number: string): Erased => {
  try {
    const calls = store.erase(number);
    eraseRecordings({ folder, db: store.database }, calls);
    const isOf = (each: { readonly to_number: string; readonly from_number: string }) =>
      each.to_number === number || each.from_number === number;
    return { calls: calls.length, live: store.live.filter(({ facts }) => isOf(facts)).length };
  } finally {
    store.close();
  }
};

const plural = (count: number): string => (count === 1 ? "call" : "calls");

/**
 * `outdial exchange erase`: deletes the calls of a number with their history, notifications and recordings, whether the exchange
 * runs or not.
 *
 * @throws {Failure} when the exchange runs and does not answer
 * @throws {BadParametersException} for a setting that breaks its rule
 */
export const eraseNumber = async (
  given: string | undefined,
  flags: ExchangeFlags,
  { terminal }: Pick<Host, "terminal">,
): Promise<Exit> => {
  const { number } = given === undefined ? {} : (await numberReader())(given);
  if (number === undefined)
    throw new UsageError("erase needs a number: E.164, such as +12025550100");
  const folder = resolve(flags.folder ?? ".");
  const settings = readSettings(folder);
  const { recordingSecret } = readSecrets(folder);
  const store = await openStore(resolve(folder, settings.store)).catch(() => undefined);
  const { calls, live } = store
    ? eraseHere(store, resolve(folder, settings.recordings.folder), number)
    : await askExchange(settings, recordingSecret, number);
  const more = live === 0 ? "" : `; ${live} live: repeat the command once they are over`;
  const text = `${calls} ${plural(calls)} erased${more}`;
  await terminal.print((flags.json && jsonLine({ type: "erased", calls, live })) || text);
  return live === 0 ? exits.done : exits.refused;
};
