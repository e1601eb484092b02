import { isRecord, isText, kindOf, withoutThrowing } from "./check.ts";

const loopback = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/** How a URL is reached: with TLS, or in plain text on this machine. */
export type Route = "https" | "loopback" | undefined;

/** The route of a parsed URL; wss counts as https, and ws as http. */
export const routeOfUrl = ({ protocol, hostname, username, password }: URL): Route => {
  const scheme = protocol.replace("ws", "http");
  if (username || password) return;
  if (scheme === "https:") return "https";
  return scheme === "http:" && loopback.test(hostname) ? "loopback" : undefined;
};

/** The most characters of a URL of outdial's own interface, as docs/openapi.json has it. */
export const maxUrl = 2083;

/** An absolute URL with a host, without user and password, white space and backslashes: a parser mends or drops those. */
const strictUrl = /^(\w+):\/\/[^/?#@\s\\]+([/?#][^\s\\]*)?$/;

/** A URL with this scheme or its secure one, parsed. */
const parsed = (value: string, scheme: "http" | "ws"): URL | undefined => {
  const given = strictUrl.exec(value)?.[1]?.toLowerCase();
  const isScheme = given === scheme || given === `${scheme}s`;
  return isScheme ? withoutThrowing(() => new URL(value)) : undefined;
};

/**
 * The route of a value that is an absolute URL. Stricter than the URL parser, which drops white space and mends
 * slashes: what is checked is what is sent.
 *
 * @param scheme - `"ws"` for the address of a WebSocket
 * @param most - the most characters
 */
export const routeOf = (
  value: unknown,
  scheme: "http" | "ws" = "http",
  most: number = maxUrl,
): Route => {
  const url = isText(value) && value.length <= most && parsed(value, scheme);
  return url ? routeOfUrl(url) : undefined;
};

/** The rule that a URL breaks, or `undefined` for one that has a route. */
export const urlRule = (
  value: unknown,
  scheme: "http" | "ws" = "http",
  most: number = maxUrl,
): string | undefined => {
  const secure = `${scheme}s`;
  if (!isText(value)) {
    if (isRecord(value) && "then" in value) return "is a Promise: await it";
    return `must be a string, not ${kindOf(value)}`;
  }
  const [isAbsolute, authority = ""] = /^\w+:\/\/([^/?#]*)/.exec(value) ?? [];
  if (!isAbsolute) {
    return `must be an absolute URL: add "${secure}://"${value.startsWith("/") ? " and the host" : ""}`;
  }
  if (authority.includes("@")) return "must be without user and password";
  if (value.length > most) return `must be at most ${most} characters long`;
  const url = parsed(value, scheme);
  if (!url) return `must be a valid ${secure} URL`;
  return routeOfUrl(url) ? undefined : `must be ${secure}: plain ${scheme} is for localhost only`;
};

/** Whether a base URL leads to this machine, over http or https. */
export const isLoopback = (url: string): boolean => loopback.test(new URL(url).hostname);

/** Where a service's API is: below its base URL, which may already name it and may end in slashes. */
export const apiOf = (baseUrl: string): string => baseUrl.replace(/(\/(api\/v1)?)*$/, "/api/v1");
