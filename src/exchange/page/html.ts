/// <reference path="../../lib/text.d.ts" />

import { pageDocument } from "../../emulator/dashboard/page/document.ts";
import { html, type Markup } from "../../lib/markup.ts";
import style from "./browser/main.css?bundle";
import script from "./browser/main.ts?bundle";

const title = "outdial exchange";

const pageOf = (nonce: string, body: Markup, head?: Markup): string =>
  pageDocument({ nonce, style, title, head, body, program: "exchange" });

const alerts = {
  refused: "That is neither the token of this start nor the password. A token is valid for a day.",
  limited: "Too many were wrong. Wait a minute, and try again.",
} as const;

/** The page for a browser that is not signed in. */
export const signInPage = (nonce: string, alert?: keyof typeof alerts): string =>
  pageOf(
    nonce,
    html`<main class="alone">
<section>
<h1>outdial <span>exchange</span></h1>${
      alert &&
      html`
<p class="bad" role="alert">${alerts[alert]}</p>`
    }
<p>Open the link that <code>outdial exchange</code> printed when it started, or give its token or
the operator's password here.</p>
<form action="/" method="post">
<label for="secret">Token or password</label>
<input id="secret" name="secret" type="password" autocomplete="current-password" required>
<button class="primary">Sign in</button>
</form>
</section>
</main>`,
  );

/** The page of the link: it sets the cookie, and leads to the exchange's page at once. */
export const welcomePage = (nonce: string): string =>
  pageOf(
    nonce,
    html`<main class="alone"><section><h1>outdial <span>exchange</span></h1>
<p>Signed in. <a href="/">Go to the exchange's page</a></p></section></main>`,
    html`
<meta http-equiv="refresh" content="0;url=/">`,
  );

/** What the page shows from the start. */
interface ExchangePageFacts {
  readonly apiUrl: string;
  /** Whether calls are recorded. */
  readonly records: boolean;
}

const recordings = html`
<section aria-labelledby="recordings-title">
<details class="fold">
<summary><h2 id="recordings-title">Recordings</h2></summary>
<p id="recordings-bytes" class="soft"></p>
<ol id="recordings"></ol>
</details>
</section>`;

/** The page of the operator. */
export const exchangePage = (nonce: string, { apiUrl, records }: ExchangePageFacts): string =>
  pageOf(
    nonce,
    html`<header>
<h1>outdial <span>exchange</span></h1>
<p class="soft"><code>${apiUrl}</code> · <span id="live" role="status">connecting …</span>
<button type="button" id="sign-out" class="acts">Sign out all browsers</button></p>
<p id="lost" role="alert" hidden></p>
<p id="away" role="alert" hidden>Asterisk is not reached: new calls are refused until it is back.</p>
</header>
<main id="exchange">
<div id="aside">
<section aria-labelledby="limits-title">
<details class="fold">
<summary><h2 id="limits-title">Limits</h2></summary>
<ul id="limits"></ul>
</details>
</section>${records ? recordings : undefined}
<section aria-labelledby="key-title">
<details class="fold">
<summary><h2 id="key-title">API key</h2></summary>
<div class="key">
<code id="key" hidden></code>
<button type="button" id="copy" class="acts" hidden>Copy</button>
<button type="button" id="regenerate" class="acts">Regenerate …</button>
</div>
<p id="key-status" class="soft" role="status">The exchange keeps a digest of it alone: it can't be shown again.</p>
</details>
</section>
</div>
<section id="failed-section" aria-labelledby="failed-title">
<h2 id="failed-title">Notifications that are not delivered <span id="failed-count"></span></h2>
<ol id="failed"></ol>
<p id="none-failed" class="soft">All are delivered.</p>
</section>
<section id="calls-section" aria-labelledby="calls-title">
<h2 id="calls-title">Calls <span id="count"></span></h2>
<div id="overview" hidden>
<figure id="plot"></figure>
<div class="filters">
<label>State <select id="filter-state">
<option value="">all</option><option value="active">active</option>
<option value="completed">completed</option><option value="failed">failed</option>
<option value="undelivered">not notified</option>
</select></label>
<label>Number or id <input id="filter-number" type="search" autocomplete="off" spellcheck="false"></label>
</div>
</div>
<ol id="calls"></ol>
<p id="none" class="soft"></p>
</section>
<dialog id="confirm" aria-labelledby="confirm-title" aria-describedby="confirm-text">
<h2 id="confirm-title">Regenerate the API key?</h2>
<p id="confirm-text">The old key stops working at this moment, and there is no time when both work:
all callers must switch to the new key together. The new key is shown once.</p>
<form method="dialog">
<button value="no" autofocus>Keep the key</button>
<button value="yes" class="refuse acts">Regenerate</button>
</form>
</dialog>
<p id="announce" class="unseen" role="status"></p>
</main>
<noscript><p>The page needs JavaScript.</p></noscript>
<script type="module" nonce="${nonce}">${{ markup: script }}</script>`,
  );
