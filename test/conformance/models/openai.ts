import type {
  RealtimeClientEvent,
  RealtimeResponse,
  RealtimeServerEvent,
} from "openai/resources/realtime/realtime";
import type { Metadata } from "openai/resources/shared";
import { Model, type Protocol } from "./model.ts";
import { base64, type Coding, decoded, pcm, ulaw } from "./sound.ts";

/** OpenAI's Realtime protocol. */
export const openai: Protocol = (post, clock, behaviour) => {
  const send = (event: RealtimeServerEvent) => post(event);
  let coding: Coding = pcm(24_000);
  let events = 0;
  const event_id = () => `event_${++events}`;
  const ids = (answer: number) => ({
    response_id: `resp_${answer}`,
    item_id: `item_${answer}`,
    output_index: 0,
    content_index: 0,
  });
  const done = (answer: number, end: Pick<RealtimeResponse, "status" | "status_details">) => {
    send({ type: "response.output_audio.done", event_id: event_id(), ...ids(answer) });
    const response = { id: `resp_${answer}`, ...end };
    send({ type: "response.done", event_id: event_id(), response });
  };
  const model = new Model(
    {
      coding: () => coding,
      begin: (answer, request) => {
        // What the response is asked for with comes back.
        const metadata = (request ?? null) as Metadata | null;
        const response = { id: `resp_${answer}`, status: "in_progress", metadata } as const;
        send({ type: "response.created", event_id: event_id(), response });
      },
      audio: (answer, bytes) => {
        const delta = base64(bytes);
        const type = "response.output_audio.delta";
        send({ type, event_id: event_id(), ...ids(answer), delta });
      },
      tools: (calls, answer) => {
        for (const { id, name, args } of calls) {
          send({
            type: "response.output_item.done",
            event_id: event_id(),
            response_id: `resp_${answer}`,
            output_index: 1,
            item: {
              type: "function_call",
              id: `item_${id}`,
              call_id: id,
              name,
              arguments: JSON.stringify(args),
              status: "completed",
            },
          });
        }
      },
      done: (answer, isCut) => done(answer, { status: isCut ? "cancelled" : "completed" }),
      failed: (answer) => {
        const error = { type: "server_error" };
        done(answer, { status: "failed", status_details: { type: "failed", error } });
      },
      speech: () =>
        send({
          type: "input_audio_buffer.speech_started",
          event_id: event_id(),
          item_id: "item_callee",
          audio_start_ms: 0,
        }),
      speechStopped: () =>
        send({
          type: "input_audio_buffer.speech_stopped",
          event_id: event_id(),
          item_id: "item_callee",
          audio_end_ms: 0,
        }),
    },
    clock,
    behaviour,
  );
  return {
    model,
    welcome: { type: "session.created", event_id: event_id(), session: { type: "realtime" } },
    receive: (message) => {
      const event = message as RealtimeClientEvent;
      if (event.type === "session.update") {
        const { session } = event;
        const format = Object(session).audio?.input?.format?.type; // What an update leaves out stays.
        if (format) coding = format === "audio/pcmu" ? ulaw : pcm(24_000);
        send({ type: "session.updated", event_id: event_id(), session });
      } else if (event.type === "input_audio_buffer.append") model.hear(decoded(event.audio));
      else if (event.type === "response.cancel") model.cut();
      else if (event.type === "response.create" && model.isMaking) {
        const error = {
          type: "invalid_request_error",
          code: "conversation_already_has_active_response",
          event_id: event.event_id ?? null,
          message: "",
        };
        send({ type: "error", event_id: event_id(), error });
      } else if (event.type === "response.create") model.answer(event.response?.metadata);
    },
    stop: () => model.stop(),
  };
};
