import { type Agent, connectAgent, type Tool } from "outdial/agents";
import { flowHandler, hangup } from "outdial/flows";
import {
  type CallFigures,
  type ComparisonRules,
  compareReports,
  type DeadAir,
  type Detector,
  type Difference,
  type Expectation,
  type LineFaults,
  type MediaClock,
  type Report,
  type ReportOptions,
  type ScriptedAnswer,
  type ScriptedOptions,
  type Segment,
  type SessionObserver,
  type SimulatedCall,
  type SimulatedCallOptions,
  type SimulatedFault,
  type SimulatedOptions,
  type SimulatedText,
  type SimulatedTool,
  type SimulateFlowOptions,
  type SimulateOptions,
  type SimulateSocketOptions,
  type Summary,
  scriptedAgent,
  simulateCall,
  type Trust,
  type Turn,
  type Utterance,
  type VirtualClock,
  type VirtualClockOptions,
  type Voice,
  virtualClock,
  wav,
} from "outdial/testing";

const answers: readonly ScriptedAnswer[] = [{ ms: 500 }, { tool: "book", args: { people: 4 } }];
const book: Tool = { description: "Books a table.", run: async () => "booked" };
const settings: ScriptedOptions = { patience: 300, think: 40, tools: { book } };
export const agent: Agent = scriptedAgent(answers, settings);

const line: LineFaults = { latency: 80, jitter: 20, loss: 0.01, narrowband: true, seed: 1 };
const detector: Detector = {
  name: "all",
  detect: (samples, sampleRate): readonly Segment[] => [
    { from: 0, to: (samples.length * 1_000) / sampleRate },
  ],
};
const options: Omit<SimulateSocketOptions, "caller"> = {
  app: (socket, given: SimulatedOptions) => connectAgent(socket, agent, given),
  line,
  detector,
  time: "virtual",
  maxDuration: 60_000,
};

export const simulate = async (): Promise<SimulatedCall> => {
  const voice: Voice = await wav(new Uint8Array(44));
  const expected: Expectation = "stop";
  return simulateCall({
    ...options,
    caller: [
      { type: "until-quiet", ms: 600 },
      { type: "say", voice, expect: expected },
      { type: "until-speech", ms: 400 },
      { type: "hangup" },
    ],
  });
};

const spoken: SimulateFlowOptions = {
  flow: flowHandler({ dangerouslyAllowUnverified: true, onAnswer: () => hangup() }),
  answeredBy: "person",
  caller: [],
};
/** As a test of a flow has it: what its calls share, and what one has of its own. */
const ofFlow = { flow: spoken.flow, secret: "secret", caller: [] };
export const simulateMachine = (): Promise<SimulatedCall> =>
  simulateCall({ ...ofFlow, answeredBy: "machine" });

const either: SimulateOptions = spoken;
const shared: SimulatedCallOptions = spoken;

export const simulateFlow = async (): Promise<readonly string[]> => {
  const { transcript, end, turns } = await simulateCall(either);
  const [keys = 0] = turns.map((turn) => turn.keys);
  const by: "flow" | "callee" | undefined = end.by;
  return [
    ...transcript.map(({ who, type, to }) => `${who} ${type} ${to ?? ""}`),
    `${by} ${keys} ${shared.maxDuration}`,
  ];
};

export const figuresOf = async (call: CallFigures): Promise<readonly (number | undefined)[]> => {
  const [turn]: readonly Turn[] = call.turns;
  const utterance: Utterance | undefined = turn;
  const response: Summary = call.response;
  const trust: Trust = call.trust;
  const [tool]: readonly SimulatedTool[] = call.tools;
  const [text]: readonly SimulatedText[] = call.transcript;
  const [fault]: readonly SimulatedFault[] = call.faults;
  const { longest }: DeadAir = call.deadAir;
  return [utterance?.to, response.p95, trust.lateness, tool?.took, text?.ms, fault?.ms, longest];
};

export const compare = async (call: SimulatedCall): Promise<readonly Difference[]> => {
  const redacted: ReportOptions = { redact: () => "–" };
  const report: Report = await call.toReport(redacted);
  const rules: ComparisonRules = { percent: 10, floor: 30 };
  return compareReports(report, report, rules);
};

export const timeOf = (clock: MediaClock): SessionObserver | undefined => clock.observer;

/** A list in virtual time. */
export const clockFrom = (start: Date): VirtualClock => {
  const from: VirtualClockOptions = { start };
  return virtualClock(from);
};
