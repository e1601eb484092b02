/** Makes elements. Every text goes in as text: nothing that is shown is ever read as HTML. */
export const elements: string = `
const by = (id) => document.getElementById(id);

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== ""));
  return element;
};

const say = (element, text) => {
  if (element.textContent !== text) element.textContent = text;
};

const announce = (text) => say(by("announce"), text);

const span = (milliseconds) => {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  if (parts[0] === 0) parts.shift();
  return parts.map((part, at) => (at === 0 ? String(part) : String(part).padStart(2, "0"))).join(":");
};

const isOver = (call) => call.state === "completed" || call.state === "failed";

const clock = (time) => new Date(time).toLocaleTimeString(undefined, { hour12: false });
`;
