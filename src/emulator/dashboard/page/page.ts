import { escaped, htmlDocument } from "./document.ts";
import { script } from "./script/script.ts";

/** What the page knows from the start. */
export interface PageFacts {
  readonly accountId: string;
  /** The emulator's own. */
  readonly origin: string;
  readonly speed: number;
}

/** The dashboard. */
export const page = (nonce: string, { accountId, origin, speed }: PageFacts): string =>
  htmlDocument(
    nonce,
    `<header>
<h1>outdial <span>emulator</span></h1>
<p class="soft"><code>${escaped(origin)}</code> · <span id="live" role="status">connecting …</span></p>
</header>
<main data-speed="${speed}">
<section id="key-section" aria-labelledby="key-title">
<h2 id="key-title">API key</h2>
<div class="key">
<code id="key">ak_••••••••••••••••</code>
<button type="button" id="reveal" aria-pressed="false">Reveal</button>
<button type="button" id="copy">Copy</button>
<button type="button" id="regenerate">Regenerate …</button>
</div>
<p id="key-said" class="soft" role="status">The one key of account <bdi>${escaped(accountId)}</bdi>.</p>
</section>
<section id="phone" aria-labelledby="phone-title">
<h2 id="phone-title">Callee's phone</h2>
<ul id="phones"></ul>
<p id="quiet" class="soft">No telephone rings. A call to <bdi class="mono">+12025550102</bdi> rings
until you answer it here.</p>
</section>
<section aria-labelledby="calls-title">
<h2 id="calls-title">Calls <span id="count"></span></h2>
<ol id="calls"></ol>
<p id="none" class="soft">None yet. Place one with the curl line that the emulator printed.</p>
<p id="more" class="soft" hidden></p>
</section>
<dialog id="confirm" aria-labelledby="confirm-title" aria-describedby="confirm-text">
<h2 id="confirm-title">Regenerate the API key?</h2>
<p id="confirm-text">The old key stops working at this moment, and there is no time when both work:
all callers must switch to the new key together.</p>
<form method="dialog">
<button value="no" autofocus>Keep the key</button>
<button value="yes" class="refuse">Regenerate</button>
</form>
</dialog>
<p id="announce" class="unseen" role="status"></p>
</main>
<noscript><p>The dashboard needs JavaScript.</p></noscript>
<script type="module" nonce="${nonce}">${script}</script>`,
  );
