/** The end of the line that the player speaks into. */
export interface Mouth {
  readonly audio: (samples: Uint8Array<ArrayBuffer>) => unknown;
  readonly clear: () => unknown;
  readonly buffered: number;
}

/** How a player is set up. */
export interface PlayerOptions {
  /** Samples a second. */
  readonly sample_rate: number;
  /** The most audio in a message, in ms. */
  readonly chunk_size: number;
  /** Whether the voice never stops, silence included. */
  readonly continuous: boolean;
  /** Hears of each message that goes out, and how late it was: 0 unless the line had fallen silent. */
  readonly onSent: (late: number) => void;
}
