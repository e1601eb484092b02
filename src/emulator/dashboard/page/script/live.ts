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
  connect();
  if (by("attendant")) by("attendant").checked = news.attendant;
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
  redraw();
  first = false;
};

const hearOf = (call) => {
  const over = isOver(call);
  const before = active.get(call.id);
  if (over) active.delete(call.id);
  else active.set(call.id, call);
  showCall(call, now());
  showPhone(call, now());
  if (!first && before?.state !== call.state && (before || !over)) announce(call.to_number + ": " + call.state);
};

let drawn = 0;
let drawing = false;

/** At most twice a second: what came in meanwhile goes into the same picture. */
const redraw = () => {
  if (drawing || rows.size === 0) return;
  drawing = true;
  setTimeout(() => {
    drawing = false;
    drawn = performance.now();
    plot([...rows.values()].map(({ call }) => call), now());
  }, Math.max(0, 500 - (performance.now() - drawn)));
};

/** The emulator tells something every two seconds. */
const mostSilence = 5000;

setInterval(() => {
  if (!connected) return;
  if (performance.now() - heard > mostSilence) return lose("The emulator is silent. What is shown here is of before.");
  for (const call of active.values()) {
    if (call.state !== "answered") continue;
    const row = rows.get(call.id);
    if (row) say(row.long, span(now() - call.answered_at));
    if (opened === call.id && row?.voices && performance.now() - row.voices.drawn > 1000) hearVoices(row);
    showPhone(call, now());
  }
}, 250);

const stream = new EventSource("/dashboard/events");
stream.addEventListener("message", ({ data }) => hear(JSON.parse(data)));
stream.addEventListener("error", () =>
  lose(stream.readyState === EventSource.CLOSED
    ? "The emulator has ended. Open the link of the new run."
    : "The connection to the emulator is lost. Trying again …"));
`;
