/**
 * The page's script. The token stays in this page's memory: it is in no storage, no cookie and no URL,
 * and gone with the page. What the bridge says becomes text, never markup.
 */
export const script = `const element = (id) => document.getElementById(id);
const say = (text) => { element("state").textContent = text; };
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const words = {
  unauthorized: "The token is not known.",
  unknown_call: "This call is not known any more.",
  destination_not_allowed: "This token may not call that number.",
  too_many_calls: "Too many calls. Wait a while.",
  not_placed: "The call was not placed. You may try again.",
};

const refused = ({ error }) => say(words[error] ?? "Refused: " + error);

const ask = async (path, init = {}) => {
  const headers = { Authorization: "Bearer " + element("token").value };
  const response = await fetch(path, { ...init, headers });
  const { ok, status } = response;
  return { ok, isRefused: status >= 400 && status < 500, body: await response.json() };
};

const show = ({ state, reason, duration, problem, events }) => {
  const details = [reason, duration !== undefined && duration + " s", problem];
  say([state, ...details.filter(Boolean)].join(", "));
  element("events").replaceChildren(
    ...events.map(({ type, at }) => {
      const time = document.createElement("time");
      time.textContent = at ? new Date(at).toLocaleTimeString() : "";
      const item = document.createElement("li");
      item.append(time, type);
      return item;
    }),
  );
};

const follow = async (id) => {
  for (;;) {
    const { ok, isRefused, body } = await ask("/calls/" + id).catch(() => ({}));
    if (isRefused) return refused(body);
    if (ok) show(body);
    if (ok && body.ended) return;
    await pause(1000);
  }
};

element("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  element("dial").disabled = true;
  element("events").replaceChildren();
  say("Calling\\u2026");
  try {
    const to_number = element("number").value;
    const { ok, body } = await ask("/calls", { method: "POST", body: JSON.stringify({ to_number }) });
    if (ok) await follow(body.id);
    else refused(body);
  } catch {
    say("The bridge gave no answer. The telephone may ring all the same.");
  } finally {
    element("dial").disabled = false;
  }
});
`;
