/** The element of the page with an id, of the kind that it must be. */
export const by = <T extends HTMLElement>(id: string, kind: new () => T): T => {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new TypeError(`The page has no such element: ${id}`);
  return element;
};

export const box = (id: string): HTMLElement => by(id, HTMLElement);
export const input = (id: string): HTMLInputElement => by(id, HTMLInputElement);
export const button = (id: string): HTMLButtonElement => by(id, HTMLButtonElement);

/** Makes an element. Every text goes in as text: nothing that is shown is ever read as HTML. */
export const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] => {
  const element = document.createElement(tag);
  element.append(...children);
  return element;
};

/** Writes a text, if it is another one: what is written again is read out again. */
export const say = (id: string, text: string): void => {
  const element = box(id);
  if (element.textContent !== text) element.textContent = text;
};
