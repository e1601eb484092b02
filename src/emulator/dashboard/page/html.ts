/// <reference path="../../../lib/text.d.ts" />

import { html, type Markup } from "../../../lib/markup.ts";
import { scenarios } from "../../scenarios.ts";
import type { SampleCall } from "../placing.ts";
import { pageDocument } from "./document.ts";
import style from "./main.css?bundle";
import script from "./main.ts?bundle";

const htmlDocument = (
  nonce: string,
  body: Markup,
  { head, title = "outdial emulator" }: { readonly head?: Markup; readonly title?: string } = {},
): string => pageDocument({ nonce, style, title, head, body });

const wrongToken = html`
<p class="bad" role="alert">That link is of another run of the emulator.</p>`;

/** The page for a browser that is not signed in. */
export const signInPage = (nonce: string, wasRefused: boolean): string =>
  htmlDocument(
    nonce,
    html`<main class="alone">
<section>
<h1>outdial <span>emulator</span></h1>${wasRefused ? wrongToken : undefined}
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

/** The page of the link: it sets the cookie, and leads to the dashboard at once. */
export const welcomePage = (nonce: string): string =>
  htmlDocument(
    nonce,
    html`<main class="alone"><section><h1>outdial <span>emulator</span></h1>
<p>Signed in. <a href="/">Go to the dashboard</a></p></section></main>`,
    {
      head: html`
<meta http-equiv="refresh" content="0;url=/">`,
    },
  );

/** What the dashboard shows from the start. */
export interface DashboardFacts {
  readonly accountId: string;
  /** The name of the carrier whose interface the emulator speaks. */
  readonly service?: string | undefined;
  /** The emulator's own. */
  readonly origin: string;
  readonly speed: number;
  /** How long a telephone rings that nobody answers, in milliseconds by the emulator's clock. */
  readonly answerTimeout: number;
  /** Whether the page has a switch for the attendant's presence. */
  readonly hasAttendant: boolean;
  /** What the key is called. */
  readonly keyName: string;
  /** The initial fields of the form that places a call; absent when there is no form. */
  readonly sample?: SampleCall | undefined;
}

const attendantSwitch = html`
<label class="switch"><input type="checkbox" role="switch" id="attendant" class="acts">
<span>Ring until I answer or reject</span></label>`;

const scenarioOptions = scenarios.map(
  ({ to_number, description }) =>
    html`<option value="${to_number}">…${to_number.slice(-3)} ${description}</option>`,
);

const field = (name: string, label: string, value: string, type = "url"): Markup =>
  html`<label>${label} <input id="${name.replaceAll("_", "-")}" name="${name}" type="${type}" value="${value}" autocomplete="off" spellcheck="false" required></label>`;

const callForm = ({ from_number, flow_url, status_callback_url }: SampleCall): Markup => html`
<section aria-labelledby="place-title">
<h2 id="place-title">Place a call</h2>
<form id="place">
<label>Scenario <select id="scenario">${scenarioOptions}</select></label>
<details>
<summary>Numbers, flow and callback</summary>
${field("to_number", "To", "+12025550100", "tel")}
${field("from_number", "From", from_number, "tel")}
${field("flow_url", "Flow", flow_url)}
${field("status_callback_url", "Status callback", status_callback_url)}
</details>
<div class="buttons">
<button class="primary acts">Call</button>
<button type="button" id="copy-curl" class="acts">Copy as curl</button>
</div>
<p id="place-status" class="soft" role="status"></p>
</form>
</section>`;

const seconds = (milliseconds: number): string => `${Math.round(milliseconds / 1000)} s`;

const sentenceCase = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

const subtitle = (service: string | undefined): string =>
  service ? `emulator · ${service}` : "emulator";

/** The dashboard. */
export const dashboardPage = (
  nonce: string,
  {
    accountId,
    service,
    origin,
    speed,
    answerTimeout,
    hasAttendant,
    keyName,
    sample,
  }: DashboardFacts,
): string =>
  htmlDocument(
    nonce,
    html`<header>
<h1>outdial <span>${subtitle(service)}</span></h1>
<p class="soft"><code>${origin}</code> · <span id="live" role="status">connecting …</span></p>
<p id="lost" role="alert" hidden></p>
</header>
<main id="dashboard" data-speed="${speed}">
<div id="aside">${sample && callForm(sample)}
<section id="phone-section" aria-labelledby="phone-title">
<details class="fold">
<summary><h2 id="phone-title">Callee's phone</h2></summary>${hasAttendant ? attendantSwitch : undefined}
<p class="soft"><bdi class="mono">+12025550102</bdi> rings for ${seconds(answerTimeout / speed)}
unless you answer or reject it here.</p>
</details>
<div id="ringing">
<ul id="phones"></ul>
<p id="more-phones" class="soft" hidden></p>
</div>
</section>
</div>
<section id="key-section" aria-labelledby="key-title">
<details class="fold">
<summary><h2 id="key-title">${sentenceCase(keyName)}</h2></summary>
<div class="key">
<code id="key">${service ? "" : "ak_"}••••••••••••••••</code>
<button type="button" id="reveal" class="acts" aria-pressed="false">Reveal</button>
<button type="button" id="copy" class="acts">Copy</button>
<button type="button" id="regenerate" class="acts">Regenerate …</button>
</div>
<p id="key-status" class="soft" role="status">The only key of account <bdi>${accountId}</bdi>.</p>
</details>
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
<option value="refused">refused</option>
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
all callers must switch to the new key together.</p>
<form method="dialog">
<button value="no" autofocus>Keep the key</button>
<button value="yes" class="refuse acts">Regenerate</button>
</form>
</dialog>
<p id="announce" class="unseen" role="status"></p>
</main>
<noscript><p>The dashboard needs JavaScript.</p></noscript>
<script type="module" nonce="${nonce}">${{ markup: script }}</script>`,
    { title: `outdial ${subtitle(service)}` },
  );
