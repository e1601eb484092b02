/** How audio is written: 16-bit samples, least significant byte first, or G.711 μ-law, a byte each. */
export interface AudioFormat {
  /** 16-bit samples, or G.711 μ-law. */
  readonly encoding: "pcm" | "ulaw";
  /** Samples a second. */
  readonly sample_rate: number;
}

/** Bytes of a millisecond. */
export const bytesPerMs = ({ encoding, sample_rate }: AudioFormat): number =>
  (sample_rate * (encoding === "pcm" ? 2 : 1)) / 1000;
