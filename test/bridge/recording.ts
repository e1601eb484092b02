/** The samples of a WAV of 16-bit PCM. */
export const samplesOf = async (response: Response): Promise<Int16Array> =>
  new Int16Array((await response.arrayBuffer()).slice(44));
