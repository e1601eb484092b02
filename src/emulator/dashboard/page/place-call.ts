import { box, button, findById, input, messageOf, select, setText } from "./elements.ts";
import { server } from "./server.ts";

const setStatus = (text: string): void => setText(box("place-status"), text);

const paramsIn = (form: HTMLFormElement): object => Object.fromEntries(new FormData(form));

/** Whether calls can be placed on this page. */
export const canPlace = (): boolean => findById("place", HTMLFormElement) !== undefined;

/**
 * Connects the controls of the section "Place a call", if the page has it.
 *
 * @param onPlaced - called with the id of each call that was placed here
 */
export const startPlacing = (onPlaced: (id: string) => void): void => {
  const form = findById("place", HTMLFormElement);
  if (!form) return;
  select("scenario").addEventListener("change", () => {
    input("to-number").value = select("scenario").value;
  });
  // An invalid field must be visible to be corrected.
  const showFields = (): void => {
    for (const details of form.querySelectorAll("details")) details.open = true;
  };
  form.addEventListener("invalid", showFields, true);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    setStatus("");
    try {
      const { status, message, id } = await server.place(paramsIn(form));
      setStatus(status === undefined ? `No answer: ${message}` : `HTTP ${status}: ${message}`);
      if (id !== undefined) onPlaced(id);
    } catch (error) {
      setStatus(`That did not work: ${messageOf(error)}`);
    }
  });
  button("copy-curl").addEventListener("click", async () => {
    try {
      const { command } = await server.command(paramsIn(form));
      await navigator.clipboard.writeText(command);
      setStatus("Copied, with the key in it.");
    } catch (error) {
      setStatus(`That did not work: ${messageOf(error)}`);
    }
  });
};
