import {
  Action,
  type ActionUrlOptions,
  type AnsweredBy,
  type AnyAction,
  type AudioFrame,
  type AudioPrompt,
  actionUrl,
  audio,
  type Branch,
  type BunServerSocket,
  BunSocket,
  bunWebSocket,
  type Checks,
  type Closed,
  type Context,
  type Dial,
  type Dialed,
  dial,
  type FlowCampaign,
  type FlowOptions,
  FlowRequest,
  type Following,
  FrameException,
  FromApplication,
  FromService,
  flowHandler,
  type Gather,
  type GatherOptions,
  gather,
  type Hangup,
  hangup,
  type InputHook,
  type KeyCount,
  type KeyPress,
  type MachineUrlOptions,
  type MediaAudio,
  type MediaClear,
  type MediaEvent,
  type MediaInterrupt,
  type MediaOther,
  type MediaPlayed,
  type MediaPlayedRequest,
  type MediaSocket,
  type MediaSpeech,
  type MediaStart,
  machineUrl,
  type NestedMediaSpeech,
  type OnError,
  type PausePrompt,
  type Play,
  type Prompt,
  type Prompts,
  pause,
  play,
  type RecordAction,
  type RecordingInput,
  record,
  type Say,
  type SayOptions,
  type Secret,
  type SpeechOptions,
  type SpokenText,
  type StartChecks,
  type Step,
  type StepInput,
  type Stream,
  type StreamForm,
  type StreamHandlers,
  type StreamOptions,
  type StreamSession,
  say,
  spell,
  stream,
  streamSession,
  type Verification,
  type WireDial,
} from "outdial/flows";
import { is } from "valibot";

const greeting: Play = play("https://app.test/hello.wav", { flow_url: "https://app.test/next" });
const agent: Stream = stream("wss://app.test/media", { sample_rate: "16k", chunk_size: 20 });
const end: Hangup = hangup();
const person: Dial = dial("+12025550100", { timeout: 20, on_busy: greeting, on_failure: end });
export const actions: readonly Action[] = [greeting, agent, end, person];

const branch: Branch = "on_busy";
const following: Following<"after"> = "after";
const second: Dial<"after"> = dial("+12025550100", { [branch]: following, next: "after" });
export const reached = ({ dialed }: StepInput): Dialed["state"] | undefined => dialed?.state;
export const branchIn = ({ on_busy }: WireDial): Play | Hangup | undefined => on_busy;
const told: RecordAction<"after"> = record("Tell us why.", { as: "why", next: "after" });
const code: string = spell("402913");
export const spelled: readonly AnyAction[] = [second, told, say(code)];
export const fileOf = ({ recording_url }: RecordingInput): string => recording_url;
export const onInput: InputHook = ({ digits }) => digits;

const secret: Secret = "a secret that was made at random";
const checks: Checks = { secret };
const verification: Verification = { ...checks, secret };
export const startChecks: StartChecks = { secret, url: "wss://app.test/media" };
const onError: OnError = (error) => console.error(error);
const decide = ({ call, context }: StepInput): Action => {
  const { language }: Context = context;
  return call.to_number === "+12025550100" && language === "en" ? greeting : end;
};
const campaign: FlowCampaign = { note: (given) => given };
const options: FlowOptions = { ...verification, onAnswer: decide, onError, campaign };
export const handler: (request: Request) => Promise<Response> = flowHandler(options);

const chime: AudioPrompt = audio("https://app.test/chime.mp3");
const silence: PausePrompt = pause(1_000);
const first: Prompt = "Your appointment is on Monday.";
const prompts: Prompts = [chime, silence, first];
const one: KeyCount = 1;
const keys: GatherOptions<"thanks"> = { digits: one, as: "reply", on: { 1: "thanks" } };
const recognition: SpeechOptions = {
  language: "en-GB",
  hints: ["yes", "no"],
  end_silence_ms: 1_000,
};
export const spoken: Gather<"thanks"> = gather(prompts, {
  speech: recognition,
  as: "reply",
  next: "thanks",
});
export const saidIn = ({ speech: said }: StepInput): SpokenText | undefined => said;
const question: Gather<"thanks"> = gather(prompts, keys);
const inEnglish: SayOptions = { language: "en-GB" };
const message: Say = say(prompts, inEnglish);
const thanks: Step = ({ answers }) => say(`You pressed ${answers.reply}.`);
export const any: readonly AnyAction[] = [question, message];
export const conversation: (request: Request) => Promise<Response> = flowHandler({
  secret,
  onAnswer: () => question,
  onMachine: () => message,
  steps: { thanks },
});
const machine: AnsweredBy = "machine_end_beep";
const machineOptions: MachineUrlOptions = { secret, answered_by: machine };
const actionOptions: ActionUrlOptions = {
  secret: "0123456789abcdef",
  call_id: "cs_1",
  action: end,
};
export const decided: Promise<string> = actionUrl("https://app.test/flow", actionOptions);
export const redirected: Promise<string> = machineUrl("https://app.test/flow", machineOptions);

export const echo = (socket: MediaSocket): StreamSession => {
  const handlers: StreamHandlers = {
    onStart: ({ data }: MediaStart) => data.sample_rate,
    onAudio: ({ bytes, time }: AudioFrame) => time > 0 && session.audio(bytes, "chunk"),
    onKey: ({ key }: KeyPress) => key === "#" && session.clear(),
    onMessage: ({ type }: MediaOther) => type === "mark",
    onClose: ({ code, reason }: Closed) => session.close(code, reason),
    onError: (error) => error instanceof FrameException && session.clear(),
  };
  const form: StreamForm = { chunkSize: 500, form: "nested" };
  const options: StreamOptions = form;
  const session = streamSession(socket, handlers, options);
  session.interrupt("chunk");
  return session;
};
/** What Bun calls for each socket of a server. */
export const opened = (socket: BunServerSocket): StreamSession => {
  bunWebSocket.open(socket);
  return echo(socket.data);
};
export const upgrade: { readonly data: BunSocket } = { data: new BunSocket() };
export const web = (socket: WebSocket): StreamSession => echo(socket);
export const text = ({ data }: MediaEvent): string => String(data);

const speech: MediaSpeech = { type: "audio", audio_b64: "", chunk_id: 1 };
const nested: NestedMediaSpeech = { type: "audio", data: { audio_b64: "", chunk_id: 1 } };
const interrupt: MediaInterrupt = { type: "interrupt", chunk_id: 1 };
const clear: MediaClear = { type: "clear" };
const asking: MediaPlayedRequest = { type: "played" };
const played: MediaPlayed = { type: "played", stream_id: "", message_id: 3, data: { ms: 20 } };
const media: MediaAudio = { type: "audio", stream_id: "", message_id: 2, data: { audio_b64: "" } };
export const valid: boolean =
  [speech, nested, interrupt, clear, asking].every((message) => is(FromApplication, message)) &&
  is(FromService, media) &&
  is(FromService, played) &&
  actions.every((action) => is(Action, action));
export const isAsked = (value: unknown): value is FlowRequest => is(FlowRequest, value);
