/** One entry of a call's history, as an item of its timeline. */
export const timeline: string = `
const pretty = (text) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

const block = (title, text) => [make("h4", {}, title), make("pre", {}, make("bdi", {}, text))];

const more = (title, ...blocks) => make("details", {}, make("summary", {}, title), ...blocks.flat());

const bold = (text, kind) => make("b", { class: kind }, text);

const line = (text) => make("div", { class: "mono" }, make("bdi", {}, text));

const seconds = (milliseconds) => (milliseconds / 1000).toFixed(1) + " s";

const status = (entry) => (entry.status === undefined ? "no answer" : "HTTP " + entry.status) + ", " + entry.ms + " ms";

const describe = {
  state: (entry) => [bold(entry.state), entry.reason ? " · " + entry.reason : ""],
  flow: (entry) => [
    bold("flow"), " step " + entry.step + " · " + status(entry), line(entry.url),
    entry.action ? more("Answer", block("Action", JSON.stringify(entry.action, null, 2))) : "",
  ],
  flow_error: (entry) => [bold("flow error", "bad"), " · ", make("bdi", {}, entry.message)],
  action: (entry) => [
    bold(entry.action.action), entry.duration === undefined ? "" : " for " + seconds(entry.duration),
    line(entry.action.media_url ?? entry.action.ws_url ?? entry.action.to ?? ""),
  ],
  leg: (entry) => [bold("second leg"), " " + entry.state + (entry.reason ? " · " + entry.reason : ""), line(entry.to)],
  stream: (entry) => [
    bold("stream"), " " + entry.state + " · " + entry.sent + " sent, " + entry.received + " received",
    entry.malformed.length > 0 ? more("Not understood", block("Messages", entry.malformed.join("\\n"))) : "",
  ],
  cut: (entry) => [
    bold(entry.by), " at " + seconds(entry.at_ms) + " · " + entry.samples + " samples were not heard",
  ],
  notification: (entry) => [
    bold(entry.event), " · try " + entry.try + " · ",
    make("b", { class: entry.outcome === "delivered" ? "good" : entry.outcome === "retrying" ? "retrying" : "bad" }, entry.outcome.replace("_", " ")),
    " · " + status(entry),
    entry.error ? make("div", { class: "soft" }, make("bdi", {}, entry.error)) : "",
    more("Request and answer",
      block("POST " + entry.request.url, Object.entries(entry.request.headers).map(([name, value]) => name + ": " + value).join("\\n")),
      block("Body", pretty(entry.request.body)),
      block("Answer · " + status(entry), entry.response?.body ? pretty(entry.response.body) : "(empty)")),
  ],
  recording: (entry) => [
    bold("recording"), " · " + entry.seconds.toFixed(1) + " s",
    make("audio", { controls: true, preload: "none", "aria-label": "Recording of the call", src: new URL(entry.url).pathname + new URL(entry.url).search }),
  ],
  error: (entry) => [bold("error in " + entry.source, "bad"), " · ", make("bdi", {}, entry.message)],
};

const item = (entry, start) =>
  make("li", { class: entry.type === "state" ? "step " + entry.state : entry.type },
    make("time", { datetime: entry.at, title: entry.at }, "+" + seconds(Date.parse(entry.at) - start)),
    make("div", { class: "what" }, ...describe[entry.type](entry)));
`;
