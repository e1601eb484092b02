/** A stream whose reader may leave: then nobody is told, and nothing breaks. */
type Stream = NodeJS.WriteStream;

/** Waits until a stream has passed on what was written to it, or can't any more. */
const flushed = (stream: Stream): Promise<void> =>
  new Promise((resolve) => {
    stream.once("error", () => resolve());
    stream.write("", () => resolve());
  });

/** Ends the process with a code, once all that it said is out, whatever else is still under way. */
export const end = async (code: number): Promise<never> => {
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit(code);
};
