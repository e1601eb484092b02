const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Markup that needs no escaping. */
export interface Markup {
  readonly markup: string;
}

type Content = string | number | undefined | Markup | readonly Markup[];

const written = (content: Content): string => {
  if (content === undefined) return "";
  if (typeof content === "string" || typeof content === "number")
    return String(content).replace(/[&<>"']/g, (character) => entities[character] ?? "");
  return "markup" in content ? content.markup : content.map(({ markup }) => markup).join("");
};

/** Markup in which every value is text, unless it is markup itself. */
export const html = (strings: TemplateStringsArray, ...values: readonly Content[]): Markup => ({
  markup: String.raw({ raw: strings.raw }, ...values.map(written)),
});
