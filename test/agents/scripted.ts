import type {
  RealtimeErrorEvent,
  ResponseAudioDeltaEvent,
  ResponseOutputItemDoneEvent,
  SessionUpdatedEvent,
} from "openai/resources/realtime/realtime";
import type { Peer, Taking } from "./server.ts";

/** An agent of OpenAI's protocol that is configured. */
export const updated = {
  type: "session.updated",
  event_id: "e",
  session: { type: "realtime" },
} satisfies SessionUpdatedEvent;

/** What ends a session from our side. */
export const refused = {
  type: "error",
  event_id: "e",
  error: {
    type: "invalid_request_error",
    code: "insufficient_quota",
    message: "No credit is left.",
  },
} satisfies RealtimeErrorEvent;

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

/**
 * Does something once the application has read all that it was sent before: messages are read in order, and a tool
 * that doesn't exist is answered at once.
 */
const onceRead = ({ socket, send }: Peer, does: () => void): void => {
  socket.on("message", (text) => {
    if (JSON.parse(String(text)).type === "conversation.item.create") does();
  });
  send({
    type: "response.output_item.done",
    event_id: "e",
    response_id: "r1",
    output_index: 1,
    item: {
      type: "function_call",
      call_id: "read",
      name: "none",
      arguments: "{}",
      status: "completed",
    },
  } satisfies ResponseOutputItemDoneEvent);
};

/** How many ms of audio a flood has. */
const flood = 400_000;

/** The most that a playback queues, in ms: what it is full with, and one message more. */
const queued = 301_000;

/** How much further ahead than real time an application sends, in ms. */
const ahead = 1_000;

/** What an application may have sent, and must have dropped, of a flood that began so many ms ago: in ms. */
export const boundsAfter = (ms: number) => ({
  mostSent: ms + ahead,
  leastDropped: flood - queued - (ms + ahead),
});

/** More audio than may wait; once all of it was read, the agent is gone. */
export const flooding = (peer: Peer): void => {
  for (let at = 0; at < flood / 1_000; at++) peer.send(delta(1_000));
  onceRead(peer, () => peer.socket.terminate());
};
