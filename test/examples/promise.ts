import type { Snippet } from "./extract.ts";

/** What a block says that it prints: `console.log(…); // this`. */
export const promised = ({ code }: Snippet): string[] =>
  [...code.matchAll(/console\.log\(.*\); \/\/ (.+)$/gm)].map(([, text = ""]) => text);

const unquoted = (text: string): string => text.replaceAll(/["']/g, "");

/** Whether a line is what was promised: `…` leaves the rest open, and a colon begins a remark. */
export const keeps = (promise: string, line: string): boolean => {
  const [start = "", ...open] = unquoted(promise).split("…");
  const said = unquoted(line);
  return open.length > 0 ? said.startsWith(start) : start === said || start.startsWith(`${said}: `);
};
