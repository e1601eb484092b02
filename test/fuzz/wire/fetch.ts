/**
 * Counts what leaves by the platform's `fetch`. A runtime's entry imports this module before the package, which
 * takes the `fetch` that it finds when it is loaded for the platform's own.
 */
export const { fetch: platformFetch } = globalThis;

/** How many POSTs have left for each plan: the server may count them later. */
export const sent = new Map<string, number>();

globalThis.fetch = (input, init) => {
  const id = /^http:\/\/127\.0\.0\.1:\d+\/(\d+)\//.exec(String(input))?.[1] ?? "";
  sent.set(id, (sent.get(id) ?? 0) + 1);
  return platformFetch(input, init);
};
