const rate = 8000;

/** A voice: harmonics of a pitch that wavers, in syllables. */
export const voice = (ms: number, random: () => number): Int16Array<ArrayBuffer> => {
  const pitch = 100 + 120 * random();
  let phase = 0;
  return Int16Array.from({ length: ms * 8 }, (_, at) => {
    const seconds = at / rate;
    phase += (2 * Math.PI * pitch * (1 + 0.06 * Math.sin(11 * seconds))) / rate;
    const syllable = 0.6 + 0.4 * Math.sin(2 * Math.PI * 4.3 * seconds);
    let sum = 0;
    for (const [index, level] of [1, 0.9, 0.7, 0.8, 0.5, 0.3, 0.2].entries()) {
      sum += level * Math.sin(phase * (index + 1));
    }
    return 2_200 * syllable * sum;
  });
};
