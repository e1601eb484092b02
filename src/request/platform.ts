import { version } from "./version.ts";

const isBrowser = (): boolean => /^Mozilla\//.test(globalThis.navigator?.userAgent);

/** Who calls. A page doesn't say so: there the header may need the service's leave (CORS). */
export const userAgent = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  isBrowser() || Object.keys(headers).some((name) => /^user-agent$/i.test(name))
    ? {}
    : { "User-Agent": `outdial/${version}` };

/**
 * The body of a request, and what a platform's own `fetch` must be told beside it.
 *
 * Deno's fetch sends a POST again, when a kept connection dies under it, if it can copy the body. A
 * Blob it can't; elsewhere one only costs, a sixth of the call on Node. Bun sends a request in the clear, which only loopback gets, to
 * the proxy of the environment, key and all, unless it is told not to.
 */
export const bodyOf = (json: string, url: string): RequestInit => ({
  body: "Deno" in globalThis ? new Blob([json]) : json,
  ...("Bun" in globalThis && /^http:/i.test(url) && { proxy: false }),
});
