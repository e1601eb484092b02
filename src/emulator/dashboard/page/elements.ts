/**
 * The element of the page with an id.
 *
 * @throws {TypeError} when the page has no such element of this kind
 */
export const byId = <T extends HTMLElement>(id: string, kind: new () => T): T => {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new TypeError(`The page has no such element: ${id}`);
  return element;
};

/** The element with an id that not every page has. */
export const findById = <T extends HTMLElement>(id: string, kind: new () => T): T | undefined => {
  const element = document.getElementById(id);
  return element instanceof kind ? element : undefined;
};

export const box = (id: string): HTMLElement => byId(id, HTMLElement);
export const button = (id: string): HTMLButtonElement => byId(id, HTMLButtonElement);
export const input = (id: string): HTMLInputElement => byId(id, HTMLInputElement);
export const select = (id: string): HTMLSelectElement => byId(id, HTMLSelectElement);

/** What an element contains: an empty text and `undefined` are left out. */
export type Child = Node | string | undefined;

type Attributes = Readonly<Record<string, string | boolean | undefined>>;

/** Makes an element. Every text is added as text, so that nothing shown is parsed as HTML. */
export const make = <Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    element.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children) if (child) element.append(child);
  return element;
};

/** Makes an element of an SVG. */
export const makeSvg = <Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string | number>>,
  ...children: readonly Node[]
): SVGElementTagNameMap[Tag] => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  element.append(...children);
  return element;
};

/** Sets a text only if it changes: screen readers announce a text that is set again. */
export const setText = (element: HTMLElement, text: string): void => {
  if (element.textContent !== text) element.textContent = text;
};

export const announce = (text: string): void => setText(box("announce"), text);

/** A duration, such as `1:05` or `1:00:05`. */
export const formatDuration = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (parts[0] === 0) parts.shift();
  return parts
    .map((part, at) => (at === 0 ? String(part) : String(part).padStart(2, "0")))
    .join(":");
};

/** A duration in seconds, such as `3.0 s`. */
export const formatSeconds = (milliseconds: number): string =>
  `${(milliseconds / 1000).toFixed(1)} s`;

/** The time of day. */
export const formatTime = (time: number): string =>
  new Date(time).toLocaleTimeString(undefined, { hour12: false });

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
