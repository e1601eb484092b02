import type { ApiKey } from "../../options.ts";
import { isKey } from "../../rules/key.ts";
import { isPage } from "../../rules/page.ts";
import { quietly } from "../../rules/quietly.ts";
import { refuse } from "../../rules/refuse.ts";
import { routeOf } from "../../rules/url.ts";
import { offered, type Tools } from "../tool.ts";

/** What every adapter takes. */
export interface AgentOptions {
  /** The agent's key, or a function that gives it, asked once a call. */
  readonly apiKey: ApiKey;
  /** Where the agent is, if it isn't where it usually is: a gateway, or a script in a test. */
  readonly url?: string | undefined;
  /**
   * Allows a key in a web page, where every visitor can read it.
   *
   * @defaultValue `false`
   */
  readonly dangerouslyAllowBrowser?: boolean | undefined;
}

export const isSocketUrl = (url: string): boolean => !!routeOf(url, "ws");

/**
 * Checks what every adapter takes.
 *
 * @param isUrl - what the adapter takes for a URL
 * @throws {BadParametersException} (`placed: "no"`: this places no call) that names the option, never its value
 */
export const checkOptions = (
  {
    apiKey,
    url,
    dangerouslyAllowBrowser,
    tools,
  }: AgentOptions & { readonly tools?: Tools | undefined },
  isUrl: (url: string) => boolean = isSocketUrl,
): void => {
  if (typeof apiKey !== "function" && !isKey(apiKey)) {
    refuse("apiKey", "must be a legal header value, or a function");
  }
  if (url !== undefined && !isUrl(url)) {
    refuse("url", "must be wss or https");
  }
  if (!quietly(() => JSON.stringify(offered(tools)))) {
    refuse("tools", "must be JSON but for what they do");
  }
  if (isPage() && dangerouslyAllowBrowser !== true) {
    refuse(
      "dangerouslyAllowBrowser",
      "must be true in a web page, where everyone can read the key",
    );
  }
};

/** The key of this call. */
export const keyOf = async ({ apiKey }: AgentOptions): Promise<string> => {
  const key = typeof apiKey === "function" ? await apiKey() : apiKey;
  return isKey(key) ? key : refuse("apiKey", "must give a legal header value");
};
