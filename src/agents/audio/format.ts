/** How audio is written: 16-bit samples, least significant byte first, or G.711 μ-law, a byte each. */
export interface AudioFormat {
  /** 16-bit samples, or G.711 μ-law. */
  readonly encoding: "pcm" | "ulaw";
  /** Samples a second: 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100 or 48000. */
  readonly sample_rate: number;
}

/** Those between which audio can be turned: each pair takes a filter, which is kept. */
const rates: ReadonlySet<unknown> = /* @__PURE__ */ new Set([
  8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000,
]);

/** Whether an agent's audio is written in a way that can be converted. */
export const isFormat = ({ encoding, sample_rate }: AudioFormat): boolean =>
  /^(pcm|ulaw)$/.test(encoding) && rates.has(sample_rate);

/** Bytes of a millisecond. */
export const bytesPerMs = ({ encoding, sample_rate }: AudioFormat): number =>
  (sample_rate * (encoding === "pcm" ? 2 : 1)) / 1000;
