/** Both voices of a streamed call on one time line: the callee above, the application below, and where it was cut off. */
export const voices: string = `
const middle = 32;

/** A bar for each stretch that is not silent; the root, since most speech is soft. */
const loudness = (peaks, width, sign) =>
  peaks.map((peak, at) => peak < 0.004 ? "" :
    "M" + (at * width).toFixed(2) + " " + middle + "v" + (sign * Math.sqrt(peak) * (middle - 2)).toFixed(1) + "h" + (width * 0.7).toFixed(2) + "V" + middle + "z").join("");

const timesOf = (cuts) => cuts.map((ms) => seconds(ms)).join(", ");

const voicesFigure = () => {
  const picture = draw("svg", { viewBox: "0 0 600 64", preserveAspectRatio: "none", role: "img" });
  const end = make("span");
  const words = make("span", { class: "legend" });
  const figure = make("figure", { class: "voices" }, picture, make("figcaption", { class: "soft" }, make("span", {}, "0:00"), words, end));
  return { figure, picture, end, words, drawn: 0 };
};

const drawVoices = (shown, { ms, every, callee, application, cuts }) => {
  const width = 600 / Math.max(1, callee.length, application.length);
  const across = (at) => ((at / every) * width).toFixed(1);
  shown.picture.replaceChildren(
    draw("path", { class: "callee", d: loudness(callee, width, -1) }),
    draw("path", { class: "application", d: loudness(application, width, 1) }),
    draw("path", { class: "axis", d: "M0 " + middle + "H600" }),
    draw("path", { class: "cut", d: cuts.map((at) => "M" + across(at) + " 0V64").join("") }));
  say(shown.end, span(ms));
  const cutWords = cuts.length === 0 ? "" : "cut off at " + timesOf(cuts);
  shown.words.replaceChildren(
    make("span", { class: "state good" }, "callee"), make("span", { class: "state main" }, "application"),
    cutWords && make("span", { class: "state bad" }, cutWords));
  shown.picture.setAttribute("aria-label", "Both voices over " + seconds(ms) + ", the callee above, the application below" + (cutWords && "; the application is " + cutWords));
};

/** Once a second is often enough while it goes on. */
const hearVoices = async (row) => {
  row.voices.drawn = performance.now();
  try {
    drawVoices(row.voices, await ask("calls/" + row.call.id + "/voices"));
  } catch (error) {
    row.voices.figure.remove();
  }
};
`;
