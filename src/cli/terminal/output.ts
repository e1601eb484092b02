type Stream = NodeJS.WriteStream;

/** The streams that take nothing more: a reader has left, or a disk is full. */
const broken = new Set<Stream>();

/** Writes, and says whether it is out. Each runtime has its own way to fail; none may end a command. */
const write = (stream: Stream, text: string): Promise<boolean> =>
  new Promise<boolean>((resolve) => {
    if (broken.has(stream)) return resolve(false);
    try {
      stream.write(text, (error) => resolve(!error));
    } catch {
      resolve(false);
    }
  }).then((isOut) => {
    if (!isOut) broken.add(stream);
    return isOut;
  });

/** Writes a line, and says whether it is out. */
export const print = (line: string, stream: Stream = process.stdout): Promise<boolean> =>
  write(stream, `${line}\n`);

/** Ends the process with a code, once all that it said is out, whatever else is still under way. */
export const end = async (code: number): Promise<never> => {
  await Promise.all([write(process.stdout, ""), write(process.stderr, "")]);
  process.exit(code);
};
