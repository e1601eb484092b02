// First: loading ky loads Node's undici, whose dispatcher is then no longer seen to be Node's own.
import "./dispatcher.ts";
import ky from "ky";
import type { Send } from "./post.ts";

/** Sends through ky, without its time-outs, retries and exceptions: `create` has its own. */
export const throughKy: Send = (url, fetch) =>
  ky.post(url, { retry: 0, timeout: false, throwHttpErrors: false, fetch });
