import { quietly } from "./quietly.ts";

const loopback = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/** Which way a URL leads: `"https"`, or `"loopback"` for plain http to this machine; or else neither. */
export type Route = "https" | "loopback" | undefined;

/** The route of a URL that is parsed: wss leads as https does, and ws as http. */
export const routeOfUrl = ({ protocol, hostname, username, password }: URL): Route => {
  const scheme = protocol.replace("ws", "http");
  if (username || password) return;
  if (scheme === "https:") return "https";
  return scheme === "http:" && loopback.test(hostname) ? "loopback" : undefined;
};

const shapes = { http: /^https?:\/\/[^\s\\]+$/i, ws: /^wss?:\/\/[^\s\\]+$/i };

/**
 * The route of an absolute URL of at most 2 083 characters; none for anything else, one with user or
 * password included. Stricter than the URL parser, which drops white space and mends slashes: what is
 * checked is what is sent.
 *
 * @param scheme - `"ws"` for the address of a WebSocket
 */
export const routeOf = (value: unknown, scheme: "http" | "ws" = "http"): Route => {
  if (typeof value !== "string" || !shapes[scheme].test(value) || value.length > 2083) return;
  return quietly(() => routeOfUrl(new URL(value)));
};

/** Whether a base URL leads to this machine, over http or https. */
export const isLoopback = (url: string): boolean => loopback.test(new URL(url).hostname);

/** Where the API of a service is: under its base URL, which may name it, and end in slashes. */
export const apiOf = (baseUrl: string): string => baseUrl.replace(/(\/(api\/v1)?)*$/, "/api/v1");
