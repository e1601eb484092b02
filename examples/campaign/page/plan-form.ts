import { box, by, input } from "./elements.ts";

/** Shows the fields of the calling hours where they count. */
export const preparePlan = (): void => {
  input("timezone").value = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const show = (): void => {
    const isAlways = input("always").checked;
    box("window").hidden = isAlways;
    for (const id of ["days", "from", "to", "timezone"]) input(id).disabled = isAlways;
  };
  by("plan", HTMLFormElement).addEventListener("change", show);
  show();
};

/** What the form asks for. */
export const planIn = () => {
  const text = (id: string): string => input(id).value.trim();
  const count = (id: string): number => input(id).valueAsNumber;
  const [days, from, to, timezone] = ["days", "from", "to", "timezone"].map(text);
  return {
    name: text("name"),
    rate: count("rate"),
    concurrency: count("concurrency"),
    attempts: count("attempts"),
    retryDelay: count("between") * 60_000,
    window: input("always").checked ? "always" : { days, from, to, timezone },
  };
};
