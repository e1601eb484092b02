/** The section "API key": the key comes to the page only when it is revealed or copied. */
export const key: string = `
const masked = by("key").textContent;

const hideKey = () => {
  say(by("key"), masked);
  say(by("reveal"), "Reveal");
  by("reveal").setAttribute("aria-pressed", "false");
};

const onKey = (id, act) =>
  by(id).addEventListener("click", async () => {
    try {
      await act();
    } catch (error) {
      say(by("key-said"), "That did not work: " + error.message);
    }
  });

onKey("reveal", async () => {
  if (by("reveal").getAttribute("aria-pressed") === "true") return hideKey();
  say(by("key"), (await ask("key")).key);
  say(by("reveal"), "Hide");
  by("reveal").setAttribute("aria-pressed", "true");
});

onKey("copy", async () => {
  await navigator.clipboard.writeText((await ask("key")).key);
  say(by("key-said"), "Copied.");
});

onKey("regenerate", async () => {
  by("confirm").returnValue = "no";
  by("confirm").showModal();
});

by("confirm").addEventListener("close", async () => {
  by("regenerate").focus();
  if (by("confirm").returnValue !== "yes") return;
  try {
    await ask("key", "POST");
    say(by("key-said"), "There is a new key. The old one is refused from now on: switch all callers.");
  } catch (error) {
    say(by("key-said"), "That did not work: " + error.message);
  }
});
`;
