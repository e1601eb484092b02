/** The element of the page with an id, of the kind that it must be. */
export const by = <T extends HTMLElement>(id: string, kind: new () => T): T => {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new TypeError(`The page has no such element: ${id}`);
  return element;
};

export const box = (id: string): HTMLElement => by(id, HTMLElement);
export const input = (id: string): HTMLInputElement => by(id, HTMLInputElement);
export const button = (id: string): HTMLButtonElement => by(id, HTMLButtonElement);

/** Creates an element. Texts are inserted as text, never as HTML. */
export const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] => {
  const element = document.createElement(tag);
  element.append(...children);
  return element;
};

/** Sets a text if it differs: a screen reader announces it each time. */
export const setText = (id: string, text: string): void => {
  const element = box(id);
  if (element.textContent !== text) element.textContent = text;
};
