/** This machine, as `NO_PROXY` names it. */
const own = ["localhost", ".localhost", "127.0.0.1", "::1", "[::1]"];

/**
 * Keeps the proxies of the environment (`http_proxy` and its kin) away from this machine: Bun and Deno
 * send them plain http too, key included, and nobody but this machine may see that. Each runtime reads
 * `NO_PROXY` when it first connects, so this comes before.
 *
 * @param hosts - further hosts to reach directly, as they stand in a URL
 */
export const reachDirectly = (...hosts: readonly string[]): void => {
  const { no_proxy = "", NO_PROXY = "" } = process.env;
  const all = [...no_proxy.split(","), ...NO_PROXY.split(","), ...own, ...hosts].filter(Boolean);
  process.env.no_proxy = process.env.NO_PROXY = [...new Set(all)].join(",");
};
