import { type Filter, filterOf } from "./filter.ts";

const rounded = (value: number): number =>
  value > 32767 ? 32767 : value < -32768 ? -32768 : Math.round(value);

/**
 * Turns samples of one rate into those of another, as they come: the same bits for any way of cutting
 * them into pieces. A sum is always taken in the same order, over the same inputs.
 */
export class Resampler {
  readonly #filter: Filter;
  /** The last inputs: as many as one output needs, less one. */
  #kept: Float64Array;
  /** The next output's place, in steps of `up` to an input, from the first input that isn't read. */
  #place = 0;

  /**
   * @param from - samples a second
   * @param to - samples a second
   */
  constructor(from: number, to: number) {
    this.#filter = filterOf(from, to);
    this.#kept = new Float64Array(this.#filter.taps - 1);
  }

  push(samples: Int16Array): Int16Array<ArrayBuffer> {
    const { up, down, taps, phases } = this.#filter;
    const inputs = new Float64Array(this.#kept.length + samples.length);
    inputs.set(this.#kept);
    inputs.set(samples, this.#kept.length);
    const end = samples.length * up;
    const outputs = new Int16Array(Math.max(0, Math.ceil((end - this.#place) / down)));
    let place = this.#place;
    for (let output = 0; output < outputs.length; output++, place += down) {
      const phase = place % up;
      const first = (place - phase) / up;
      let sum = 0;
      for (let tap = 0; tap < taps; tap++) {
        sum += (phases[phase * taps + tap] ?? 0) * (inputs[first + tap] ?? 0);
      }
      outputs[output] = rounded(sum);
    }
    this.#place = place - end;
    this.#kept = inputs.slice(inputs.length - this.#kept.length);
    return outputs;
  }

  /** What the filter still holds; the next input is the first of something new. */
  flush(): Int16Array<ArrayBuffer> {
    const rest = this.push(new Int16Array(this.#filter.delay));
    this.#kept.fill(0);
    this.#place = 0;
    return rest;
  }
}
