import { RefusedException } from "../callbacks/errors.ts";
import type { Token } from "../callbacks/signed-url.ts";
import { check, fail, isText } from "../lib/check.ts";
import {
  Action,
  type AnyAction,
  branchesOf,
  checkAction,
  type Dial,
  hangup,
  stepsOf,
} from "./actions.ts";
import { fitted, keptOf } from "./answer-size.ts";
import { variablesIn } from "./contact.ts";
import { signOwnUrl } from "./continuation.ts";
import { dialedIn, followingDial } from "./dialed.ts";
import type { FlowState, Step, StepInput } from "./flow-state.ts";
import type { RecordAction } from "./record.ts";
import type { FlowRequest } from "./request.ts";
import { seal, sealSize, unsealed } from "./sealed-state.ts";
import { spokenIn } from "./speech.ts";
import type { Decision, FlowInput, OwnUrl } from "./webhooks.ts";

/** One flow request of a conversation. */
export interface Turn {
  /** The steps, `onAnswer` and `onMachine`. */
  readonly functions: Readonly<Record<string, Step<string> | undefined>>;
  readonly onInput: ((given: StepInput) => unknown) | undefined;
  /** What is given to each step beside what the call says. */
  readonly ofCampaign: Pick<StepInput, "contact" | "campaign">;
  /** Whether somebody waits for recordings. */
  readonly records: boolean;
  readonly input: FlowInput;
  readonly state: FlowState;
  /** Reports what `onInput` throws. */
  readonly report: (error: unknown) => void;
  /** Names the function that is waited for. */
  readonly waitFor: (name: string) => void;
}

/**
 * What answered, out of the URL of `machineUrl`, or out of the request.
 *
 * @param path - that a token covers; empty for one without a token
 */
export const answeredByOf = (
  path: string,
  { answered_by }: FlowRequest,
): StepInput["answered_by"] =>
  [/[?&]outdial-answered=(\w+)&outdial=/.exec(path)?.[1], answered_by].find(isText);

/**
 * The state in a token that this package has sealed, and nobody could change.
 *
 * @throws {RefusedException} when no secret opens it
 */
export const stateIn = async (token: Token, secrets: readonly string[]): Promise<FlowState> => {
  const state = await unsealed<FlowState>(token, secrets);
  if (!state) throw new RefusedException("wrong_token");
  return state;
};

/** @throws {RefusedException} when a state belongs to another service, account or call than a request */
export const requireSame = (state: FlowState, of: FlowState["of"]): void => {
  if (state.of.some((one, at) => (one ?? of[at]) !== of[at]))
    throw new RefusedException("wrong_call");
};

/** A field of an object's own. */
const own = <T>(fields: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : undefined;

/** What a function of a conversation is run with. */
interface Running {
  readonly given: StepInput;
  /** Whether a machine listens, as far as is known. */
  readonly machine: boolean;
  /** Calls `onInput`. */
  readonly note: (noted: StepInput) => Promise<void>;
}

/** The URL of the flow's own at which what follows an action is decided. */
const urlOf = async (
  name: string,
  following: Omit<FlowState, "of">,
  { input }: Turn,
  { marked = "", of = input.of }: Pick<OwnUrl, "marked" | "of"> = {},
): Promise<string> =>
  signOwnUrl(input, name, marked, (bound, secret, room) =>
    seal(fitted({ of, ...following }, room - sealSize), secret, bound),
  );

/**
 * The last action of a message for a machine: after its prompts the service requests the flow once more, so that it is
 * known that the machine has heard them.
 */
const endMessage = async (
  action: AnyAction,
  { given: { context, answers, answered_by } }: Running,
  turn: Turn,
): Promise<AnyAction> => {
  const { action: name } = action;
  if ((name !== "say" && name !== "play") || !turn.onInput || !turn.input.secret) return action;
  const end = { at: "", attempt: 1, context, answers, answered_by, machine: true };
  try {
    return { ...action, flow_url: await urlOf(name, end, turn) };
  } catch (error) {
    // The message is more than what is known of it.
    turn.report(error);
    return action;
  }
};

/** A `dial`, with what signs the URL that decides what follows it. */
const dialled = (action: Dial<string>, { given }: Running, turn: Turn): Decision => {
  const { next, flow_url } = action;
  const branches = branchesOf(action);
  const [first] = branches;
  if (!(first || next)) return { action };
  const { context, answers, answered_by } = given;
  const after = { ...Object.fromEntries(branches), next, flow_url };
  const signOwn = ({ call, dialed, ...bound }: OwnUrl = {}) => {
    const known = { ...after, call, dialed };
    const following = { at: "", attempt: 1, context, answers, answered_by, after: known };
    return urlOf(first?.[0] ?? "next", following, turn, bound);
  };
  return { action, signOwn };
};

/** A `record`, with what signs the URL that its recording comes to. It always has what follows: Twilio would repeat it. */
const recorded = async (
  action: RecordAction<string>,
  { given: { context, answers, answered_by } }: Running,
  turn: Turn,
): Promise<Decision> => {
  const { next = "", as } = action;
  const known = { attempt: 1, context, answers, answered_by };
  const flow_url = action.flow_url ?? (await urlOf("record", { ...known, at: next }, turn));
  const { call_id } = turn.input.call;
  const signOwn = ({ of }: OwnUrl = {}) => {
    const recording = { call_id, as };
    // A recording may come long after the call.
    const lasting = { ...turn, input: { ...turn.input, expires: undefined } };
    return urlOf("record", { ...known, at: "", answers: {}, recording }, lasting, { of });
  };
  return { action: { ...action, flow_url }, ...(turn.records && { signOwn }) };
};

/** Gives an action the URL of what follows. */
const followed = async (
  action: AnyAction,
  at: string,
  running: Running,
  turn: Turn,
): Promise<Decision> => {
  const { action: name } = action;
  const { given, machine } = running;
  for (const step of stepsOf(action)) {
    if (!own(turn.functions, step)) fail(name, "continues with a step that is not in steps");
  }
  if (name === "hangup") return { action };
  if (name === "dial") return dialled(action, running, turn);
  if (name === "record") return recorded(action, running, turn);
  const { next, flow_url } = action;
  if (flow_url) return { action };
  const { attempt, context, answers, answered_by } = given;
  if (name === "gather") {
    const { as, on, tries, otherwise } = action;
    const kept = { context, answers, answered_by, ...(machine && { machine }) };
    const ask = { as, on, next, tries, otherwise };
    return {
      action: { ...action, flow_url: await urlOf(name, { ...kept, at, attempt, ask }, turn) },
    };
  }
  const isHeard = machine && name !== "stream";
  if (!next) return { action: isHeard ? await endMessage(action, running, turn) : action };
  const kept = { context, answers, answered_by, ...(isHeard && { machine }) };
  return {
    action: { ...action, flow_url: await urlOf(name, { ...kept, at: next, attempt: 1 }, turn) },
  };
};

/** Runs a function of a conversation, and gives its action the URL of what follows. */
const run = async (at: string, running: Running, turn: Turn): Promise<Decision> => {
  const { functions, state } = turn;
  const { given, machine, note } = running;
  const decide = own(functions, at) ?? fail("steps", "lacks the step of this URL");
  turn.waitFor(at);
  const returned = await decide(given);
  const action = check(Action, () => returned, "action");
  checkAction(action);
  if (action.action === "hangup" && machine && state.machine) {
    await note({ ...given, message: "left" });
  }
  return followed(action, at, running, turn);
};

/**
 * What a conversation does next.
 *
 * @throws {BadParametersException} for an action that breaks a rule, or names an unknown step
 */
export const decideTurn = async (turn: Turn): Promise<Decision> => {
  const { functions, onInput, state, input } = turn;
  const { at, attempt, ask, after, context, answers, answered_by } = state;
  const { digits: keys = "" } = input.call;
  // Nothing else is an answer.
  const digits = /^[\d*#]{0,20}$/.test(keys) ? keys : "";
  const variables = variablesIn(context);
  const speech = digits ? undefined : spokenIn(input.call.speech);
  const dialed = after && (dialedIn(input.call.dialed) ?? after.dialed);
  const given: StepInput = {
    ...{ call: input.call, context, variables, digits, attempt, answers, answered_by },
    ...(speech && { speech }),
    ...(dialed && { dialed }),
    ...turn.ofCampaign,
  };
  /** What `onInput` throws is reported, and the flow continues. */
  const note = async (noted: StepInput): Promise<void> => {
    if (!onInput) return;
    turn.waitFor("onInput");
    try {
      await onInput(noted);
    } catch (error) {
      turn.report(error);
    }
  };
  // A machine presses no key.
  const machine = !!state.machine && !keys;
  const end = async (): Promise<Decision> => {
    if (machine) await note({ ...given, message: "left" });
    return { action: hangup() };
  };
  if (state.action) return followed(state.action, at, { given, machine: false, note }, turn);
  if (after) {
    const following = followingDial(after, dialed);
    const { flow_url } = after;
    const running = { given, machine: false, note };
    if (isText(following)) return run(following, running, turn);
    if (following) return followed(following, at, running, turn);
    return flow_url === undefined ? end() : { action: { action: "redirect", flow_url } };
  }
  if (!ask) {
    if (!at) return end();
    const isFirst = at === "onAnswer";
    if (isFirst && answered_by) await note(given);
    const isMachine = isFirst && !!functions.onMachine && /^(machine|fax)/.test(answered_by ?? "");
    const listens = machine || isMachine;
    return run(isMachine ? "onMachine" : at, { given, machine: listens, note }, turn);
  }
  const { as, on, next, tries = 1, otherwise } = ask;
  const keyed = on ? own(on, digits) : digits;
  if (keyed || (speech && (next || !on))) {
    const answer = digits || keptOf(speech?.text ?? "");
    const answered = { ...given, answers: as ? { ...answers, [as]: answer } : answers };
    await note(answered);
    const step = on && keyed ? keyed : next;
    const first = { ...answered, attempt: 1 };
    return step ? run(step, { given: first, machine: false, note }, turn) : { action: hangup() };
  }
  if (attempt < tries) {
    return run(at, { given: { ...given, attempt: attempt + 1 }, machine, note }, turn);
  }
  return otherwise
    ? run(otherwise, { given: { ...given, attempt: 1 }, machine, note }, turn)
    : end();
};
