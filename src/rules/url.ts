const loopback = /^((.+\.)?localhost|127(\.\d+){3}|\[::1\])$/;

/**
 * Which way an absolute URL of at most 2 083 characters leads: `"https"`, or `"loopback"` for plain
 * http to this machine; `undefined` for anything else, one with user or password included. Stricter
 * than the URL parser, which drops white space and mends slashes: what is checked is what is sent.
 */
export const routeOf = (value: unknown): "https" | "loopback" | undefined => {
  if (typeof value !== "string" || !/^https?:\/\/[^\s\\]+$/i.test(value) || value.length > 2083)
    return;
  try {
    const { protocol, hostname, username, password } = new URL(value);
    if (username || password) return;
    return protocol === "https:" ? "https" : loopback.test(hostname) ? "loopback" : undefined;
  } catch {
    return;
  }
};

/** Whether a base URL leads to this machine, over http or https. */
export const isLoopback = (url: string): boolean => loopback.test(new URL(url).hostname);

const withoutSlashes = (url: string): string => {
  let end = url.length;
  while (url[end - 1] === "/") end--;
  return url.slice(0, end);
};

/** Where the API of a service is: under its base URL, which may name it, and end in slashes. */
export const apiOf = (baseUrl: string): string =>
  `${withoutSlashes(withoutSlashes(baseUrl).replace(/\/api\/v1$/, ""))}/api/v1`;
