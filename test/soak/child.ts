import { fork } from "node:child_process";
import type { Sample } from "./memory.ts";

/** What the launcher asks of a process. */
export type Question = "start" | "sample" | "rotate" | "close";

/** Another process of the soak. */
export interface Child {
  readonly ask: <T>(question: Question, given?: object) => Promise<T>;
  readonly samples: Sample[];
}

/** Starts a process that ends with this one. */
export const start = (file: string): Child => {
  const child = fork(new URL(file, import.meta.url), {
    serialization: "advanced",
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  let asked = 0;
  const waiting = new Map<number, (answer: never) => void>();
  child.on("message", ({ number, answer }: { number: number; answer: never }) => {
    waiting.get(number)?.(answer);
    waiting.delete(number);
  });
  child.on("exit", (code) => {
    if (code !== 0) throw new Error(`${file} ended with ${code}`);
  });
  return {
    ask: (question, given = {}) =>
      new Promise((resolve) => {
        waiting.set(++asked, resolve);
        child.send({ number: asked, question, given });
      }),
    samples: [],
  };
};

/** The other side: answers questions until one of them is the last. */
export const answering = (
  answers: Readonly<Partial<Record<Question, (given: never) => unknown>>>,
): void => {
  type Asked = { readonly number: number; readonly question: Question; readonly given: never };
  process.on("message", async ({ number, question, given }: Asked) => {
    const answer = await answers[question]?.(given);
    process.send?.({ number, answer }, () => {
      if (question === "close") process.exit();
    });
  });
  process.on("disconnect", () => process.exit());
};
