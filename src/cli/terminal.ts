import { createInterface } from "node:readline/promises";
import { styleText } from "node:util";

/** A stream of the process, as far as a command uses it. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly write: (text: string, done: (error?: Error | null) => void) => unknown;
}

/** Colours a text, where somebody sees it in colour. */
export type Paint = (style: Parameters<typeof styleText>[0], text: string) => string;

/** A count with its noun: `1 call`, `2,000 calls`. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** Text of others on one line, without control characters and without those that turn the direction of writing. */
export const plain = (text: string): string => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();

/** Control characters of a terminal that JSON does not escape. */
const control = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

const escaped = (characters: string): string =>
  Array.from({ length: characters.length }, (_, at) => {
    return `\\u${characters.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }).join("");

/** A value as one line of JSON, or `undefined` if it cannot be serialized: nested too deep, or a `toJSON` that throws. */
export const jsonLine = (value: unknown): string | undefined => {
  try {
    return JSON.stringify(value).replace(control, escaped);
  } catch {
    return;
  }
};

/** The `code` of an error of the platform, such as `ENOENT`. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;

interface Streams {
  readonly stdin: NodeJS.ReadStream | undefined;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The streams of a command. Writing never throws: each runtime fails in its own way, and none may end a command. */
export class Terminal {
  readonly #streams: Streams;
  /** Streams that take nothing more, with the code of the error: `EPIPE` when the reader has left. */
  readonly #broken = new Map<Output, string>();
  /** Colour on a terminal that wants it (see https://no-color.org). */
  readonly paint: Paint;

  constructor(streams: Streams) {
    this.#streams = streams;
    const { stdout, env } = streams;
    const isColoured = stdout.isTTY && !env.NO_COLOR && env.TERM !== "dumb";
    this.paint = (style, text) =>
      isColoured ? styleText(style, text, { validateStream: false }) : text;
  }

  /** Columns of stderr, where that is a terminal. */
  get columns(): number | undefined {
    const { isTTY, columns } = this.#streams.stderr;
    // Some terminals report 0.
    return isTTY ? columns || 80 : undefined;
  }

  /** Whether output on stdout was lost although somebody reads it: a full disk, not a reader that left. */
  get isLost(): boolean {
    return (this.#broken.get(this.#streams.stdout) ?? "EPIPE") !== "EPIPE";
  }

  /** Writes a line to stdout; resolves to whether it was written. */
  print(line: string): Promise<boolean> {
    return this.#write(this.#streams.stdout, `${line}\n`);
  }

  /** Writes a line to stderr; resolves to whether it was written. */
  report(line: string): Promise<boolean> {
    return this.#write(this.#streams.stderr, `${line}\n`);
  }

  /** Replaces the last line of a terminal on stderr. */
  replaceLine(line: string): Promise<boolean> {
    return this.#write(this.#streams.stderr, `\r\u001b[K${line}`);
  }

  /** Resolves once everything is written. */
  async flush(): Promise<void> {
    const { stdout, stderr } = this.#streams;
    await Promise.all([this.#write(stdout, ""), this.#write(stderr, "")]);
  }

  /** Whether a question can be asked. */
  get isInteractive(): boolean {
    const { stdin, stderr } = this.#streams;
    return Boolean(stdin?.isTTY && stderr.isTTY);
  }

  /** Asks a question on the terminal; empty at the end of input. */
  async ask(question: string, signal: AbortSignal): Promise<string> {
    const { stdin } = this.#streams;
    if (!stdin) return "";
    // The terminal edits the line itself, so that ctrl-C stays a signal.
    const lines = createInterface({ input: stdin, output: process.stderr, terminal: false });
    try {
      return await new Promise<string>((resolve, reject) => {
        const onAbort = (): void => reject(signal.reason);
        if (signal.aborted) return onAbort();
        signal.addEventListener("abort", onAbort, { once: true });
        lines.once("close", () => resolve(""));
        lines.question(question).then(resolve, reject);
      });
    } finally {
      lines.close();
    }
  }

  /**
   * All of stdin; empty without it.
   *
   * @param most - characters, above which no more is read
   */
  async input(most: number, signal: AbortSignal): Promise<string> {
    const { stdin } = this.#streams;
    if (!stdin) return "";
    let text = "";
    const stop = (): void => void stdin.destroy(signal.reason);
    signal.addEventListener("abort", stop);
    try {
      stdin.setEncoding("utf8");
      for await (const chunk of stdin) {
        text += chunk;
        if (text.length > most) break;
      }
      return text;
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  #write(stream: Output, text: string): Promise<boolean> {
    return new Promise((resolve) => {
      const onDone = (error?: unknown): void => {
        if (error && !this.#broken.has(stream)) this.#broken.set(stream, codeOf(error) ?? "");
        resolve(!error);
      };
      if (this.#broken.has(stream)) return resolve(false);
      try {
        stream.write(text, onDone);
      } catch (error) {
        onDone(error);
      }
    });
  }
}
