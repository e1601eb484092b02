import { type Scenario, scenarios } from "../../emulator/index.ts";
import { chosenKey, ownShapes, readAccount } from "../account.ts";
import { baseUrlOf, defaultPort, isEmulator, isLoopback } from "../address.ts";
import {
  type Command,
  defineCommand,
  type Exit,
  exits,
  Failure,
  suggestion,
  UsageError,
} from "../command.ts";
import { place, placingExits, placingFlags } from "./call.ts";

const flags = {
  flow: {
    type: "string",
    value: "url",
    help: "your flow, or its path at the emulator; default: a sample that plays a tone",
    sets: "flow_url",
  },
  callback: {
    type: "string",
    value: "url",
    help: "your status notifications, the same way",
    sets: "status_callback_url",
  },
  from: {
    type: "string",
    value: "number",
    help: "the caller; default +12025550199",
    sets: "from_number",
  },
  "base-url": {
    type: "string",
    value: "url",
    help: "the emulator; default http://127.0.0.1:4010",
    sets: "baseUrl",
  },
  ...placingFlags,
} as const;

/** The exit code of a call of a scenario. */
const exitOf = ({ outage, response = "whole" }: Scenario): Exit => {
  if (outage) return outage.status < 500 ? exits.refused : exits.maybe;
  return response === "whole" ? exits.done : exits.maybe;
};

const numberOf = (name: string): string => {
  const scenario = scenarios.find((each) => each.name === name);
  if (scenario) return scenario.to_number;
  const names = scenarios.map((each) => each.name);
  throw new UsageError(`there is no such scenario${suggestion(name, names)}`);
};

/** As long as a call may take: a busy machine delays the emulator's answer, and a closed port fails at once. */
const answerTimeout = 10_000;

/**
 * Only an emulator on this machine: nothing else may ring for a try.
 *
 * @throws {Failure} for any other base URL
 */
const checkEmulator = async (baseUrl: string): Promise<void> => {
  if (!/^https?:/.test(baseUrl) || !isLoopback(baseUrl)) {
    throw new UsageError("--base-url must be an emulator's on this machine (no call was placed)");
  }
  if (await isEmulator(baseUrl, answerTimeout)) return;
  throw new Failure(
    "no emulator answers there; `outdial emulator` starts one (no call was placed)",
    exits.refused,
  );
};

const list = scenarios.map((scenario) => {
  const exit = exitOf(scenario);
  const { name, description } = scenario;
  return `    ${name.padEnd(12)}   ${description}${exit === exits.done ? "" : `: exit ${exit}`}`;
});

/** `outdial trigger`: places a call of a chosen scenario on an emulator. */
export const command: Command = defineCommand({
  args: ["scenario"],
  choices: scenarios.map(({ name }) => name),
  flags,
  example: "trigger busy --flow http://127.0.0.1:3000/flow --callback http://127.0.0.1:3000/status",
  notes: [
    `Scenarios\n${list.join("\n")}`,
    `The key is the emulator's own: the one that it keeps, or OUTDIAL_EMULATOR_KEY. A path instead of a
URL leads to where the emulator forwards to: --flow /flow.`,
  ],
  exits: placingExits,
  run: async ({ flags: given, args: [name = ""], env, ...host }) => {
    const to_number = numberOf(name);
    const { flow = "/sample/flow", callback = "/sample/status", timeout, json } = given;
    const { from: from_number = "+12025550199" } = given;
    const baseUrl = given["base-url"] ?? baseUrlOf("127.0.0.1", defaultPort);
    await checkEmulator(baseUrl);
    const apiKey = chosenKey(env) ?? readAccount(env, undefined, ownShapes).apiKey;
    if (!apiKey) throw new UsageError("which key? Set OUTDIAL_EMULATOR_KEY to the emulator's");
    const { origin } = new URL(baseUrl);
    const urlOf = (text: string) => (text.startsWith("/") ? origin + text : text);
    const params = {
      from_number,
      to_number,
      flow_url: urlOf(flow),
      status_callback_url: urlOf(callback),
      ...(given["no-record"] && { record: false }),
    };
    const names = { apiKey: "OUTDIAL_EMULATOR_KEY" };
    const placing = { apiKey, baseUrl, timeout, json, flags, names };
    await place(params, placing, { env, ...host });
    return exits.done;
  },
});
