import { cases as agents } from "./agents.ts";
import { cases as attempts } from "./attempts.ts";
import { cases as callbacks } from "./callbacks/index.ts";
import { cases as campaigns } from "./campaigns.ts";
import type { Case, ClientCase, Env } from "./case.ts";
import { cases as client } from "./client.ts";
import { cases as emulator } from "./emulator.ts";
import { cases as callee } from "./emulator-callee.ts";
import { cases as lifecycle } from "./emulator-calls.ts";
import { cases as stream } from "./emulator-stream.ts";
import { entries } from "./entries.ts";
import { cases as exports } from "./exports.ts";
import { cases as flows } from "./flows.ts";
import { cases as media } from "./flows-media.ts";
import { cases as hostile } from "./hostile.ts";
import { cases as key } from "./key.ts";
import { cases as network } from "./network.ts";
import { cases as options } from "./options.ts";
import { cases as params } from "./params.ts";
import { cases as placing } from "./placing.ts";
import { cases as redaction } from "./redaction.ts";
import { cases as refusals } from "./refusals.ts";

/** What holds for every entry that places calls. */
const ofEach: readonly ClientCase[] = [
  ...params,
  ...options,
  ...placing,
  ...key,
  ...refusals,
  ...network,
  ...client,
  ...redaction,
  ...hostile,
  ...attempts,
];

/** Every case, in the order in which it is run; those about placing calls once for each entry. */
export const cases: readonly Case[] = [
  ...entries.flatMap((names) =>
    ofEach.map(({ name, run }) => ({
      name: `${names.entry}: ${name}`,
      run: (env: Env) => run({ ...env, ...names }),
    })),
  ),
  ...exports,
  ...callbacks,
  ...flows,
  ...media,
  ...agents,
  ...emulator,
  ...lifecycle,
  ...stream,
  ...callee,
  ...campaigns,
];
