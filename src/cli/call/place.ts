import type { Call } from "../../calls/call.ts";
import { create } from "../../calls/create.ts";
import type { CallParams } from "../../calls/params.ts";
import { BadParametersException, isException } from "../../errors.ts";
import { routeOf } from "../../rules/url.ts";
import type { Given } from "../command/command.ts";
import { type Exit, exits, Failure, UsageError } from "../command/failure.ts";
import type { Flags } from "../command/flags.ts";
import { reachDirectly } from "../local/direct.ts";
import { jsonLine } from "../terminal/json.ts";
import { print } from "../terminal/output.ts";
import { plain } from "../terminal/plain.ts";

/** What places one call, beside its parameters. */
export interface Placing extends Pick<Given<Flags>, "reached" | "signal"> {
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly timeout: string | undefined;
  readonly json: boolean | undefined;
  /** How the user knows a parameter or an option: `to_number` by `--to`. */
  readonly names: Readonly<Record<string, string>>;
}

/** A broken rule, told by the name that the user knows. */
const usage = ({ issues, placed }: BadParametersException, names: Placing["names"]): UsageError => {
  const told = issues.map(({ param, message }) => ({ param: names[param] ?? param, message }));
  const line = told.map(
    ({ param, message }) => `${param} ${message.replace("baseUrl", "the base URL")}`,
  );
  return new UsageError(`${line.join("; ")} (no call was placed)`, { placed, issues: told });
};

const failureOf = (error: unknown, names: Placing["names"]): unknown => {
  if (error instanceof BadParametersException) return usage(error, names);
  if (!isException(error)) return error;
  const { name, message, placed } = error;
  return new Failure(message, placed === "no" ? exits.refused : exits.maybe, {
    ...error,
    name,
    placed,
  });
};

/** Says which call it is, come what may: it is placed, and nobody must place it again. */
const say = async (call: Call, json: boolean | undefined): Promise<void> => {
  const id = plain(call.id);
  const line = json ? (jsonLine(call) ?? jsonLine({ id: call.id }) ?? id) : id;
  if (await print(line)) return;
  await print(`outdial: placed, but stdout takes nothing; the id is ${id}`, process.stderr);
};

/**
 * Places one call, and says on stdout which.
 *
 * @throws {Failure} whose exit code says whether a telephone may ring
 */
export const place = async (params: CallParams, placing: Placing): Promise<Exit> => {
  const { apiKey, baseUrl, timeout, json, names, reached, signal } = placing;
  if (routeOf(baseUrl) === "loopback") reachDirectly(new URL(baseUrl).hostname);
  let call: Call;
  reached("sent"); // From here on only the exceptions of `create` know better.
  try {
    call = await create(params, {
      apiKey,
      baseUrl,
      signal,
      ...(timeout !== undefined && { timeout: timeout === "false" ? false : Number(timeout) }),
    });
  } catch (error) {
    throw failureOf(error, names);
  }
  reached("placed");
  await say(call, json);
  return exits.done;
};
