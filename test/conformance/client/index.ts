import type { ClientCase } from "../case.ts";
import { cases as attempts } from "./attempts.ts";
import { cases as client } from "./client.ts";
import { cases as flow, ownCases as ownFlow } from "./flow.ts";
import { cases as hostile } from "./hostile.ts";
import { cases as idempotent } from "./idempotent.ts";
import { cases as key } from "./key.ts";
import { cases as network } from "./network.ts";
import { cases as notAfter } from "./not-after.ts";
import { cases as options } from "./options.ts";
import { cases as params } from "./params.ts";
import { cases as placing } from "./placing.ts";
import { cases as redaction } from "./redaction.ts";
import { cases as refusals } from "./refusals.ts";

/** What holds for every entry that places calls. */
export const cases: readonly ClientCase[] = [
  ...params,
  ...options,
  ...placing,
  ...flow,
  ...ownFlow,
  ...notAfter,
  ...key,
  ...refusals,
  ...network,
  ...client,
  ...redaction,
  ...hostile,
  ...attempts,
  ...idempotent,
];
