import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { begin, type Running, start } from "../cli/cli.ts";

/** An emulator on a port, with what it printed of itself. */
export interface Stage {
  readonly running: Running;
  readonly baseUrl: string;
  readonly key: string;
  readonly link: string;
  /** Places a call, with the emulator's own sample as its application, and gives its id. */
  readonly place: (params: Readonly<Record<string, unknown>>) => Promise<string>;
  /** Sends a call with some key, and gives the status. */
  readonly statusWith: (key: string) => Promise<number>;
  readonly stop: () => Promise<void>;
}

const command = (args: readonly string[]): readonly string[] => [
  "emulator",
  ...(args.includes("--port") ? [] : ["--port", "0"]),
  ...args,
];

const stageOf = async (running: Running): Promise<Stage> => {
  const text = await running.says(/ curl .*\n/);
  const find = (pattern: RegExp) => pattern.exec(text)?.[1] ?? "";
  const baseUrl = find(/base URL +(\S+)/);
  const key = find(/API key +(\S+)/);
  const post = (apiKey: string, params: Readonly<Record<string, unknown>>) =>
    fetch(`${baseUrl}/api/v1/calls/initiate`, {
      method: "POST",
      headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
      body: JSON.stringify({
        from_number: "+12025550199",
        to_number: "+12025550100",
        flow_url: `${baseUrl}/sample/flow`,
        status_callback_url: `${baseUrl}/sample/status`,
        ...params,
      }),
    });
  return {
    running,
    baseUrl,
    key,
    link: find(/dashboard +(\S+)/),
    place: async (params) => (await (await post(key, params)).json()).data.id,
    statusWith: async (apiKey) => (await post(apiKey, {})).status,
    stop: async () => {
      running.kill("SIGINT");
      await running.ended;
    },
  };
};

/** Starts `outdial emulator` in this process: it takes milliseconds, so each test has its own. */
export const raise = (...args: readonly string[]): Promise<Stage> => stageOf(begin(command(args)));

/** Starts the built `outdial emulator` in a process of its own, which can be stopped. */
export const raiseProcess = (): Promise<Stage> => stageOf(start("node", command([])));

const artefacts = fileURLToPath(new URL("../artefacts/", import.meta.url));
mkdirSync(artefacts, { recursive: true });

/** Where a screenshot is kept. */
export const artefact = (name: string): string => `${artefacts}dashboard-${name}.png`;
