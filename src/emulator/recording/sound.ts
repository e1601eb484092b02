/** A sine of moderate loudness, as 16-bit samples. */
export const tone = (hertz: number, sampleRate: number, first: number, count: number): Int16Array =>
  Int16Array.from(
    { length: count },
    (_, at) => 6_000 * Math.sin((2 * Math.PI * hertz * (first + at)) / sampleRate),
  );

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
  const bytes = Uint8Array.from(text, (each) => each.charCodeAt(0));
  return new Int16Array(bytes.buffer);
};

/** Half as many samples, of twice the length. */
export const halved = (samples: Int16Array): Int16Array =>
  Int16Array.from({ length: samples.length >> 1 }, (_, at) => {
    const one = samples[2 * at] ?? 0;
    const other = samples[2 * at + 1] ?? 0;
    return (one + other) >> 1;
  });
