/** Where the filter begins to fall and where it is down, as parts of the lower rate. */
const passes = 0.425;
const stops = 0.575;

/** How far down, in dB. */
const attenuation = 76;

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

/** A low pass, and how it is used from one rate to another. */
export interface Filter {
  /** Outputs a so many inputs: `up` for every `down`. */
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

/**
 * A sinc in Kaiser's window, cut into phases: flat up to 0.425 of the lower rate (3.4 kHz of 8), and 70 dB
 * down from 0.575 of it (4.6 kHz). Each phase adds up to 1, so that a level stays exactly what it was.
 */
const design = (from: number, to: number): Filter => {
  const common = divisor(from, to);
  const up = to / common;
  const down = from / common;
  const low = Math.min(from, to) / (from * up);
  const shape = 0.1102 * (attenuation - 8.7);
  const wanted = Math.ceil((attenuation - 7.95) / (14.36 * (stops - passes) * low));
  const taps = Math.ceil(wanted / up);
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

const made: Map<string, Filter> = /* @__PURE__ */ new Map();

/** The filter from one rate to another; each is made once. */
export const filterOf = (from: number, to: number): Filter => {
  const name = `${from}/${to}`;
  const filter = made.get(name) ?? design(from, to);
  made.set(name, filter);
  return filter;
};
