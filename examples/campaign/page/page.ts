import { text } from "../response.ts";
import style from "./built/main.css.txt";
import script from "./built/main.js.txt";
import { document } from "./document.ts";

/** The page may only load its own two files and send requests to its own Worker. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

const files: ReadonlyMap<string, () => Response> = new Map([
  ["/", () => text(document, "text/html; charset=utf-8", { "Content-Security-Policy": policy })],
  ["/page.js", () => text(script, "text/javascript; charset=utf-8")],
  ["/page.css", () => text(style, "text/css; charset=utf-8")],
]);

/** The page, with its script and its style; undefined for any other path. */
export const page = ({ method, url }: Request): Response | undefined =>
  method === "GET" ? files.get(new URL(url).pathname)?.() : undefined;
