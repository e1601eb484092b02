import type { Voices } from "../updates.ts";
import { formatDuration, formatSeconds, make, makeSvg, setText } from "./elements.ts";
import { connected, server } from "./server.ts";

const width = 600;
const middle = 32;

/** The least peak that is drawn. */
const silence = 0.004;

/** A bar for each peak: its square root, as most speech is soft. */
const barsOf = (peaks: readonly number[], step: number, direction: 1 | -1): string =>
  peaks
    .map((peak, at) => {
      if (peak < silence) return "";
      const height = (direction * Math.sqrt(peak) * (middle - 2)).toFixed(1);
      const x = (at * step).toFixed(2);
      return `M${x} ${middle}v${height}h${(step * 0.7).toFixed(2)}V${middle}z`;
    })
    .join("");

/** Both sides of a streamed call on one time line: callee above, application below, with its cuts. */
export class VoicesPlot {
  readonly figure: HTMLElement;
  readonly #picture = makeSvg("svg", {
    viewBox: `0 0 ${width} ${2 * middle}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": "Both sides of the call over time",
  });
  readonly #end = make("span");
  readonly #legend = make("span", { class: "legend" });
  #askedAt = 0;
  /** How many pictures were asked for, and which of them is drawn: responses may come in another order. */
  #asked = 0;
  #drawn = 0;
  /** Whether the last request got no response. */
  hasFailed = false;

  constructor() {
    const start = make("span", {}, "0:00");
    const caption = make("figcaption", { class: "soft" }, start, this.#legend, this.#end);
    this.figure = make("figure", { class: "voices" }, this.#picture, caption);
  }

  /** Milliseconds since it was asked for. */
  get age(): number {
    return performance.now() - this.#askedAt;
  }

  async refresh(call: string): Promise<void> {
    const order = ++this.#asked;
    this.#askedAt = performance.now();
    this.hasFailed = false;
    try {
      const voices = await server.voices(call);
      if (order < this.#drawn) return;
      this.#drawn = order;
      this.#draw(voices);
    } catch {
      // The emulator no longer has the audio, or it did not respond: then the row asks again.
      if (connected()) this.figure.remove();
      else this.hasFailed = true;
    }
  }

  #draw({ ms, every, callee, application, cuts }: Voices): void {
    const step = width / Math.max(1, callee.length, application.length);
    const x = (at: number) => ((at / every) * step).toFixed(1);
    const bottom = 2 * middle;
    this.#picture.replaceChildren(
      makeSvg("path", { class: "callee", d: barsOf(callee, step, -1) }),
      makeSvg("path", { class: "application", d: barsOf(application, step, 1) }),
      makeSvg("path", { class: "axis", d: `M0 ${middle}H${width}` }),
      makeSvg("path", { class: "cut", d: cuts.map((at) => `M${x(at)} 0V${bottom}`).join("") }),
    );
    setText(this.#end, formatDuration(ms));
    const cutText =
      cuts.length === 0 ? "" : `cut off at ${cuts.map((at) => formatSeconds(at)).join(", ")}`;
    const names = [
      make("span", { class: "state good" }, "callee"),
      make("span", { class: "state main" }, "application"),
    ];
    if (cutText) names.push(make("span", { class: "state bad" }, cutText));
    this.#legend.replaceChildren(...names);
    this.#picture.setAttribute(
      "aria-label",
      `Both voices over ${formatSeconds(ms)}, the callee above, the application below` +
        (cutText && `; the application is ${cutText}`),
    );
  }
}
