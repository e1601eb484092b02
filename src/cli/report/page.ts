/// <reference path="../../lib/text.d.ts" />

import { createHash } from "node:crypto";
import { html, type Markup } from "../../lib/markup.ts";
import { counted } from "../terminal.ts";
import { type CallFigures, percent, type QuestionFigures, type ReportData } from "./data.ts";
import style from "./page/main.css?bundle";
import script from "./page/main.ts?bundle";
import { callBacksText, costsText } from "./text.ts";

const number = (value: number): string => value.toLocaleString("en");

/** A share as a bar: no style attribute, which would need another policy. */
const shareCell = (part: number, whole: number): Markup =>
  html`<td class="share" aria-hidden="true"><svg viewBox="0 0 100 12" preserveAspectRatio="none"><rect width="100" height="12"/><rect class="part" width="${whole === 0 ? 0 : ((100 * part) / whole).toFixed(2)}" height="12"/></svg></td>`;

const table = (
  caption: Markup | undefined,
  heads: readonly string[],
  rows: readonly Markup[],
): Markup =>
  html`<table>${caption}<thead><tr>${heads.map((head) =>
    head ? html`<th scope="col">${head}</th>` : html`<td></td>`,
  )}</tr></thead><tbody>${rows}</tbody></table>`;

interface Share {
  readonly name: string;
  readonly contacts: number;
  readonly meaning?: string | undefined;
}

/** A table of names with the contacts of each, and a bar of its share. */
const shareTable = (
  caption: Markup | undefined,
  head: string,
  rows: readonly Share[],
  whole: number,
): Markup =>
  table(
    caption,
    [head, "Contacts", "Share", ""],
    rows.map(
      ({ name, contacts, meaning }) =>
        html`<tr><th scope="row">${name}${meaning && html`<span class="meaning">${meaning}</span>`}</th><td>${number(contacts)}</td><td>${percent(contacts, whole)}</td>${shareCell(contacts, whole)}</tr>`,
    ),
  );

/** The answers to a question; who opted out by one stands below, and counts in no share of the others. */
const questionTable = ({ name, text, contacts, values, optedOut }: QuestionFigures): Markup => {
  const out = optedOut.reduce((sum, each) => sum + each.contacts, 0);
  const rows = values.map((each) => ({ name: each.value, contacts: each.contacts }));
  const caption = html`<caption>${text ?? name} <span class="soft">${text ? `${name}, ` : ""}${counted(contacts - out, "contact")}</span></caption>`;
  const pressed = optedOut
    .map(({ value, contacts: some }) => `${value}: ${number(some)}`)
    .join(", ");
  return html`<div>${shareTable(caption, "Answer", rows, contacts - out)}${out > 0 ? html`<p class="soft">${counted(out, "contact")} asked not to be called again (${pressed}).</p>` : undefined}</div>`;
};

interface CallRow extends CallFigures {
  readonly label: string;
}

const legend = html`<ul class="legend"><li class="people">answered by people</li><li class="machines">by machines</li><li>not answered, or live</li><li class="rate">answer rate: people, of the calls</li></ul>`;

/** A chart of calls, and the same as a table. */
const callSection = (title: string, head: string, rows: readonly CallRow[]): Markup => {
  const figures = rows.map(
    ({ label, calls, people, machines }) =>
      html`<tr><th scope="row">${label}</th><td>${number(calls)}</td><td>${number(people)}</td><td>${number(machines)}</td><td>${percent(people, calls)}</td></tr>`,
  );
  const charted = rows.map(({ label, calls, people, machines }) => ({
    ...{ label, calls, people, machines },
  }));
  return html`<section>
<h2>${title}</h2>
${legend}
<div class="chart" role="img" aria-label="${title}: the table below has the figures" data-rows="${JSON.stringify(charted)}"></div>
<details><summary>Figures</summary><div class="scroll" tabindex="0" role="region" aria-label="${title}">${table(undefined, [head, "Calls", "People", "Machines", "Answer rate"], figures)}</div></details>
</section>`;
};

const headline = (name: string, value: string, more = ""): Markup =>
  html`<div><dt>${name}</dt><dd>${value}</dd>${more && html`<dd>${more}</dd>`}</div>`;

const section = (title: string, content: Markup): Markup =>
  html`<section><h2>${title}</h2>${content}</section>`;

const states: Readonly<Record<ReportData["state"], string>> = {
  running: "",
  done: "Every contact has ended.",
  paused: "Paused",
  canceled: "Canceled.",
};

const stateOf = ({ state, reason }: ReportData): Markup | undefined =>
  state === "running"
    ? undefined
    : html`<p class="${state === "paused" ? "bad" : "soft"}">${states[state]}${reason ? `: ${reason}` : ""}</p>`;

const policyOf = (): string => {
  const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
  return `default-src 'none'; style-src ${hash(style)}; script-src ${hash(script)}; base-uri 'none'; form-action 'none'`;
};

/** A report as one page, which loads nothing. */
export const reportPage = (data: ReportData): string => {
  const { ledger, title, at, timezone, contacts, calls, hours, days, answers, attempts } = data;
  const { waiting, calling, unclear } = contacts;
  const ended = contacts.contacts - waiting - calling - unclear;
  const callBacks = callBacksText(data);
  const costs = costsText(data);
  const rest = [
    ...(waiting > 0 ? [`${number(waiting)} waiting`] : []),
    ...(calling > 0 ? [`${number(calling)} live`] : []),
    ...(unclear > 0 ? [`${number(unclear)} unclear`] : []),
  ].join(", ");
  const { markup } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policyOf()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}: report</title>
<style>${{ markup: style }}</style>
</head>
<body>
<header>
<h1>${title}</h1>
<p class="soft">${title === ledger ? "" : `${ledger}, `}${title === ledger ? "As" : "as"} of <time datetime="${at}">${at.slice(0, 16).replace("T", " ")} UTC</time>. Hours and days are those of ${timezone}.</p>
${stateOf(data)}
</header>
<main>
<section aria-label="Summary"><dl>
${headline("Contacts", number(contacts.contacts), contacts.contacts === 0 ? "none yet" : `${number(ended)} ended${rest ? `, ${rest}` : ""}`)}
${headline("Calls", number(calls.calls), attempts.length > 1 ? `up to ${attempts.length} a contact` : "")}
${headline("Answered by people", percent(calls.people, calls.calls), calls.calls > 0 ? counted(calls.people, "call") : "")}
${headline("By machines", percent(calls.machines, calls.calls), calls.calls > 0 ? counted(calls.machines, "call") : "")}
</dl>${callBacks && html`<p class="soft">${callBacks}.</p>`}${costs && html`<p class="soft">${costs}.</p>`}</section>
${
  calls.calls > 0
    ? [
        callSection(
          "Answer rate by hour",
          "Hour",
          hours.map(({ hour, ...each }) => ({
            label: `${String(hour).padStart(2, "0")}:00`,
            ...each,
          })),
        ),
        callSection(
          "Answer rate by day",
          "Day",
          days.map(({ date, ...each }) => ({ label: date, ...each })),
        ),
        ...(data.services
          ? [
              callSection(
                "Answer rate by service",
                "Service",
                data.services.map(({ name, ...each }) => ({ label: name, ...each })),
              ),
            ]
          : []),
      ]
    : section("Calls", html`<p class="soft">No call has begun yet.</p>`)
}
${
  data.dispositions.length > 0
    ? section("How contacts ended", shareTable(undefined, "Disposition", data.dispositions, ended))
    : undefined
}
${
  attempts.length > 0
    ? section(
        "Attempts",
        shareTable(
          undefined,
          "Attempts of a contact",
          attempts.map((count, index) => ({ name: String(index + 1), contacts: count })),
          contacts.contacts,
        ),
      )
    : undefined
}
${
  answers.length > 0
    ? section(
        "Answers",
        html`<div id="questions">${answers.map((question) => questionTable(question))}</div>`,
      )
    : undefined
}
</main>
<script>${{ markup: script }}</script>
</body>
</html>
`;
  return markup;
};
