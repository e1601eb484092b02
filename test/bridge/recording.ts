/** The samples of a WAV of 16-bit PCM. */
export const samplesOf = async (response: Response): Promise<Int16Array> =>
  new Int16Array((await response.arrayBuffer()).slice(44));

/**
 * What is left of a recording without the person on the line: what the agent said, where it said it.
 * The person of the emulator is a tone of 440 Hz from the moment at which the stream begins.
 */
export const withoutPerson = (recording: Int16Array): Int16Array => {
  const start = recording.findIndex((sample) => sample !== 0);
  const person = (at: number) => Math.trunc(6_000 * Math.sin((2 * Math.PI * 440 * at) / 8_000));
  return recording.map((sample, at) => (at < start ? sample : sample - person(at)));
};

/** Where a stretch of sound begins in another, sample for sample; -1 when it isn't there. */
export const indexOf = (all: Int16Array, part: Int16Array): number => {
  const first = part.findIndex((sample) => sample !== 0);
  for (let at = 0; at + part.length <= all.length; at++) {
    if (all[at + first] !== part[first]) continue;
    if (part.every((sample, index) => all[at + index] === sample)) return at;
  }
  return -1;
};
