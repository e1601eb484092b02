/**
 * What the compiler says of messages to agents: `tsc` fails where an expected error is missing. So `satisfies` with the
 * vendors' types, in the tests of the adapters, would find a wrong name, a wrong value and a missing field.
 */
import type { agent as Deepgram } from "@deepgram/sdk";
import type { Outgoing } from "@elevenlabs/types";
import type { ClientEvent } from "openai/resources/live/live";
import type {
  ConversationItemCreateEvent,
  RealtimeClientEvent,
  ResponseCreateEvent,
  SessionUpdateEvent,
} from "openai/resources/realtime/realtime";

export const openai: readonly RealtimeClientEvent[] = [
  { type: "response.create", event_id: "a", response: { metadata: { request: "a" } } },
  // @ts-expect-error There is no such event.
  { type: "response.say", text: "" },
  {
    type: "response.create",
    // @ts-expect-error It has no such field.
    response: { message: "" },
  } satisfies ResponseCreateEvent,
  {
    type: "conversation.item.create",
    // @ts-expect-error A text of the system is `input_text`.
    item: { type: "message", role: "system", content: [{ type: "output_text", text: "" }] },
  } satisfies ConversationItemCreateEvent,
  // @ts-expect-error A session needs its type.
  { type: "session.update", session: { instructions: "" } } satisfies SessionUpdateEvent,
];

export const gptLive: readonly ClientEvent[] = [
  { type: "session.thinking.append", content: "", delegation_id: null },
  // @ts-expect-error `delegation_id` is required.
  { type: "session.commentary.append", content: "" },
  // @ts-expect-error There is no such event.
  { type: "session.context.append", content: "", delegation_id: null },
];

export const elevenlabs: readonly (
  | Outgoing.UserMessageClientToOrchestratorEvent
  | Outgoing.ContextualUpdateClientToOrchestratorEvent
)[] = [
  { type: "user_message", text: "" },
  // @ts-expect-error Its field is `text`.
  { type: "user_message", content: "" },
  // @ts-expect-error A context has a text.
  { type: "contextual_update" },
];

export const deepgram: readonly (
  | Deepgram.AgentV1InjectAgentMessage
  | Deepgram.AgentV1InjectUserMessage
  | Deepgram.AgentV1UpdatePrompt
  | Deepgram.AgentV1UpdateThink
)[] = [
  { type: "InjectAgentMessage", message: "", behavior: "queue" },
  // @ts-expect-error Its field is `message`.
  { type: "InjectAgentMessage", content: "" },
  // @ts-expect-error Its field is `content`.
  { type: "InjectUserMessage", message: "" },
  // @ts-expect-error Its field is `prompt`.
  { type: "UpdatePrompt", text: "" },
  // @ts-expect-error It has a provider.
  { type: "UpdateThink", think: { prompt: "" } },
];
