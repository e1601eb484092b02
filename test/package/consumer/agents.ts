import {
  type Address,
  type Agent,
  type AgentAbilities,
  type AgentEvent,
  AgentException,
  type AgentMessage,
  type AgentOptions,
  type AgentProblem,
  type AgentSession,
  type AgentSocket,
  type AgentSocketEvent,
  type AnsweredTurn,
  type AudioFormat,
  type AzureOptions,
  azure,
  type CalledTool,
  type CallOpening,
  type CallTranscript,
  type Codec,
  type ConnectionEnd,
  type Cut,
  connectAgent,
  type DeepgramOptions,
  deepgram,
  type ElevenLabsOptions,
  type EndReason,
  elevenlabs,
  type Formats,
  type GeminiOptions,
  type GptLiveOptions,
  type GreetingEnd,
  type GreetingOptions,
  gemini,
  gptLive,
  greetingEnded,
  type Idle,
  type Interruption,
  type LeaveOptions,
  type LineFormat,
  leaveVoicemail,
  type OpenAIRealtimeOptions,
  type OpenAITurnDetection,
  type Opening,
  type OpenSocket,
  openaiRealtime,
  type PlayOptions,
  type PressedKeys,
  type PressKeysOptions,
  pressKeys,
  type SessionEnd,
  type SessionMetrics,
  type SessionOptions,
  type SpeakOptions,
  type Spoken,
  type Ticket,
  type Tool,
  type ToolCall,
  type ToolContext,
  type ToolMetrics,
  type ToolResult,
  type Tools,
  type Transcript,
  type Transfer,
  type TransferOptions,
  type TransferTarget,
  type TurnMetrics,
  tones,
  transferTo,
  type VoicemailOptions,
  type WarmAgent,
  type WarmOptions,
  warmAgent,
  type XaiOptions,
  xai,
} from "outdial/agents";
import type { MediaSocket } from "outdial/flows";

const key: AgentOptions = { apiKey: () => "key" };
const look: Tool = {
  description: "Looks it up.",
  parameters: { type: "object" },
  run: async (args: unknown, { signal }: ToolContext) => [args, signal.aborted],
};
const limits: GreetingOptions = { silence: 2_000, timeout: 20_000 };
const wait: Tool = {
  description: "Waits.",
  run: (_, { session }): Promise<GreetingEnd> => greetingEnded(session, limits),
};
const voicemail: VoicemailOptions = { ...limits, message: "Call back.", repeatOpening: true };
const keyRules: PressKeysOptions = { allow: /^[0-9]+$/, most: 4 };
const billing: TransferTarget = { to: "+12025550100", timeout: 20 };
const decide: Transfer = (start, action) => console.log(start.call_id, action.to);
const transferOptions: TransferOptions = { decide };
const tools: Tools = {
  look,
  wait,
  leave_voicemail: leaveVoicemail(voicemail),
  press_keys: pressKeys(keyRules),
  transfer: transferTo({ billing }, transferOptions),
};
const turnDetection: OpenAITurnDetection = { type: "semantic_vad", eagerness: "low" };
const realtime: OpenAIRealtimeOptions = { ...key, instructions: "Be brief.", tools, turnDetection };
const grok: XaiOptions = { ...key, voice: "ara" };
const onAzure: AzureOptions = {
  ...key,
  url: "wss://r.openai.azure.com/openai/v1/realtime",
  model: "d",
};
const google: GeminiOptions = { ...key, model: "gemini-3.8-live", voice: "Kore" };
const live: GptLiveOptions = { ...key, voice: "marin" };
const eleven: ElevenLabsOptions = { ...key, agentId: "agent_1", variables: { name: "Ann" } };
const deep: DeepgramOptions = { ...key, greeting: "Hello" };
export const agents: readonly Agent[] = [
  openaiRealtime(realtime),
  gemini(google),
  xai(grok),
  azure(onAzure),
  gptLive(live),
  elevenlabs(eleven),
  deepgram(deep),
];

const format: AudioFormat = { encoding: "ulaw", sampleRate: 8000 };
const formats: Formats = { input: format, output: format };
const ticket: Ticket = { url: "https://app.test/", headers: {}, read: (answer) => answer };
const address: Address = { url: "wss://app.test/", ticket, protocols: ["a"] };
const ready: AgentEvent = { type: "ready" };
const codec = ({ sampleRate }: LineFormat): Codec => ({
  formats,
  open: (): readonly AgentMessage[] => [String(sampleRate)],
  answered: () => [],
  encode: (audio) => [audio],
  decode: () => [ready],
  interrupted: (cuts: readonly Cut[]) => cuts.map(({ item }) => item),
  toolResult: ({ output }: ToolResult) => [output],
});
export const own: Agent = { name: "own", tools, address: () => address, codec };
export const wish: ToolCall = { id: "1", name: "look", arguments: "{}" };

const open: OpenSocket = ({ url, protocols }: Opening): AgentSocket =>
  new WebSocket(url, [...(protocols ?? [])]);
const shown = ({ who, text, final }: Transcript): string => `${who} ${text} ${final}`;
const onTranscript = (text: CallTranscript): string => `${text.ms} ${shown(text)}`;
const onTool = ({ name, args, ms, took, isError }: CalledTool): readonly unknown[] => [
  name,
  args,
  ms - took,
  isError,
];
const onInterrupted = ({ ms, truncated }: Interruption): number => ms + truncated;
const measured = ({ notQuiet = 0 }: TurnMetrics): boolean => notQuiet === 0;
const onMetrics = ({ tools: used, turns }: SessionMetrics): readonly ToolMetrics[] =>
  measured(turns) ? Object.values(used) : [];
const onEnd = ({ reason }: SessionEnd): EndReason => reason;
const opening: CallOpening = { audio: new Int16Array(8).fill(1000), sampleRate: 8000, keep: false };
const onTurn = ({ latency, interrupted }: AnsweredTurn): boolean => interrupted && latency > 0;
const onKeys = ({ key, keys, done }: PressedKeys, session: AgentSession): unknown =>
  done ? session.addContext(keys) : key;
const how: SpeakOptions = { interruptible: false };
const leaving: LeaveOptions = { ...how, before: () => undefined };
export const leave = (session: AgentSession): Promise<string | undefined> =>
  session.leave("done", leaving);
const playing: PlayOptions = { ...how, sampleRate: 8000, text: "Hello." };
const onIdle = async ({ count }: Idle, session: AgentSession): Promise<Spoken> =>
  count > 1 ? session.reply("Ask.", how) : session.play(new Int16Array(8), playing);
export const can = ({ can: abilities }: Agent): AgentAbilities | undefined => abilities;
const options: SessionOptions = {
  opening,
  onTurn,
  onKeys,
  onIdle,
  keysToAgent: false,
  retries: 1,
  maxTokens: 100_000,
  press: tones,
  onTranscript,
  onTool,
  onInterrupted,
  onMetrics,
  onEnd,
  open,
  maxDuration: 60_000,
};
const waiting: WarmOptions = { sampleRate: 8000, timeout: 30_000, open };
export const serve = (socket: MediaSocket, agent: Agent): AgentSession => {
  const warm: WarmAgent = warmAgent(agent, waiting);
  return connectAgent(socket, warm, options);
};
export const gone: ConnectionEnd = "agent_lost";
export const event: AgentSocketEvent = "open";
export const problem = (error: unknown): AgentProblem | undefined =>
  error instanceof AgentException ? error.problem : undefined;
