import type { Sample } from "../place.ts";
import { escaped } from "./document.ts";
import { scenarios } from "./scenarios.ts";

const option = ([number, words]: readonly [string, string]): string =>
  `<option value="${number}">…${number.slice(-3)} ${words}</option>`;

const field = (name: string, label: string, value: string, type = "url"): string =>
  `<label>${label} <input name="${name}" type="${type}" value="${escaped(value)}" autocomplete="off" spellcheck="false" required></label>`;

/** The section in which a call is placed, of a scenario that is chosen. */
export const callForm = ({ from_number, flow_url, status_callback_url }: Sample): string => `
<section aria-labelledby="place-title">
<h2 id="place-title">Place a call</h2>
<form id="place">
<label>Scenario <select id="scenario">${Object.entries(scenarios).map(option).join("")}</select></label>
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
<p id="place-said" class="soft" role="status"></p>
</form>
</section>`;
