import { creator } from "../calls/create.ts";
import { type Emulator, emulate } from "../emulator/emulator.ts";
import { type CallAudio, maxKept } from "../emulator/recording/recording.ts";
import { straight } from "../http/post.ts";
import { check, fail, isRecord } from "../lib/check.ts";
import {
  type MediaClock,
  processClock,
  type SessionObserver,
  type VirtualClock,
} from "../lib/clock.ts";
import { summaryOf } from "../lib/summary.ts";
import type { CallRecord } from "../server/history.ts";
import { applicationOf } from "./application.ts";
import { checkActs, type Noted, noting, wordsOf } from "./caller.ts";
import { type Detector, energyDetector, keyTonesOf, type Segment, silenced } from "./detector.ts";
import type { CallFigures, SimulatedText, SimulatedTool } from "./figures.ts";
import { withoutKeys, writeFiles } from "./files.ts";
import { faultsOf, keyTurns, performedBy, transcriptOf } from "./flow-transcript.ts";
import { impairmentOf, type LineFaults, lineSockets, lossOf } from "./line.ts";
import { type Inputs, type Report, type ReportOptions, reportOf } from "./report.ts";
import { pageOf } from "./report-page.ts";
import {
  type CheckedOptions,
  type SimulateOptions,
  SimulateOptionsSchema,
} from "./simulate-options.ts";
import { SimulatedTime } from "./simulated-time.ts";
import { comparedTrust, Lateness, type Measured, marked, trustOf } from "./trust.ts";
import { deadAirOf, overlapOf, type RoundTrip, turnsOf } from "./turns.ts";

/** A call that was simulated, and its reports. */
export interface SimulatedCall extends CallFigures {
  /** The figures as data, for `compareReports`. */
  readonly toReport: (options?: ReportOptions) => Promise<Report>;
  /**
   * Writes `report.json`, `report.html` and `call.wav` into a folder.
   *
   * @throws {BadParametersException} (`placed: "no"`) when they can't be written
   */
  readonly report: (folder: string, options?: ReportOptions) => Promise<void>;
}

const isSegment = (value: unknown): value is Segment =>
  isRecord(value) && Number.isFinite(value.from) && Number.isFinite(value.to);

/**
 * The agent's speech, as a detector finds it: one that adds a margin may leave the call.
 *
 * @param keys - the tones of keys in it, which are no speech
 * @throws {BadParametersException} when it returns what is no list of stretches in order
 */
const speechOf = (
  { detect }: Detector,
  audio: CallAudio,
  keys: readonly Segment[],
): readonly Segment[] => {
  const { sample_rate } = audio;
  const samples = silenced(audio.samples("application"), sample_rate, keys);
  const found: unknown = detect(samples, sample_rate);
  const rule =
    "must return a list of { from, to } in order, without overlaps, in ms of the samples";
  if (!Array.isArray(found) || !found.every(isSegment)) return fail("detector", rule);
  let last = Number.NEGATIVE_INFINITY;
  for (const { from, to } of found) {
    if (from < last || to <= from || to <= 0 || from >= audio.ms) fail("detector", rule);
    last = to;
  }
  return found.map(({ from, to }) => ({ from: Math.max(0, from), to: Math.min(to, audio.ms) }));
};

/** What a session did, in milliseconds since the answer. */
interface Observed {
  readonly tools: SimulatedTool[];
  readonly transcript: SimulatedText[];
  reason: string | undefined;
  outcome?: string | undefined;
}

/** The time of the call, and what drives it. */
interface Time {
  readonly simulation: MediaClock;
  /** The same, for the application's own timers. */
  readonly application: MediaClock;
  readonly clock: VirtualClock | undefined;
  readonly runUntil: (over: Promise<unknown>) => Promise<void>;
}

const timeOf = (
  kind: "virtual" | "real",
  pace: number | undefined,
  observer: SessionObserver,
  useNetwork: () => never,
): Time => {
  if (kind === "real") {
    const simulation = { ...processClock, observer };
    return {
      simulation,
      application: simulation,
      clock: undefined,
      runUntil: async (over) => {
        await over.catch(() => {});
      },
    };
  }
  const time = new SimulatedTime({ pace });
  return {
    simulation: { ...time.media, observer, useNetwork },
    application: { ...time.application, observer, useNetwork },
    clock: time.clock,
    runUntil: (over) => time.runUntil(over),
  };
};

const statusUrl = "https://app.test/status";

const numbers = { from_number: "+12025550199", to_number: "+12025550100" } as const;

/** How long a call lasts at most by default, in milliseconds. */
const longestCall = 600_000;

/** A call that has ended, and what was noted of it. */
interface Ended {
  readonly record: CallRecord;
  readonly audio: CallAudio;
  readonly noted: Noted;
  readonly observed: Observed;
  /** What the line of a flow has reported. */
  readonly performed: readonly SimulatedText[];
  readonly lateness: Lateness;
}

/** The figures of a call, and what its report needs beside them. */
interface MeasuredCall {
  readonly figures: CallFigures;
  readonly inputs: Inputs;
  /** When the caller pressed keys. */
  readonly pressed: readonly Segment[];
}

/** How long a message and its answer take on a line. */
const roundTripOf = ({ latency = 0, jitter = 0 }: LineFaults): RoundTrip => ({
  least: 2 * latency,
  most: 2 * (latency + jitter),
});

/** Who hung up in a flow; nobody where the call was cut off. */
const endedBy = ({ reason }: CallRecord, { acts }: Noted): "flow" | "callee" | undefined => {
  if (reason !== "normal") return;
  return acts.some(({ type }) => type === "hangup") ? "callee" : "flow";
};

const figuresOf = (
  { record, audio, noted, observed, performed, lateness }: Ended,
  {
    flow,
    detector = energyDetector,
    time = "virtual",
    service,
    line = {},
    caller: script,
    maxDuration = longestCall,
    answeredBy = "person",
  }: CheckedOptions,
): MeasuredCall => {
  const end = audio.ms;
  const keys = keyTonesOf(audio.samples("application"), audio.sample_rate);
  const agent = speechOf(detector, audio, keys);
  const words = wordsOf(noted.said, audio);
  const caller = words.flatMap(({ stretches }) => stretches);
  const utterances = words.map(({ utterance }) => utterance);
  const roundTrip = roundTripOf(line);
  const by = flow && endedBy(record, noted);
  const inFlow = flow ? transcriptOf(record, performed, noted.acts) : [];
  const inOrder = (one: { readonly from: number }, other: { readonly from: number }) =>
    one.from - other.from;
  const turns = marked(
    [
      ...turnsOf(utterances, agent, end, roundTrip),
      ...keyTurns(record, inFlow, { ms: end, by }),
    ].sort(inOrder),
    lateness,
    roundTrip,
  );
  const measured: Measured = {
    turns,
    firstAudio: summaryOf(agent.slice(0, 1).map(({ from }) => from)),
    response: summaryOf(turns.flatMap(({ response }) => response ?? [])),
    stop: summaryOf(turns.flatMap(({ stop }) => stop ?? [])),
    overlap: overlapOf(caller, agent),
    deadAir: deadAirOf([...caller, ...agent, ...keys], end),
    tools: observed.tools,
    transcript: [...inFlow, ...observed.transcript].sort((one, other) => one.ms - other.ms),
    faults: flow ? faultsOf(record) : [],
    end: {
      ms: end,
      reason: record.reason,
      session: observed.reason,
      ...(by && { by }),
      ...(observed.outcome !== undefined && { outcome: observed.outcome }),
    },
  };
  const trust = trustOf(measured, lateness, { clock: time, detector: detector.name });
  // Of a list all acts, also those that were not reached.
  const acts = typeof script === "function" ? noted.acts : script;
  const inputs: Inputs = {
    service: service?.name,
    line,
    time,
    detector: detector.name,
    maxDuration,
    ...(flow && { flow: answeredBy }),
    acts,
  };
  return { figures: { ...measured, trust, audio }, inputs, pressed: noted.pressed };
};

/** A call with its reports. */
const withReports = ({ figures, inputs, pressed }: MeasuredCall): SimulatedCall => {
  const toReport = (options: ReportOptions = {}) => reportOf(figures, inputs, options);
  const { audio } = figures;
  return {
    ...figures,
    toReport,
    report: async (folder, options) => {
      const report = await toReport(options);
      const wav = withoutKeys(audio, pressed);
      await writeFiles(folder, {
        "report.json": `${JSON.stringify(report, null, 2)}\n`,
        "report.html": await pageOf(report, audio, wav),
        "call.wav": wav,
      });
    },
  };
};

/** More is silence in the audio of the call, and would be so in its figures. */
const unkeptRule =
  "sends more audio than is kept: maxDuration and ten minutes more; send it when it is due, or raise maxDuration";

/** The next step where the handler has refused the service. */
const hintFor = (flow_error: string): string =>
  /HTTP 40[01]\b/.test(flow_error)
    ? ". Give the secret of the handler as secret; where its service verifies signatures, the key as apiKey or webhookSecret"
    : "";

/** @throws {BadParametersException} for what the caller's script or the flow had wrong */
const checkHistory = ({ history, flow_error }: CallRecord, flow: unknown): void => {
  for (const entry of history) {
    if (entry.type === "error" && entry.source === "callee") fail("caller", entry.message);
  }
  if (flow_error === undefined) return;
  if (flow) fail("flow", `could not be followed: ${flow_error}${hintFor(flow_error)}`);
  fail("app", `could not be connected: ${flow_error}`);
};

/** @param pace - the most milliseconds of the call for each one of the process, in virtual time */
const simulateOnce = async (settings: CheckedOptions, pace?: number): Promise<MeasuredCall> => {
  const {
    app,
    flow,
    caller,
    service,
    line = {},
    time: kind = "virtual",
    maxDuration = longestCall,
    apiKey: signingKey,
    webhookSecret,
  } = settings;
  const { flow_url, answer, optionsFor } = await applicationOf(settings);
  const noted: Noted = { acts: [], said: [], pressed: [] };
  const observed: Observed = { tools: [], transcript: [], reason: undefined };
  /** Since the answer, on the axis of the audio. */
  const ms = () => (id === undefined ? 0 : (emulator.audio(id)?.ms ?? 0));
  let usesNetwork = false;
  let isUnkept = false;
  let thrown: { readonly error: unknown } | undefined;
  let emulator: Emulator;
  let id: string | undefined;
  const time = timeOf(
    kind,
    pace,
    {
      onTranscript: (text) => void observed.transcript.push({ ...text, type: "said", ms: ms() }),
      onTool: (tool) => void observed.tools.push({ ...tool, ms: ms() }),
      onEnd: ({ reason, outcome }) => {
        observed.reason = reason;
        observed.outcome = outcome;
      },
    },
    () => {
      usesNetwork = true;
      throw new TypeError('a network socket needs time: "real"');
    },
  );
  const { simulation, application } = time;
  const catching = async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      thrown ??= { error };
      return;
    }
  };
  const openSocket = lineSockets(line, simulation, async (socket, url) => {
    const options = await catching(() => optionsFor(url));
    const run = async () => {
      if (!app) return fail("app", "is missing: the flow opens a media socket");
      return app(socket, { simulation: application, ...options });
    };
    // Not awaited: it may run as long as the call.
    run().catch((error: unknown) => {
      thrown ??= { error };
      socket.close(1011);
    });
  });
  const performed: SimulatedText[] = [];
  const lateness = new Lateness();
  emulator = emulate(
    {
      service,
      apiKey: signingKey,
      webhookSecret,
      fetch: async (request) => {
        if (request.url === statusUrl) return new Response(null);
        return (await catching(() => answer(request))) ?? new Response(null, { status: 500 });
      },
      callee: noting(caller, noted),
      onCall: () => ({ outcome: "answer", ringDuration: 0 }),
      maxDuration,
      seed: 1,
      clock: time.clock,
    },
    {
      openSocket,
      ...(flow && performedBy(performed)),
      impair: impairmentOf(line),
      isLost: lossOf(line),
      onFrame: (sent, late) => lateness.add(sent, late),
      // An application may have as much queued as is kept of other calls when this one has lasted longest.
      kept: maxKept + maxDuration,
      onUnkept: () => {
        isUnkept = true;
      },
    },
  );
  const { apiKey, fetch } = emulator;
  const create = creator(straight);
  const over = (async () => {
    const call = await create(
      {
        ...numbers,
        flow_url,
        status_callback_url: statusUrl,
      },
      { apiKey, fetch, service, baseUrl: "https://simulated.test", dangerouslyAllowBrowser: true },
    );
    id = call.id;
    return emulator.ended(call.id);
  })();
  await time.runUntil(over);
  const record = await over;
  // The close of the stream is still on its way to the application.
  const { latency = 0, jitter = 0 } = line;
  await time.runUntil(
    new Promise<void>((resolve) => void simulation.after(latency + jitter + 1, resolve)),
  );
  await emulator.close();
  if (thrown) throw thrown.error;
  if (usesNetwork) fail("app", 'opens a network socket, which needs time: "real"');
  checkHistory(record, flow);
  if (isUnkept) fail("app", unkeptRule);
  const audio = emulator.audio(record.id) ?? fail("app", "has ended without audio");
  return figuresOf({ record, audio, noted, observed, performed, lateness }, settings);
};

/**
 * The pace of the second of two runs. What waits on the clock of the process sees a slower call then, so that it changes the
 * figures; a quick run is over before a timer of 50 ms comes.
 */
const slowPace = 10;

const reportFor = ({ figures, inputs }: MeasuredCall): Promise<Report> =>
  reportOf(figures, inputs, {});

/**
 * Calls an application on a simulated line, and measures what a caller would hear: how soon it responds, whether it stops
 * when it is interrupted, when it talks over the caller. With `flow` it calls a flow: the transcript of the report has what it says and
 * plays, what the callee presses and says, and when. Nobody is called, nothing is sent, and in virtual time nothing
 * waits: a call of a minute takes a second or two, and has the same figures in each run.
 *
 * Time stands still while a tool runs, unless it waits by `options.simulation`, and while the connector waits for an address, a socket or the verification of
 * `start`. It does not for what else an application waits for, such as a `setTimeout`: the call goes on meanwhile, faster than the process.
 * Use the clock of `options.simulation` there: `hold(promise)` stops the time, and `after(ms, work)` is its timer. `twice: true`
 * runs the call again, at most ten times as fast as a real one: where figures differ, `trust` names them.
 *
 * @throws {BadParametersException} when an option or an act of the caller breaks its rule, and when the application opens
 * a network socket in virtual time: no call was placed. What `app` throws or rejects with during the call is rethrown
 *
 * @example An agent that answers half a second after the caller
 * ```ts
 * import { connectAgent } from "outdial/agents";
 * import { scriptedAgent, simulateCall } from "outdial/testing";
 *
 * const agent = scriptedAgent([{ ms: 1_000 }, { ms: 2_000 }]);
 * const { turns, response, end } = await simulateCall({
 *   app: (socket) => connectAgent(socket, agent),
 *   caller: [
 *     { type: "until-quiet" },
 *     { type: "tone", hertz: 440, ms: 800 },
 *     { type: "until-quiet" },
 *     { type: "hangup" },
 *   ],
 * });
 * console.log(turns.length, Math.round(response.max ?? 0), end.session); // 1 500 hung_up
 * ```
 *
 * @example A callee who presses 1 at 2.1 s
 * ```ts
 * import { flowHandler, gather, say } from "outdial/flows";
 * import { simulateCall } from "outdial/testing";
 *
 * const secret = crypto.randomUUID();
 * const flow = flowHandler({
 *   secret,
 *   onAnswer: () => gather("Press 1.", { digits: 1, on: { 1: "thanks" } }),
 *   steps: { thanks: () => say("Thank you.") },
 * });
 * const { transcript, end } = await simulateCall({
 *   flow,
 *   secret,
 *   caller: [{ type: "until", ms: 2_100 }, { type: "press", digits: "1" }],
 * });
 * console.log(transcript.map(({ text }) => text).join(), end.by); // Press 1.,1,Thank you. flow
 * ```
 * @see docs/simulated-calls.md
 */
export const simulateCall = async (options: SimulateOptions): Promise<SimulatedCall> => {
  const settings = check(SimulateOptionsSchema, () => options, "options");
  const { caller, twice = false, time } = settings;
  if (twice && time === "real")
    fail("twice", 'needs time: "virtual": real time differs in each run');
  checkActs(caller);
  const first = await simulateOnce(settings);
  if (!twice) return withReports(first);
  const second = await simulateOnce(settings, slowPace);
  const [one, other] = await Promise.all([reportFor(first), reportFor(second)]);
  const { figures } = first;
  return withReports({
    ...first,
    figures: { ...figures, trust: comparedTrust(figures.trust, one, other) },
  });
};
