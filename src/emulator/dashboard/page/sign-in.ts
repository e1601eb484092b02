import { htmlDocument } from "./document.ts";

const refused = `
<p class="bad" role="alert">That link is of another run of the emulator.</p>`;

/** What a browser sees that is not signed in. */
export const signInPage = (nonce: string, wasRefused: boolean): string =>
  htmlDocument(
    nonce,
    `<main class="alone">
<section>
<h1>outdial <span>emulator</span></h1>${wasRefused ? refused : ""}
<p>Open the link that <code>outdial emulator</code> printed when it started, or paste the token at
the end of it here.</p>
<form action="/" method="get">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="off" required>
<button class="primary">Sign in</button>
</form>
</section>
</main>`,
  );

/** What the link shows for a moment: the browser has its cookie, and goes on to the dashboard. */
export const welcomePage = (nonce: string): string =>
  htmlDocument(
    nonce,
    `<main class="alone"><section><h1>outdial <span>emulator</span></h1>
<p>Signed in. <a href="/">Go on to the dashboard</a></p></section></main>`,
    '\n<meta http-equiv="refresh" content="0;url=/">',
  );
