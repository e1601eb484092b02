import type { Case, Env } from "./case.ts";
import { exempt } from "./exempt.ts";
import { cases } from "./index.ts";
import { cases as programs } from "./programs.ts";
import { casesWith, isService, type ServiceName } from "./services/index.ts";

/** What became of one case: passed, failed with an error, or not run for a reason on the list. */
export interface Result {
  readonly name: string;
  readonly error?: string;
  readonly exempt?: string;
}

/** The longest that a case may take, in milliseconds: a hang is a failure with a name. */
const patience = 600_000;

const outcome = async (run: () => Promise<void> | void): Promise<string | undefined> => {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no end within ${patience} ms`)), patience);
  });
  try {
    await Promise.race([run(), late]);
    return;
  } catch (error) {
    return error instanceof Error ? `${error.message}\n${error.stack}` : String(error);
  } finally {
    clearTimeout(timer);
  }
};

/** What is run instead of the whole list: a carrier's, or the programs of agents on each line. */
export type ListName = ServiceName | "programs";

/** The list that a launcher names; without a name, the whole one. */
export const listIn = (
  name: string | null | undefined,
): Pick<Env, "service" | "everyLine"> | undefined => {
  if (name === "programs") return { everyLine: true };
  return name && isService(name) ? { service: name } : undefined;
};

const listOf = ({ service, everyLine }: Env): readonly Case[] => {
  if (service) return casesWith(service);
  return everyLine ? programs : cases;
};

/** Runs every case that this runtime can run, one after the other. */
export const run = async (
  env: Env,
  list: readonly Case[] = listOf(env),
): Promise<readonly Result[]> => {
  const results: Result[] = [];
  for (const { name, run, exempt: everywhere } of list) {
    const reason = everywhere ?? (env.everyLine ? undefined : exempt[env.runtime]?.[name]);
    if (reason) results.push({ name, exempt: reason });
    else {
      const error = await outcome(() => run(env));
      results.push(error === undefined ? { name } : { name, error });
    }
  }
  return results;
};

/** The line by which a runtime hands its results to `conformance.test.ts`. */
export const report = (results: readonly Result[]): string => `REPORT ${JSON.stringify(results)}`;
