/** So many milliseconds of one level. */
export const level = (value: number, ms: number, rate: number): Int16Array<ArrayBuffer> =>
  new Int16Array((ms * rate) / 1000).fill(value);

const bytesOf = (samples: Int16Array<ArrayBuffer>): Uint8Array<ArrayBuffer> =>
  new Uint8Array(samples.buffer);

const samplesOf = (bytes: Uint8Array): Int16Array => new Int16Array(Uint8Array.from(bytes).buffer);

export const base64 = (bytes: Uint8Array): string => {
  let text = "";
  // As arguments of a function, an engine takes so many at once.
  for (let at = 0; at < bytes.length; at += 8_192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  }
  return btoa(text);
};

export const decoded = (base64: unknown): Uint8Array => {
  const text = atob(String(base64));
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
};

/** What each code of G.711's μ-law stands for: a sign, eight segments, and 16 steps in each. */
const values = Int16Array.from({ length: 256 }, (_, code) => {
  const [segment, step] = [(~code >> 4) & 7, ~code & 15];
  const magnitude = (33 + 2 * step) * 2 ** segment - 33;
  return (code < 128 ? -4 : 4) * magnitude;
});

/** The code of the nearest value, for each sample from -32 768 on. */
const nearest = (() => {
  const codes = [...values.keys()].sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  let at = 0;
  const away = (place: number, sample: number) =>
    Math.abs((values[codes[place] ?? 0] ?? 0) - sample);
  return Uint8Array.from({ length: 65_536 }, (_, index) => {
    const sample = index - 32_768;
    while (at < 255 && away(at + 1, sample) <= away(at, sample)) at++;
    return codes[at] ?? 0;
  });
})();

/** A format as a protocol's server has it. */
export interface Coding {
  readonly rate: number;
  readonly write: (samples: Int16Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>;
  readonly read: (bytes: Uint8Array) => Int16Array;
}

export const pcm = (rate: number): Coding => ({ rate, write: bytesOf, read: samplesOf });
export const ulaw: Coding = {
  rate: 8_000,
  write: (samples) => {
    const codes = new Uint8Array(samples.length);
    for (let at = 0; at < codes.length; at++) codes[at] = nearest[(samples[at] ?? 0) + 32_768] ?? 0;
    return codes;
  },
  read: (codes) => {
    const samples = new Int16Array(codes.length);
    for (let at = 0; at < samples.length; at++) samples[at] = values[codes[at] ?? 0] ?? 0;
    return samples;
  },
};
