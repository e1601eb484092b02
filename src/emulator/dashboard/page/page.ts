import type { Sample } from "../place.ts";
import { callForm } from "./call-form.ts";
import { escaped, htmlDocument } from "./document.ts";
import { script } from "./script/script.ts";

/** What the page knows from the start. */
export interface PageFacts {
  readonly accountId: string;
  /** The emulator's own. */
  readonly origin: string;
  readonly speed: number;
  /** How long a telephone rings that nobody answers, in milliseconds by the emulator's clock. */
  readonly answerWithin: number;
  /** Whether telephones can be left to who sits before the page. */
  readonly hasAttendant: boolean;
  /** What a call says at first that is placed here; absent when none can be. */
  readonly sample?: Sample | undefined;
}

const attendant = `
<label class="switch"><input type="checkbox" role="switch" id="attendant" class="acts">
<span>Ring until I answer or reject</span></label>`;

const seconds = (milliseconds: number): string => `${Math.round(milliseconds / 1000)} s`;

/** The dashboard. */
export const page = (
  nonce: string,
  { accountId, origin, speed, answerWithin, hasAttendant, sample }: PageFacts,
): string =>
  htmlDocument(
    nonce,
    `<header>
<h1>outdial <span>emulator</span></h1>
<p class="soft"><code>${escaped(origin)}</code> · <span id="live" role="status">connecting …</span></p>
<p id="lost" role="alert" hidden></p>
</header>
<main data-speed="${speed}">
<section id="key-section" aria-labelledby="key-title">
<h2 id="key-title">API key</h2>
<div class="key">
<code id="key">ak_••••••••••••••••</code>
<button type="button" id="reveal" class="acts" aria-pressed="false">Reveal</button>
<button type="button" id="copy" class="acts">Copy</button>
<button type="button" id="regenerate" class="acts">Regenerate …</button>
</div>
<p id="key-said" class="soft" role="status">The one key of account <bdi>${escaped(accountId)}</bdi>.</p>
</section>
<div id="aside">
<section aria-labelledby="phone-title">
<h2 id="phone-title">Callee's phone</h2>${hasAttendant ? attendant : ""}
<ul id="phones"></ul>
<p id="more-phones" class="soft" hidden></p>
<p id="quiet" class="soft">No telephone rings. <bdi class="mono">+12025550102</bdi> rings for
${seconds(answerWithin / speed)} unless you answer or reject it here.</p>
</section>${sample ? callForm(sample) : ""}
</div>
<section id="calls-section" aria-labelledby="calls-title">
<h2 id="calls-title">Calls <span id="count"></span></h2>
<div id="overview" hidden>
<figure id="plot"></figure>
<div class="filters">
<label>State <select id="filter-state">
<option value="">all</option><option value="active">going on</option>
<option value="completed">completed</option><option value="failed">failed</option>
<option value="trouble">not notified</option>
</select></label>
<label>Number <input id="filter-number" type="search" inputmode="tel" autocomplete="off" spellcheck="false"></label>
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
<script type="module" nonce="${nonce}">${script}</script>`,
  );
