import { decoded } from "../../bytes/base64.ts";
import { faultOf, isFrame, type MediaAudio, type MediaOther, type MediaStart } from "./service.ts";

/** A message on a media socket was not what the service sends. It is left out; the call goes on. */
export class FrameException extends Error {
  /** The literal name of the class, whole even in minified code. */
  override readonly name = "FrameException" as const;
}

/** The longest message that is looked at, in characters: 1 MiB of audio and its frame. */
const longest = 1_048_576 + 4096;

/**
 * A message of the service, as it stands.
 *
 * @throws {FrameException} that names the rule, never the value
 */
export const messageIn = (text: unknown): unknown => {
  if (typeof text !== "string") throw new FrameException("The message isn't text");
  if (text.length > longest) throw new FrameException("The message is too long");
  try {
    return JSON.parse(text);
  } catch {
    throw new FrameException("The message isn't JSON"); // The parser's own error quotes it.
  }
};

/** Whether a message is of a type that this package doesn't know: a service may grow. */
export const isOther = (message: unknown): message is MediaOther => {
  const { type } = Object(message);
  return typeof type === "string" && type !== "start" && type !== "audio";
};

/**
 * What a message of a known type says.
 *
 * @throws {FrameException} that names the rule, never the value
 */
export const frameIn = (message: unknown): MediaStart | MediaAudio => {
  if (isFrame(message)) return message;
  throw new FrameException(faultOf(message));
};

/**
 * The audio of a message: whole 16-bit samples.
 *
 * @throws {FrameException}
 */
export const audioOf = ({ data }: MediaAudio): Uint8Array<ArrayBuffer> => {
  let bytes: Uint8Array<ArrayBuffer> | undefined;
  try {
    bytes = decoded(data.audio_b64);
  } catch {
    // Told below.
  }
  if (!bytes) throw new FrameException("data.audio_b64 isn't base64");
  if (bytes.length % 2) throw new FrameException("data.audio_b64 ends within a sample");
  return bytes;
};
