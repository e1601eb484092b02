import { box, by, input, make } from "./elements.ts";

const week = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

const dayBox = (day: string): HTMLInputElement => input(`day-${day}`);

const dayLabel = (day: string, at: number): HTMLLabelElement => {
  const checkbox = make("input");
  checkbox.type = "checkbox";
  checkbox.id = `day-${day}`;
  checkbox.defaultChecked = at < 5;
  return make("label", checkbox, ` ${day[0]?.toUpperCase()}${day.slice(1)}`);
};

/** Fills in what depends on the browser, and shows the fields of the calling hours where they count. */
export const preparePlan = (): void => {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const zones = new Set([timeZone, "UTC", ...Intl.supportedValuesOf("timeZone")]);
  const select = by("timezone", HTMLSelectElement);
  select.append(...[...zones].sort().map((zone) => make("option", zone)));
  select.value = timeZone;
  box("days").append(...week.map(dayLabel));
  const show = (): void => {
    box("window").hidden = input("always").checked;
  };
  by("plan", HTMLFormElement).addEventListener("change", show);
  show();
};

/** The days that are checked, such as `mon-fri` or `mon-wed,sat`. */
const daysText = (): string => {
  const runs: string[][] = [];
  week.forEach((day, at) => {
    if (!dayBox(day).checked) return;
    const before = week[at - 1];
    const run = runs.at(-1);
    if (run && run.at(-1) === before) run.push(day);
    else runs.push([day]);
  });
  return runs.map((run) => (run.length > 1 ? `${run[0]}-${run.at(-1)}` : run[0])).join(",");
};

/** What the form asks for. */
export const planIn = () => {
  const text = (id: string): string => input(id).value.trim();
  const count = (id: string): number => input(id).valueAsNumber;
  return {
    name: text("name"),
    rate: count("rate"),
    concurrency: count("concurrency"),
    attempts: count("attempts"),
    retryDelay: count("between") * 60_000,
    window: input("always").checked
      ? "always"
      : {
          days: daysText(),
          from: text("from"),
          to: text("to"),
          timezone: by("timezone", HTMLSelectElement).value,
        },
  };
};
