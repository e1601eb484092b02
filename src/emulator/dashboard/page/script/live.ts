/** What happens, as it happens, and the seconds in between. */
export const live: string = `
const speed = Number(document.querySelector("main").dataset.speed);
const active = new Map();
let told = 0;
let heard = 0;
let first = true;

const now = () => told + (performance.now() - heard) * speed;

const hear = (news) => {
  told = news.now;
  heard = performance.now();
  if (news.whole) {
    // A connection that broke begins with all again: what is open stays so.
    const kept = opened;
    active.clear();
    forgetCalls();
    for (const call of news.calls) hearOf(call);
    if (kept !== undefined && rows.has(kept)) toggle(kept);
  } else {
    for (const call of news.calls) hearOf(call);
  }
  if (news.key) hideKey();
  countCalls();
  first = false;
};

const hearOf = (call) => {
  const over = call.state === "completed" || call.state === "failed";
  const before = active.get(call.id);
  if (over) active.delete(call.id);
  else active.set(call.id, call);
  showCall(call, now());
  showPhone(call, now());
  if (!first && before?.state !== call.state && (before || !over)) announce(call.to_number + ": " + call.state);
};

setInterval(() => {
  for (const call of active.values()) {
    if (call.state !== "answered") continue;
    const row = rows.get(call.id);
    if (row) say(row.long, span(now() - call.answered_at));
    showPhone(call, now());
  }
}, 250);

const stream = new EventSource("/dashboard/events");
stream.addEventListener("open", () => say(by("live"), "live"));
stream.addEventListener("message", ({ data }) => hear(JSON.parse(data)));
stream.addEventListener("error", () =>
  say(by("live"), stream.readyState === EventSource.CLOSED
    ? "ended: open the link of the new run"
    : "connection lost, trying again …"));
`;
