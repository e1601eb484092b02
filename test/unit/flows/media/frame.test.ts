import { expect, test } from "vitest";
import { decodeAudio, FrameException, parseMessage } from "../../../../src/flows/media/messages.ts";
import { start } from "./start.ts";

const longest = 2 ** 20 + 4_096;
const read = (text: unknown) => parseMessage(text);

test.each([
  [new Uint8Array(2), "The message isn't text"],
  [" ".repeat(longest + 1), "The message is too long"],
  [" ".repeat(longest), "The message isn't JSON"],
  ["{MARKED", "The message isn't JSON"],
  ['"MARKED"', "The message must be start, audio or played"],
  [JSON.stringify({ ...start, message_id: -1 }), "message_id must be a whole number from 0"],
  [
    JSON.stringify({ ...start, data: { ...start.data, encoding: "MARKED" } }),
    "data.encoding must be audio/l16",
  ],
])("a message is refused by its rule, never with its value (%#)", (message, rule) => {
  const reported = expect.objectContaining({ name: "FrameException", message: rule });
  expect(() => read(message)).toThrow(reported);
});

test("a message as long as may be is read", () => {
  const text = JSON.stringify({ ...start, more: "" });
  const padded = text.replace('"more":"', `"more":"${"x".repeat(longest - text.length)}`);
  expect(read(padded)).toMatchObject(start);
});

test.each([
  ["A", "data.audio_b64 isn't base64"],
  ["AAAA", "data.audio_b64 ends within a sample"],
])("audio %j: %s", (audio_b64, rule) => {
  const message = { type: "audio", stream_id: "st_1", message_id: 2, data: { audio_b64 } } as const;
  expect(() => decodeAudio(message)).toThrow(new FrameException(rule));
});
