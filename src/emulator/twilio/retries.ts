import type { Delivery } from "../call.ts";

/** Which failures a request is repeated after, by the fragment of its URL, and how often. */
interface RetryPolicy {
  readonly attempts: number;
  readonly reasons: readonly string[];
}

/** By default a request is repeated once, and only where no connection was made. */
const policyOf = (url: string): RetryPolicy => {
  const settings = new URLSearchParams(new URL(url).hash.slice(1));
  const retries = Number(settings.get("rc") ?? 1);
  return {
    attempts: 1 + (Number.isInteger(retries) ? Math.min(Math.max(retries, 0), 5) : 1),
    reasons: (settings.get("rp") ?? "ct").split(","),
  };
};

const reasonOf = ({ status, timedOut }: Pick<Delivery, "status" | "timedOut">): string => {
  if (status !== undefined) return `${Math.floor(status / 100)}xx`;
  return timedOut ? "rt" : "ct";
};

/**
 * Whether a request is repeated.
 *
 * @param url - the URL with its fragment
 * @param count - how many attempts there were
 */
export const isRepeated = (
  url: string,
  count: number,
  delivery: Pick<Delivery, "status" | "timedOut">,
): boolean => {
  const { attempts, reasons } = policyOf(url);
  const reason = reasonOf(delivery);
  const isReason = reasons.includes(reason) || (reasons.includes("all") && reason !== "3xx");
  return count < attempts && isReason;
};
