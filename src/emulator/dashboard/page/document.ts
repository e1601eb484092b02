import { html, type Markup } from "../../../lib/markup.ts";

/** A telephone in the page's blue. Without an icon, browsers request one from the server. */
const icon =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" ' +
      'rx="8" fill="#1858c4"/><path d="M11 7l3 6-3 2a14 14 0 0 0 6 6l2-3 6 3c0 3-2 4-4 4C13 25 7 ' +
      '18 7 11c0-2 1-4 4-4z" fill="#fff"/></svg>',
  );

/** What a page is made of. */
interface PageParts {
  /** That of the policy. */
  readonly nonce: string;
  readonly style: string;
  /** Of the window. */
  readonly title: string;
  readonly head?: Markup | undefined;
  readonly body: Markup;
  /** What answers the page's script, for its messages. */
  readonly program?: string | undefined;
}

/** A whole page. */
export const pageDocument = ({
  nonce,
  style,
  title,
  head,
  body,
  program = "emulator",
}: PageParts): string =>
  html`<!doctype html>
<html lang="en" data-program="${program}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${icon}">
<style nonce="${nonce}">${{ markup: style }}</style>${head}
</head>
<body>
${body}
</body>
</html>
`.markup;
