import { pcmOf } from "../../../src/agents/audio/ulaw.ts";
import type { Contender } from "./contender.ts";

/** Frames of 20 ms that didn't come, or not in their place, of so many. */
export interface Lost {
  readonly frames: number;
  readonly lost: number;
}

/** Codes of μ-law, each of which stands for a sample of its own. */
const codes: readonly number[] = Array.from({ length: 250 }, (_, code) => code).filter(
  (code) => code !== 0x7f,
);

const codeOf = (frame: number): number => codes[frame % codes.length] ?? 0;

/** Frames that aren't what was said, in its place. */
const wrong = (said: Buffer, came: Buffer, frame: number): number => {
  let count = 0;
  for (let at = 0; at < said.length; at += frame) {
    if (!said.subarray(at, at + frame).equals(came.subarray(at, at + frame))) count++;
  }
  return count;
};

/** Says what can be told apart, both ways at once, and compares it with what comes. */
export const lost = async ({ connect }: Contender, frames: number): Promise<Lost> => {
  const { line, mind, close } = await connect(8000);
  const toAgent: string[] = [];
  const toCallee: string[] = [];
  mind.onSend = (message) => toAgent.push(JSON.parse(message).audio ?? "");
  line.onSend = (message) => toCallee.push(JSON.parse(message).audio_b64 ?? "");
  const ulaw = Buffer.concat(
    Array.from({ length: frames }, (_, frame) => Buffer.alloc(160, codeOf(frame))),
  );
  const pcm = Buffer.from(pcmOf(ulaw).buffer);
  const ids = { response_id: "resp_1", item_id: "item_1", output_index: 0, content_index: 0 };
  for (let frame = 0; frame < frames; frame++) {
    const audio_b64 = pcm.subarray(frame * 320, frame * 320 + 320).toString("base64");
    line.emit(
      JSON.stringify({ type: "audio", stream_id: "st_1", message_id: 2, data: { audio_b64 } }),
    );
    const delta = ulaw.subarray(frame * 160, frame * 160 + 160).toString("base64");
    mind.emit(JSON.stringify({ type: "response.output_audio.delta", ...ids, delta }));
  }
  mind.emit(
    JSON.stringify({ type: "response.done", response: { id: "resp_1", status: "completed" } }),
  );
  await new Promise((resolve) => setTimeout(resolve, frames * 20));
  const joined = (texts: readonly string[]) =>
    Buffer.concat(texts.map((text) => Buffer.from(text, "base64")));
  const missing = wrong(ulaw, joined(toAgent), 160) + wrong(pcm, joined(toCallee), 320);
  await close();
  return { frames: frames * 2, lost: missing };
};
