import {
  type ActionEntry,
  type ApiResponse,
  type CallAudio,
  type Callee,
  type CalleeAct,
  type CalleeCall,
  type CalleeScript,
  type CallFacts,
  type CallRecord,
  type CallState,
  type Cut,
  type CutEntry,
  createEmulator,
  type Doing,
  type EmulatedService,
  type Emulator,
  type EmulatorEvent,
  type EmulatorOptions,
  type EndReason,
  type ErrorEntry,
  type FailureReason,
  type Faults,
  type FlowEntry,
  type FlowErrorEntry,
  type HistoryEntry,
  type LegEntry,
  type NoteEntry,
  type NotificationEntry,
  type OnCall,
  type Outcome,
  type Played,
  type PlayedPiece,
  type PressEntry,
  type Reason,
  type RecordingEntry,
  type RefusedEvent,
  type SayEntry,
  type Scenario,
  type Send,
  type ServiceEvent,
  type Side,
  type SocketConstructor,
  type Stamp,
  type StateEntry,
  type StreamEntry,
  scenarios,
  type VerbEntry,
  type VirtualClock,
  type WireAction,
  type WireGather,
  type WirePrompt,
  type WireRecord,
  type WireSay,
} from "outdial/emulator";

const service: EmulatedService = { name: "twilio", account: `AC${"0".repeat(32)}` };
export const carrier: EmulatorOptions = { service };
const socket: SocketConstructor = WebSocket;
export const connected: EmulatorOptions = { WebSocket: socket };
const busy: Outcome = { outcome: "busy" };
const onCall: OnCall = ({ to_number }) => (to_number.endsWith("1") ? busy : undefined);
const send: Send = (request) => new Response(request.url);
const notifications: Faults = { lost: 0.1, doubled: 0.1, late: 0.1, delay: 1_000 };
const options: EmulatorOptions = {
  notifications,
  clock: "instant",
  seed: 1,
  numbers: ["+12025550199"],
  onCall,
  fetch: send,
};

const textOf = (prompt: WirePrompt): string => ("text" in prompt ? prompt.text : "");
const promptsOf = (action: WireAction): readonly string[] => {
  if (!("prompts" in action)) return [];
  const { prompts }: WireSay | WireGather | WireRecord = action;
  return prompts.map(textOf);
};

/** Each kind of entry has its own fields, and all have a time and a call. */
export const line = (entry: HistoryEntry): string => {
  const { at, call_id }: Stamp = entry;
  switch (entry.type) {
    case "state": {
      const { state, reason }: StateEntry = entry;
      return `${at} ${state} ${reason}`;
    }
    case "flow": {
      const { step, status, action }: FlowEntry = entry;
      return `${step} ${status} ${action && promptsOf(action).join(" ")}`;
    }
    case "flow_error": {
      const { message }: FlowErrorEntry = entry;
      return message;
    }
    case "action": {
      const { action }: ActionEntry = entry;
      return action.action;
    }
    case "verb": {
      const { verb }: VerbEntry = entry;
      return verb;
    }
    case "press": {
      const { digit }: PressEntry = entry;
      return digit;
    }
    case "say": {
      const { text, duration }: SayEntry = entry;
      return `${text} ${duration}`;
    }
    case "leg": {
      const { to, state }: LegEntry = entry;
      return `${to} ${state}`;
    }
    case "stream": {
      const { sent, received }: StreamEntry = entry;
      return `${sent} ${received}`;
    }
    case "cut": {
      const { by, samples }: CutEntry = entry;
      return `${by} ${samples}`;
    }
    case "notification": {
      const { event, outcome }: NotificationEntry = entry;
      return `${event} ${outcome}`;
    }
    case "recording": {
      const { seconds }: RecordingEntry = entry;
      return `${seconds}`;
    }
    case "note": {
      const { text }: NoteEntry = entry;
      return text;
    }
    case "error": {
      const { message }: ErrorEntry = entry;
      return `${call_id} ${message}`;
    }
    default: {
      const none: never = entry;
      return none;
    }
  }
};

const failure: FailureReason = "busy";
const ending: EndReason = "normal";
export const reasons: readonly Reason[] = [failure, ending];
export const broken: readonly (ApiResponse | undefined)[] = Object.values(scenarios).map(
  ({ response }: Scenario) => response,
);
export const isRefused = (event: ServiceEvent): event is RefusedEvent => event.type === "refused";

const acts: readonly CalleeAct[] = [{ type: "until", ms: 10 }, { type: "hangup" }];
const script: CalleeScript = async function* ({ ms }: CalleeCall) {
  if (ms === 0) yield* acts;
};
export const callees: readonly Callee[] = [script, acts];

export const watch = async (): Promise<readonly EmulatorEvent[]> => {
  await using emulator: Emulator = createEmulator(options);
  const { fetch, apiKey, accountId, webhookSecret } = emulator;
  await fetch(`https://emulator.test/${accountId}`, { headers: { "X-API-Key": apiKey } });
  const record: CallRecord = await emulator.ended(webhookSecret);
  const facts: CallFacts = record;
  const state: CallState = facts.state;
  const known = emulator.call(record.id)?.state === state && emulator.calls.length > 0;
  const audio: CallAudio | undefined = emulator.audio(record.id);
  const heard: readonly PlayedPiece[] = audio?.played ?? [];
  const cuts: readonly Cut[] = audio?.cuts ?? [];
  const side: Side = "callee";
  if (heard.length + cuts.length > 0) audio?.peaks(side);
  emulator.answer(record.id);
  emulator.reject(record.id);
  emulator.hangup(record.id);
  emulator.regenerateKey();
  emulator.reset();
  const seen: EmulatorEvent[] = known ? [...record.history] : [];
  for await (const event of emulator) seen.push(event);
  return seen;
};

/** What a step lets the callee hear. */
export const heardIn = ({ plays = [] }: Doing): readonly Played[] => plays;

export const timedBy = (clock: VirtualClock): EmulatorOptions => ({ clock });
