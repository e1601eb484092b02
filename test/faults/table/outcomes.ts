import type { Outcome } from "../fault.ts";

const once = { posts: 1, ends: "at once" } as const;

/** The call has its id. */
export const placed: Outcome = { exception: "none", placed: "yes", ...once };

/** Nothing was sent. */
export const unreached: Outcome = {
  exception: "NetworkException",
  placed: "no",
  posts: 0,
  ends: "at once",
};

export const lost: Outcome = { exception: "NetworkException", placed: "maybe", ...once };

export const late: Outcome = {
  exception: "TimeoutException",
  placed: "maybe",
  posts: 1,
  ends: "deadline",
};

/** A head came that says that nothing was dialled. */
export const refused = (code: number, exception: Outcome["exception"] = "ServiceException") =>
  ({ exception, placed: "no", code, ...once }) as const satisfies Outcome;

/** A head came, and nothing that proves that nothing was dialled. */
export const unclear = (code: number) =>
  ({ exception: "ServiceException", placed: "maybe", code, ...once }) as const satisfies Outcome;

/** These don't tell a connection that was refused from one that was lost. */
const vague = {
  placed: "maybe",
  why: "does not tell a connection that was never made from one that was lost",
} as const;
export const vagueRuntimes = { workerd: vague, "happy-dom": vague, chromium: vague } as const;

export const bunIsVague = {
  bun: { placed: "maybe", why: "does not tell whether it was connecting" },
} as const;

/** Deno knows that what fails in a handshake was never sent. */
export const denoKnows = {
  deno: { placed: "no", why: "tells a connection that was never made, up to the end of TLS" },
} as const;

const connecting = { open: 1, why: "goes on connecting for a while after an abort" } as const;
export const goesOnConnecting = {
  node22: connecting,
  node24: connecting,
  node26: connecting,
  edge: connecting,
  "happy-dom": connecting,
  chromium: connecting,
} as const;

/** Chromium counts a connection as kept as soon as it carried the preflight of a page. */
export const chromiumResends = {
  posts: 2,
  why: "sends a POST again by itself when a connection dies that carried a request before (its own preflight, by HTTP/2); no page can prevent that",
} as const;

/** What workerd makes of an interim answer. */
export const workerdTakes = (code: number) =>
  ({ ...unclear(code), why: "takes an interim answer for the answer" }) as const;

/** Bytes that nobody asked for, and that workerd leaves where they are. */
export const tooManyBytes = {
  open: 1,
  why: "keeps a connection with bytes too many for 5 seconds",
} as const;
