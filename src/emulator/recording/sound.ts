/** A sine of moderate loudness, as 16-bit samples. */
export const tone = (
  hertz: number,
  sampleRate: number,
  first: number,
  count: number,
): Int16Array => {
  const samples = new Int16Array(count); // `from` would take ten times as long.
  for (let at = 0; at < count; at++) {
    samples[at] = 6_000 * Math.sin((2 * Math.PI * hertz * (first + at)) / sampleRate);
  }
  return samples;
};

/** The bytes of samples, least significant first, as every platform here has them. */
export const bytesOf = (samples: Int16Array): Uint8Array<ArrayBuffer> =>
  new Uint8Array(new Int16Array(samples).buffer);

/**
 * The samples in base64.
 *
 * @throws {TypeError} when it is not base64, or not whole samples
 */
export const samplesOf = (base64: string): Int16Array => {
  let text: string;
  try {
    text = atob(base64);
  } catch {
    throw new TypeError("audio_b64 must be base64");
  }
  if (text.length % 2) throw new TypeError("audio_b64 must be whole 16-bit samples");
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  return new Int16Array(bytes.buffer);
};

/**
 * What samples would be at a place between two of them, on the straight line from one to the other.
 *
 * @param place - in samples; before the first and after the last it is as there
 */
export const valueAt = (samples: Int16Array, place: number): number => {
  const before = Math.floor(place);
  const first = samples[Math.max(0, before)] ?? 0;
  const next = samples[Math.min(samples.length - 1, before + 1)] ?? 0;
  return first + (next - first) * (place - before);
};

/** Samples of one rate as they are at another, in straight lines: good enough to be understood. */
export const resampled = (samples: Int16Array, from: number, to: number): Int16Array => {
  if (from === to) return samples;
  const step = from / to;
  const count = Math.floor(samples.length / step);
  return Int16Array.from({ length: count }, (_, at) => valueAt(samples, (at + 0.5) * step - 0.5));
};

/** The nearest values that 16 bits can hold. */
export const clippedAll = (values: Float64Array): Int16Array => {
  const samples = new Int16Array(values.length);
  for (let at = 0; at < values.length; at++) {
    samples[at] = Math.max(-32_768, Math.min(32_767, values[at] ?? 0));
  }
  return samples;
};
