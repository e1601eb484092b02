import type { Answer } from "./answer.ts";

/** The most that is read of an answer, in bytes, after decompression. */
const largest = 2 ** 20;

/** What a chunk counts at least: endless empty ones would keep the deadline from being heard. */
const least = 64;

/**
 * The text of an answer, or an empty one past 1 MiB. What comes is counted, whatever the head says of
 * its length: some platforms believe a chunked body's Content-Length, and read it all.
 */
export const readText = async ({ source }: Answer, signal: AbortSignal): Promise<string> => {
  const { body } = source;
  // No body, or no stream of a platform's: then a fetch of the caller's has it as a whole already.
  if (!body?.getReader) return source.text();
  const reader = body.getReader();
  const cancel = () => {
    (async () => reader.cancel())().catch(() => {});
  };
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel);
  const decoder = new TextDecoder();
  let text = "";
  for (let size = 0; size <= largest; ) {
    const { value } = (await reader.read()) ?? {};
    if (!value) return text + decoder.decode();
    size += Math.max(value.length, least);
    text += decoder.decode(value, { stream: true });
  }
  cancel();
  return "";
};
