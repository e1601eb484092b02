type Stream = NodeJS.WriteStream;

/** The streams that take nothing more, and why: a reader has left (`EPIPE`), or a disk is full. */
const broken = new Map<Stream, string>();

const isOut = (stream: Stream, error: unknown): boolean => {
  if (error && !broken.has(stream)) broken.set(stream, String(Object(error).code));
  return !error;
};

/** Whether what was printed last is lost, though somebody waits for it: a reader that left doesn't. */
export const isLost = (stream: Stream = process.stdout): boolean =>
  (broken.get(stream) ?? "EPIPE") !== "EPIPE";

/** Writes, and says whether it is out. Each runtime has its own way to fail; none may end a command. */
const write = (stream: Stream, text: string): Promise<boolean> =>
  new Promise((resolve) => {
    if (broken.has(stream)) return resolve(false);
    try {
      stream.write(text, (error) => resolve(isOut(stream, error)));
    } catch (error) {
      resolve(isOut(stream, error));
    }
  });

/** Writes a line, and says whether it is out. */
export const print = (line: string, stream: Stream = process.stdout): Promise<boolean> =>
  write(stream, `${line}\n`);

/** Ends the process with a code, once all that it said is out, whatever else is still under way. */
export const end = async (code: number): Promise<never> => {
  await Promise.all([write(process.stdout, ""), write(process.stderr, "")]);
  process.exit(code);
};
