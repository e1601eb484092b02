/** The section "Place a call". */
export const place: string = `
const placing = by("place");

const paramsOf = (form) => Object.fromEntries(new FormData(form));

const quoted = (text) => "'" + text.replaceAll("'", "'\\\\''") + "'";

const curlOf = (key, params) =>
  "echo " + quoted("X-API-Key: " + key) + " | curl " + quoted(location.origin + "/api/v1/calls/initiate") +
  " -H @- -H 'Content-Type: application/json' -d " + quoted(JSON.stringify(params));

const sayPlaced = (text) => say(by("place-said"), text);

by("scenario")?.addEventListener("change", () => {
  placing.elements.to_number.value = by("scenario").value;
});

// What is not valid must be seen, to be mended.
placing?.addEventListener("invalid", () => (placing.querySelector("details").open = true), true);

placing?.addEventListener("submit", async (event) => {
  event.preventDefault();
  sayPlaced("");
  try {
    const { status, said } = await ask("calls", "POST", paramsOf(placing));
    sayPlaced(status === undefined ? "No answer: " + said : "HTTP " + status + ": " + said);
  } catch (error) {
    sayPlaced("That did not work: " + error.message);
  }
});

by("copy-curl")?.addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(curlOf((await ask("key")).key, paramsOf(placing)));
    sayPlaced("Copied, with the key in it.");
  } catch (error) {
    sayPlaced("That did not work: " + error.message);
  }
});
`;
