import type { Emulator } from "../../emulator/emulator.ts";
import { version } from "../../request/version.ts";
import { isPrivate } from "../local/address.ts";
import type { Paint } from "../terminal/paint.ts";
import type { Settings } from "./settings.ts";

/** What a user must know of an emulator that has started. */
export interface Started {
  readonly base_url: string;
  readonly api_key: string;
  readonly webhook_secret: string;
  /** The link that signs a browser in. */
  readonly dashboard: string;
  readonly forward_to?: string | undefined;
}

export const started = (
  { apiKey, webhookSecret }: Emulator,
  baseUrl: string,
  token: string,
  { forwardTo }: Settings,
): Started => ({
  base_url: baseUrl,
  api_key: apiKey,
  webhook_secret: webhookSecret,
  dashboard: `${baseUrl}/?token=${token}`,
  ...(forwardTo && { forward_to: forwardTo }),
});

/** The first lines on a terminal. */
export const greeting = (facts: Started, host: string, line: string, paint: Paint): string => {
  const rows = {
    "base URL": facts.base_url,
    "API key": facts.api_key,
    "signs with": facts.webhook_secret,
    dashboard: facts.dashboard,
    ...(facts.forward_to && { "forwards to": `${facts.forward_to}, path and query kept` }),
  };
  return [
    `${paint("bold", `outdial emulator ${version}`)} for development and tests\n`,
    ...Object.entries(rows).map(([name, value]) => `  ${paint("dim", name.padEnd(11))}  ${value}`),
    ...(isPrivate(host)
      ? []
      : [
          paint("yellow", "\n  Whoever can reach this machine can reach the emulator."),
          paint("yellow", "  It takes no plain http to this machine: put URLs of yours below."),
        ]),
    `\n${line}\n`,
  ].join("\n");
};
