import { style } from "./style.ts";

/** A telephone in the page's own blue: without an icon, browsers ask the emulator for one. */
const icon =
  "data:image/svg+xml," +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" ' +
      'rx="8" fill="#1858c4"/><path d="M11 7l3 6-3 2a14 14 0 0 0 6 6l2-3 6 3c0 3-2 4-4 4C13 25 7 ' +
      '18 7 11c0-2 1-4 4-4z" fill="#fff"/></svg>',
  );

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** A text as HTML that shows it. */
export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => entities[character] ?? "");

/**
 * A whole page.
 *
 * @param body - HTML
 * @param head - more of the head, in HTML
 */
export const htmlDocument = (nonce: string, body: string, head = ""): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>outdial emulator</title>
<link rel="icon" href="${icon}">
<style nonce="${nonce}">${style}</style>${head}
</head>
<body>
${body}
</body>
</html>
`;
