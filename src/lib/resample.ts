/** The filter is flat up to the first, and down from the second: as parts of the lower rate. */
const passes = 0.425;
const stops = 0.575;

/** How far down, in dB. */
const attenuation = 76;

/** A low-pass filter, and how it is used from one rate to another. */
interface Filter {
  /** There are `up` outputs for every `down` inputs. */
  readonly up: number;
  readonly down: number;
  /** Coefficients of one output. */
  readonly taps: number;
  /** Those of each phase, one after the other, the newest input's last. */
  readonly phases: Float64Array;
  /** Inputs by which the output is late. */
  readonly delay: number;
}

const divisor = (one: number, other: number): number => (other ? divisor(other, one % other) : one);

/** The modified Bessel function of the first kind, of order 0. */
const bessel = (x: number): number => {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-17; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
};

/**
 * A sinc in Kaiser's window, cut into phases: flat up to 0.425 of the lower rate (3.4 kHz of 8), and 70 dB down from
 * 0.575 of it (4.6 kHz). Each phase adds up to 1, so that a level stays exactly what it was.
 */
const design = (from: number, to: number): Filter => {
  const common = divisor(from, to);
  const up = to / common;
  const down = from / common;
  const low = Math.min(from, to) / (from * up);
  const shape = 0.1102 * (attenuation - 8.7);
  const length = Math.ceil((attenuation - 7.95) / (14.36 * (stops - passes) * low));
  const taps = Math.ceil(length / up);
  const middle = (taps * up - 1) / 2;
  const cut = ((passes + stops) / 2) * low;
  const phases = new Float64Array(taps * up);
  for (let phase = 0; phase < up; phase++) {
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) {
      const x = phase + tap * up - middle;
      const angle = 2 * Math.PI * cut * x;
      const sinc = angle === 0 ? 1 : Math.sin(angle) / angle;
      const window = bessel(shape * Math.sqrt(Math.max(0, 1 - (x / (middle + 0.5)) ** 2)));
      phases[phase * taps + (taps - 1 - tap)] = sinc * window;
      sum += sinc * window;
    }
    for (let at = phase * taps; at < (phase + 1) * taps; at++) phases[at] = (phases[at] ?? 0) / sum;
  }
  return { up, down, taps, phases, delay: Math.round(middle / up) };
};

const filters = new Map<string, Filter>();

/** The filter from one rate to another; each is designed once. */
const filterOf = (from: number, to: number): Filter => {
  const name = `${from}/${to}`;
  const filter = filters.get(name) ?? design(from, to);
  filters.set(name, filter);
  return filter;
};

const toSample = (value: number): number =>
  value > 32767 ? 32767 : value < -32768 ? -32768 : Math.round(value);

/**
 * Converts samples from one rate to another, as they come: the same bits for any way of cutting them into pieces. A
 * sum is always taken in the same order, over the same inputs.
 */
export class Resampler {
  readonly #filter: Filter;
  /** The last inputs: one fewer than one output needs. */
  #kept: Float64Array;
  /** The place of the next output, in steps of `up` to an input, from the first input that isn't read. */
  #place = 0;

  /** Rates in samples per second. */
  constructor(from: number, to: number) {
    this.#filter = filterOf(from, to);
    this.#kept = new Float64Array(this.#filter.taps - 1);
  }

  /** Outputs by which the output is late. */
  get delay(): number {
    const { delay, up, down } = this.#filter;
    return Math.round((delay * up) / down);
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
      outputs[output] = toSample(sum);
    }
    this.#place = place - end;
    this.#kept = inputs.slice(inputs.length - this.#kept.length);
    return outputs;
  }

  /** What the filter still holds; the next input begins something new. */
  flush(): Int16Array<ArrayBuffer> {
    const rest = this.push(new Int16Array(this.#filter.delay));
    this.#kept.fill(0);
    this.#place = 0;
    return rest;
  }
}
