import { box, button, byId, messageOf, setText } from "./elements.ts";
import { server } from "./server.ts";

const masked = box("key").textContent ?? "";

const dialog = byId("confirm", HTMLDialogElement);

const setStatus = (text: string): void => setText(box("key-status"), text);

/** The key is on the page only while it is revealed. */
export const hideKey = (): void => {
  setText(box("key"), masked);
  setText(button("reveal"), "Reveal");
  button("reveal").setAttribute("aria-pressed", "false");
};

const onClick = (id: string, action: () => Promise<void>): void =>
  button(id).addEventListener("click", async () => {
    try {
      await action();
    } catch (error) {
      setStatus(`That did not work: ${messageOf(error)}`);
    }
  });

/** Connects the controls of the section "API key". */
export const startKey = (): void => {
  onClick("reveal", async () => {
    if (button("reveal").getAttribute("aria-pressed") === "true") return hideKey();
    setText(box("key"), (await server.key()).key);
    setText(button("reveal"), "Hide");
    button("reveal").setAttribute("aria-pressed", "true");
  });
  onClick("copy", async () => {
    await navigator.clipboard.writeText((await server.key()).key);
    setStatus("Copied.");
  });
  onClick("regenerate", async () => {
    dialog.returnValue = "no";
    dialog.showModal();
  });
  dialog.addEventListener("close", async () => {
    button("regenerate").focus();
    if (dialog.returnValue !== "yes") return;
    try {
      await server.regenerateKey();
      setStatus("There is a new key. The old one is refused from now on: switch all callers.");
    } catch (error) {
      setStatus(`That did not work: ${messageOf(error)}`);
    }
  });
};
