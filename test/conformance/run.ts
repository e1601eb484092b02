import type { Case, Env } from "./case.ts";
import { exempt } from "./exempt.ts";
import { cases } from "./index.ts";
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

/** The service that a launcher names; `undefined` where it names none. */
export const serviceIn = (name: string | null | undefined): ServiceName | undefined =>
  name && isService(name) ? name : undefined;

/** Runs every case that this runtime can run, one after the other. */
export const run = async (
  env: Env,
  list: readonly Case[] = env.service ? casesWith(env.service) : cases,
): Promise<readonly Result[]> => {
  const results: Result[] = [];
  for (const { name, run, exempt: everywhere } of list) {
    const reason = everywhere ?? exempt[env.runtime]?.[name];
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
