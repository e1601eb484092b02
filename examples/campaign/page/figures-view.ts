import type { AnswerFigures, Figures } from "outdial/campaigns";
import { box, make, setText } from "./elements.ts";

const number = (value: number): string => value.toLocaleString("en");

/** How many answers to a question are shown; the download has all of them. */
const mostShown = 8;

const bar = (count: number, most: number): HTMLElement => {
  const meter = make("span");
  meter.className = "share";
  // A style attribute would need another policy of the page.
  meter.style.width = `${Math.max(1, (100 * count) / most)}%`;
  return meter;
};

const questionOf = ({ name, contacts, values }: AnswerFigures): HTMLElement => {
  const shown = values.slice(0, mostShown);
  const rest = contacts - shown.reduce((total, value) => total + value.contacts, 0);
  const rows = [...shown, ...(rest > 0 ? [{ value: "other answers", contacts: rest }] : [])];
  const head = make("tr", make("th", "Answer"), make("th", "Contacts"), make("th", "Share"));
  for (const cell of head.children) cell.setAttribute("scope", "col");
  const body = rows.map(({ value, contacts: count }) => {
    const title = make("th", value);
    title.scope = "row";
    const share = make("td", `${Math.round((100 * count) / contacts)} %`, bar(count, contacts));
    return make("tr", title, make("td", number(count)), share);
  });
  return make(
    "table",
    make("caption", `${name}: answered by ${number(contacts)}`),
    make("thead", head),
    make("tbody", ...body),
  );
};

const timeOf = (at: number): string => {
  const date = new Date(at);
  const time = date.toTimeString().slice(0, 5);
  const isToday = date.toDateString() === new Date().toDateString();
  return isToday ? time : `${date.toLocaleDateString("en-GB")}, ${time}`;
};

/** Shows answers and call-backs. */
export const showFigures = ({ answers, callBacks }: Figures): void => {
  const { waiting, next } = callBacks;
  box("call-backs").hidden = waiting === 0;
  const when = next === undefined ? "" : `, the first at ${timeOf(next)}`;
  setText("call-backs", `${number(waiting)} to be called at a time that was agreed on${when}.`);
  box("answers").hidden = answers.length === 0;
  box("questions").replaceChildren(...answers.map(questionOf));
};
