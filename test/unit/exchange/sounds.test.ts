import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, onTestFinished, test, vi } from "vitest";
import { readSound, Speech } from "../../../src/exchange/sounds.ts";
import { path } from "../../examples/execute.ts";
import { framesOf, hear } from "../../exchange/telephone/ear.ts";

const mp3 = readFileSync(path("test/exchange/telephone/glide.mp3"));

/** What is in the file: a tone that glides from 300 to 1 020 Hz in 1.2 s. */
const glide = Int16Array.from({ length: 9_600 }, (_, at) => {
  const time = at / 8_000;
  return 9_000 * Math.sin(2 * Math.PI * (300 * time + 300 * time * time));
});

/** How much of the glide is in samples. */
const shareOf = (samples: Int16Array): number => hear(glide, framesOf(samples)).share;

/** Speech by a service that answers the MP3, and the texts that it received. */
const serveSpeech = async (status = 200) => {
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    texts.push(text);
    response.writeHead(status).end(mp3);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const speech = new Speech({ url: `http://127.0.0.1:${port}/` });
  onTestFinished(() => {
    speech.close();
    server.close().closeAllConnections();
  });
  return { texts, speech };
};

const [ann, bob] = ["+12025550150", "+12025550151"] as const;

afterEach(() => vi.useRealTimers());

test("an MP3 has the samples of a telephone's rate", async () => {
  expect(shareOf(await readSound(mp3))).toBeGreaterThan(0.9);
});

test("a program may write an MP3, and gets the text on its standard input alone", async () => {
  const echo = `process.stdin.toArray().then((all) => process.exit(all.join("") === "a; b" ? 0 : 1));`;
  const write = `process.stdout.write(require("node:fs").readFileSync(process.argv[1]));`;
  const args = ["-e", write + echo, path("test/exchange/telephone/glide.mp3")];
  const speech = new Speech({ command: process.execPath, args });
  onTestFinished(() => speech.close());
  expect(shareOf(await speech.speak("a; b", ann))).toBeGreaterThan(0.9);
  await expect(speech.speak("other", ann)).rejects.toThrow("the program that speaks has failed");
});

test("a service speaks a text once for all who hear it", async () => {
  const { speech, texts } = await serveSpeech();
  const [one, other] = await Promise.all([speech.speak("Hello", ann), speech.speak("Hello", bob)]);
  expect(shareOf(one)).toBeGreaterThan(0.9);
  expect(other).toBe(one);
  expect(texts).toEqual(["Hello"]);
});

test("a service that fails is asked again for the next call", async () => {
  const { speech, texts } = await serveSpeech(500);
  const words = "the service that speaks answered HTTP 500";
  await expect(speech.speak("Hello", ann)).rejects.toThrow(words);
  await expect(speech.speak("Hello", ann)).rejects.toThrow(words);
  expect(texts).toHaveLength(2);
  expect(speech.size).toBe(0);
});

test("what was spoken to a number is erased with it, and nothing else", async () => {
  const { speech, texts } = await serveSpeech();
  for (const [text, number] of [
    ["your code", ann],
    ["both", ann],
    ["both", bob],
    ["other", bob],
  ] as const) {
    await speech.speak(text, number);
  }
  speech.erase(ann);
  expect(speech.size).toBe(1);
  await speech.speak("other", bob);
  await speech.speak("your code", bob);
  expect(texts).toEqual(["your code", "both", "other", "your code"]);
});

test("what was spoken is kept for 24 hours at most, without another call, and 500 texts at most", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  const { speech } = await serveSpeech();
  await speech.speak("first", ann);
  vi.advanceTimersByTime(12 * 3_600_000);
  await speech.speak("second", ann);
  vi.advanceTimersByTime(12 * 3_600_000 - 1);
  expect(speech.size).toBe(2);
  vi.advanceTimersByTime(1);
  expect(speech.size).toBe(1);
  vi.advanceTimersByTime(12 * 3_600_000);
  expect(speech.size).toBe(0);
});

test("an MP3 is refused by name where its decoder is not installed", async () => {
  vi.doMock("mpg123-decoder", () => {
    throw new Error("Cannot find package");
  });
  onTestFinished(() => vi.doUnmock("mpg123-decoder"));
  await expect(readSound(new Uint8Array(64))).rejects.toThrow("npm install mpg123-decoder");
});
