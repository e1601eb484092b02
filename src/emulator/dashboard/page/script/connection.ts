/** Whether the emulator is there: without it, every button that asks for something rests. */
export const connection: string = `
let connected = false;
let focusBefore;

const rest = (button) => (button.disabled = !connected);

const connect = () => {
  if (connected) return;
  connected = true;
  say(by("live"), "live");
  by("lost").hidden = true;
  document.querySelectorAll(".acts").forEach(rest);
  if (document.activeElement === document.body) focusBefore?.focus();
};

const lose = (words) => {
  if (connected) focusBefore = document.activeElement;
  connected = false;
  say(by("live"), "not connected");
  say(by("lost"), words);
  by("lost").hidden = false;
  document.querySelectorAll(".acts").forEach(rest);
};
`;
