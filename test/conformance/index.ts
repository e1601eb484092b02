import { cases as agents } from "./agents.ts";
import { cases as telephone } from "./agents-telephone.ts";
import { cases as callbacks } from "./callbacks/index.ts";
import { cases as campaigns } from "./campaigns.ts";
import type { Case, Env } from "./case.ts";
import { cases as client } from "./client/index.ts";
import { cases as emulator } from "./emulator/index.ts";
import { entries } from "./entries.ts";
import { cases as exports } from "./exports.ts";
import { cases as flows } from "./flows.ts";
import { cases as media } from "./flows-media.ts";
import { cases as live } from "./live.ts";
import { cases as programs } from "./programs.ts";
import { cases as simulated } from "./simulated.ts";
import { cases as voicemail } from "./telephone.ts";

/** Every case, in the order in which it is run; those about placing calls once for each entry. */
export const cases: readonly Case[] = [
  ...entries.flatMap((names) =>
    client.map(({ name, run }) => ({
      name: `${names.entry}: ${name}`,
      run: (env: Env) => run({ ...env, ...names }),
    })),
  ),
  ...exports,
  ...live,
  ...callbacks,
  ...flows,
  ...media,
  ...agents,
  ...telephone,
  ...simulated,
  ...voicemail,
  ...programs,
  ...emulator,
  ...campaigns,
];
