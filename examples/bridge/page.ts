import { text } from "./answer.ts";
import { script } from "./page-script.ts";
import { style } from "./page-style.ts";

/** The page may do nothing but load its own two files and talk to the bridge. */
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

/** The fields have no names and the form has no address: without its script it sends nothing. */
const document = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Place a call</title>
<link rel="stylesheet" href="/page.css">
<script type="module" src="/page.js"></script>
</head>
<body>
<main>
<h1>Place a call</h1>
<form id="form" autocomplete="off">
<label>Your token <input id="token" type="password" autocomplete="off" required></label>
<label>Number <input id="number" type="tel" placeholder="+12025550100"
  pattern="\\+[1-9][0-9]{6,14}" title="+ and 7 to 15 digits" required></label>
<button id="dial">Call</button>
</form>
<p id="state" role="status"></p>
<ol id="events" aria-label="What happened in the call"></ol>
</main>
</body>
</html>
`;

const files: ReadonlyMap<string, () => Response> = new Map([
  ["/", () => text(document, "text/html; charset=utf-8", { "Content-Security-Policy": policy })],
  ["/page.js", () => text(script, "text/javascript; charset=utf-8")],
  ["/page.css", () => text(style, "text/css; charset=utf-8")],
]);

/** The page that dials, with its script and its style; undefined for any other path. */
export const page = ({ method, url }: Request): Response | undefined =>
  method === "GET" ? files.get(new URL(url).pathname)?.() : undefined;
