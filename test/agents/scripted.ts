import type {
  ResponseAudioDeltaEvent,
  SessionUpdatedEvent,
} from "openai/resources/realtime/realtime";
import type { Peer, Taking } from "./server.ts";

/** An agent of OpenAI's protocol that is configured. */
export const updated = {
  type: "session.updated",
  event_id: "e",
  session: { type: "realtime" },
} satisfies SessionUpdatedEvent;

/** So many milliseconds of its first answer. */
export const delta = (ms: number) =>
  ({
    type: "response.output_audio.delta",
    event_id: "e",
    response_id: "r1",
    item_id: "i1",
    output_index: 0,
    content_index: 0,
    delta: Buffer.alloc(ms * 8, 0x80).toString("base64"),
  }) satisfies ResponseAudioDeltaEvent;

/** An agent that is ready, and then does something. */
export const whenAsked = (does: (peer: Peer) => void): Taking => ({
  accept: (peer, message) => {
    if (Object(message).type === "session.update") peer.send(updated);
    if (Object(message).type === "response.create") does(peer);
  },
});
