import { failedHeader, refusalSentence, refusedHeader } from "../callbacks/errors.ts";
import type { EventData } from "../callbacks/event.ts";
import type { CauseArea } from "../service.ts";
import type { LiveState } from "./call.ts";

/** The literals of a union that also has any other string. */
type Literal<T> = T extends string ? (string extends T ? never : T) : never;

/** A reason that outdial has words for. */
export type KnownReason = Literal<EventData["reason"]>;

/** What something means, and the next step. */
type Words = readonly [means: string, next: string];

/** What each reason means. */
export const reasonWords: Readonly<Record<KnownReason, Words>> = {
  normal: [
    "The call was answered, and ended as a call does: its flow was over, or somebody hung up.",
    "If the callee heard something else than you expect, read what your handler answered at that time.",
  ],
  flow_error: [
    "The call was answered, but its flow could not be followed.",
    "Read the log of your server at that time, mend what the flow answers, and place a new call.",
  ],
  max_duration: [
    "The call was answered, and reached the longest time that a call may last.",
    "Let the flow end before that time, or raise the limit where you set it: the service, or a dial with max_duration.",
  ],
  busy: [
    "The line of the callee was busy.",
    "Call again some minutes later; a list does it by itself.",
  ],
  no_answer: [
    "The telephone rang, and nobody answered in time; some carriers say so of a call that was declined, too.",
    "Call again at another hour, or let it ring longer.",
  ],
  rejected: [
    "The callee or their network declined the call.",
    "Don't call again at once. If many calls are declined, ask the service how your from_number is shown, and whether it is marked as spam.",
  ],
  unreachable: [
    "The call came to no telephone: the number is not in use, it is switched off, or the account may not call there.",
    "Check the number with its country code, then the account's permissions for that country and its balance.",
  ],
  canceled: [
    "The call was ended before anybody answered.",
    "Look for what ended it: end of outdial/calls, outdial end, outdial stop, or the service's console.",
  ],
  lost: [
    "Nobody saw how the call ended, as the service or its exchange died: the telephone may have rung.",
    "Don't call again by itself: ask the callee, or read the log of the service at that time.",
  ],
};

/** What each state means, where the service gives no reason. */
const stateWords: Readonly<Record<LiveState, Words>> = {
  initiated: [
    "The call is not over: the service dials.",
    "Ask again once it is over, which ended of outdial/calls waits for.",
  ],
  ringing: [
    "The call is not over: the telephone rings.",
    "Ask again once it is over, which ended of outdial/calls waits for.",
  ],
  answered: [
    "The call is not over: somebody has answered.",
    "Ask again once it is over, which ended of outdial/calls waits for.",
  ],
  completed: reasonWords.normal,
  failed: [
    "The call was never answered, and the service gives no reason here.",
    "Read its last notification at status_callback_url, which may say more.",
  ],
};

/** What an error of each area means. */
export const areaWords: Readonly<Record<CauseArea, Words>> = {
  request: [
    "The service got no usable answer from a URL of the flow.",
    "Look in the log of your server for that request: it must answer with 200, in time, at a public URL with a valid certificate.",
  ],
  document: [
    "What your server answered is no document that the service reads.",
    "Answer with flowHandler and the option service of this carrier, and let nothing on the way change the body or its type.",
  ],
  step: [
    "A step of the flow could not be performed.",
    "Read the page of the code, and mend the action: a number, a URL or a text of it breaks a rule of the service.",
  ],
  notification: [
    "A notification did not reach your server; the call itself was not changed by it.",
    "Answer requests at status_callback_url with 204, as callbackHandler does.",
  ],
  stream: [
    "The audio of a stream could not be exchanged with your server.",
    "Check that its wss URL is public, and that the server accepts the WebSocket and the service's messages.",
  ],
  number: [
    "The service refused a number, or a call to it.",
    "Check the number, and the account's permissions for that country.",
  ],
};

/** What is known of a call, all of it fit to be shown. */
interface Known {
  readonly state: LiveState;
  readonly reason?: string | undefined;
  readonly causes: readonly {
    readonly code?: string | undefined;
    readonly text?: string | undefined;
    readonly level: "error" | "warning";
  }[];
  /** What the first cause is about. */
  readonly area: CauseArea | undefined;
  readonly complete: boolean;
}

const isKnown = (reason: string | undefined): reason is KnownReason =>
  reason !== undefined && Object.hasOwn(reasonWords, reason);

/** The sentence about a handler of outdial that has refused the request, or hung up as a function failed, if a text says that. */
const ownIn = (text = ""): string | undefined => {
  if (text.includes(`${failedHeader}: `)) {
    return "Your own handler hung up, as a function of yours threw or was late, or its action broke a rule. Read onError, or your log, at the time of the call.";
  }
  const [, reason = ""] = new RegExp(`${refusedHeader}: ([a-z_]+)`).exec(text) ?? [];
  const sentence = refusalSentence(reason);
  return sentence && `Your own handler refused the request (${reason}). ${sentence}`;
};

/** The words for what came of a call: after an error, an end that looks normal was none. */
const wordsFor = ({ state, reason, causes: [cause], area }: Known): Words => {
  const isNormal = state === "completed" && (!reason || reason === "normal");
  const failed = cause?.level === "error" && area !== "notification";
  if (isNormal && failed) return reasonWords.flow_error;
  return isKnown(reason) ? reasonWords[reason] : stateWords[state];
};

/** A cause as a sentence; the code of one without a text is a word, such as `busy`. */
const sentenceOf = ({ code, text, level }: Known["causes"][number]): string => {
  if (text === undefined && code && !/\d/.test(code)) return `The service's word for it: ${code}.`;
  const said = [code, text && `"${text}"`].filter(Boolean).join(", ");
  return `The service's ${level}: ${said}.`;
};

/** One paragraph: what came of a call, why, and the next step. */
export const explain = (known: Known): string => {
  const { reason, causes, area, complete } = known;
  const [means, next] = wordsFor(known);
  const [cause] = causes;
  const own = ownIn(cause?.text);
  const [areaMeans, areaNext] = area ? areaWords[area] : ["", next];
  const word = reason && !isKnown(reason) && `The service's own word for the reason: ${reason}.`;
  return [
    means,
    word,
    cause && sentenceOf(cause),
    own ? "" : areaMeans,
    own ?? areaNext,
    !complete && "The service may say more: its list of errors could not be read as a whole.",
  ]
    .filter(Boolean)
    .join(" ");
};
