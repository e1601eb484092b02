import { isLoopback, routeOf } from "../../rules/url.ts";
import { place } from "../call/place.ts";
import type { Run } from "../command/command.ts";
import { exits, Failure, UsageError } from "../command/failure.ts";
import { nearest } from "../command/nearest.ts";
import { chosenKey, keptAccount } from "../local/account.ts";
import { baseUrlOf, defaultPort } from "../local/address.ts";
import { isEmulator } from "../local/is-emulator.ts";
import type { triggerFlags } from "./flags.ts";
import { scenarios } from "./scenarios.ts";

const names = {
  from_number: "--from",
  flow_url: "--flow",
  status_callback_url: "--callback",
  timeout: "--timeout",
  baseUrl: "--base-url",
  apiKey: "OUTDIAL_EMULATOR_KEY",
} as const;

const numberOf = (word: string): string => {
  const scenario = Object.hasOwn(scenarios, word) ? scenarios[word] : undefined;
  if (scenario) return scenario.to_number;
  const meant = nearest(word, Object.keys(scenarios));
  throw new UsageError(`there is no such scenario${meant ? ` (did you mean ${meant}?)` : ""}`);
};

/**
 * Only an emulator, and only on this machine: nothing else may ring for a try.
 *
 * @throws {Failure} for any other base URL
 */
const checkEmulator = async (baseUrl: string): Promise<void> => {
  if (!routeOf(baseUrl) || !isLoopback(baseUrl)) {
    throw new UsageError("--base-url must be an emulator's on this machine (no call was placed)");
  }
  if (await isEmulator(baseUrl)) return;
  throw new Failure(
    "no emulator answers there; `outdial emulator` starts one (no call was placed)",
    exits.refused,
  );
};

/** `outdial trigger`: places a call of a chosen scenario on an emulator. */
export const run: Run<typeof triggerFlags> = async ({ flags, words, ...given }) => {
  const [word = ""] = words;
  const to_number = numberOf(word);
  const { flow = "/sample/flow", callback = "/sample/status", timeout, json } = flags;
  const { from: from_number = "+12025550199" } = flags;
  const baseUrl = flags["base-url"] ?? baseUrlOf("127.0.0.1", defaultPort);
  await checkEmulator(baseUrl);
  const apiKey = chosenKey() ?? keptAccount().apiKey;
  if (!apiKey) throw new UsageError("which key? Set OUTDIAL_EMULATOR_KEY to the emulator's");
  const { origin } = new URL(baseUrl);
  const urlOf = (text: string) => (text.startsWith("/") ? origin + text : text);
  const params = {
    from_number,
    to_number,
    flow_url: urlOf(flow),
    status_callback_url: urlOf(callback),
    ...(flags["no-record"] && { record: false }),
  };
  return place(params, { apiKey, baseUrl, timeout, json, names, ...given });
};
