import { ServiceException } from "../errors.ts";
import { redactor } from "../http/redact.ts";
import { fieldsOf, isText, withoutThrowing } from "../lib/check.ts";
import type { ListedCause } from "../service.ts";
import type { LiveCall, LiveState } from "./call.ts";
import { explain } from "./explanations.ts";
import { readCall } from "./get.ts";
import { checkId, type Live, type OptionsOrClient, runLive } from "./live.ts";
import { lineOf, shownText } from "./shown-text.ts";

/** One thing that a service says went wrong in a call. */
export interface Cause {
  /** The service's own code for it: Twilio's error, such as `"11200"`, or the carrier's word for a call that failed. */
  readonly code?: string | undefined;
  /** The service's page about the code. */
  readonly link?: string | undefined;
  /** The service's explanation, on one line of at most 300 characters, without telephone numbers, codes, URLs beyond their hosts, and spoken texts. */
  readonly text?: string | undefined;
  /** `"warning"`: the call went on. */
  readonly level: "error" | "warning";
}

/** Why a call ended as it did. It has no key, no telephone number, no spoken text and no signed URL. */
export interface Why {
  /** The id that was given. */
  readonly id: string;
  /** How far the call has come. */
  readonly state: LiveState;
  /** Why it is over, as far as the service says it here. */
  readonly reason?: LiveCall["reason"];
  /** What the service says went wrong: errors first, at most 20. Empty where it says nothing. */
  readonly causes: readonly Cause[];
  /** `false`: the service has more to say, or its list of errors could not be read. */
  readonly complete: boolean;
  /** One paragraph: what came of the call, why, and the next step. */
  readonly explanation: string;
}

/** The most causes that are shown, and that are read. */
const most = 20;
const mostRead = 100;

/** What the object of a call says of why it ended: the carrier's word for a failure, and why the flow could not be followed. */
const causesOf = ({ state, raw }: LiveCall): readonly ListedCause[] => {
  const { status, flow_error } = fieldsOf(raw.data).id ? fieldsOf(raw.data) : raw;
  return [
    ...(isText(flow_error) ? [{ text: flow_error, isWarning: false }] : []),
    ...(state === "failed" && isText(status) ? [{ code: status, isWarning: false }] : []),
  ];
};

/** What a service lists of a call, if it does; after any failure nothing, as the call itself was read. */
const listedOf = async ({ service, settings, ask }: Live, id: string) => {
  const { causes } = service;
  if (!causes) return { causes: [], isWhole: true };
  return ask(causes.list(id, settings.baseUrl), {
    lacks: "a list of errors",
    read: async (_, json) => {
      const body = fieldsOf(await json());
      return withoutThrowing(() => causes.causesIn(body, id));
    },
  }).catch((error: unknown) => {
    if (error instanceof ServiceException) return { causes: [], isWhole: false };
    throw error;
  });
};

/** Each once. */
const distinct = (causes: readonly Cause[]): readonly Cause[] => [
  ...new Map(causes.map((cause) => [`${cause.level} ${cause.code} ${cause.text}`, cause])).values(),
];

const whyOf = async (live: Live, id: string): Promise<Why> => {
  const call = await readCall(live, id);
  const { state, reason, from_number, to_number } = call;
  const listed = await listedOf(live, id);
  const { secrets, pieces } = live.progress;
  // A pattern of more digits than a number has may take minutes, and fail with all of it, keys too, in its error.
  const numbers = [from_number, to_number].filter((number) => /^\+\d{7,15}$/.test(number));
  const redacted = (text: string): string | undefined =>
    redactor(secrets, numbers, pieces).redact(text) || undefined;
  const shown = (text: string | undefined): string | undefined => {
    const line = text && redacted(lineOf(text));
    return line && redacted(shownText(line));
  };
  /** A constant, which no telephone number, key or text is. */
  const constant = (text: string | undefined) =>
    text && /^(?!.*\d{6})[\w-]{1,40}$/.test(text) ? redacted(text) : undefined;
  const areas = new Map<Cause, ListedCause["area"]>();
  const said = [...causesOf(call), ...listed.causes].toSorted(
    (one, other) => Number(one.isWarning) - Number(other.isWarning),
  );
  const all = said.slice(0, mostRead).map((cause) => {
    const { link, text, isWarning, area } = cause;
    const [code, explained] = [constant(cause.code), shown(text)];
    const one: Cause = {
      ...(code && { code, ...(link && { link }) }),
      ...(explained && { text: explained }),
      level: isWarning ? "warning" : "error",
    };
    areas.set(one, area);
    return one;
  });
  const each = distinct(all.filter(({ code, text }) => code || text));
  const causes = each.slice(0, most);
  const complete = listed.isWhole && said.length <= mostRead && causes.length === each.length;
  const own = constant(reason);
  const known = { state, ...(own && { reason: own }), causes, complete };
  const [first] = causes;
  const area = first && areas.get(first);
  return { id, ...known, explanation: explain({ ...known, area }) };
};

/**
 * Says why a call ended as it did: what the service says of the call, and on Twilio the errors of its notifications. In
 * outdial's emulator of any service it names the step of the flow that failed, and the rule by which a handler refused the
 * request. It may be repeated. Twilio has a call's errors some seconds after the call.
 *
 * @param id - what `calls.create` gave: the `call_id` of its notifications
 * @param options - a client, or options as `create` takes them, with the whole service: `twilio({ … })`, not `twilioCalls({ … })`. Telnyx
 * also needs `accountSid`
 * @throws {BadParametersException} before any request: a rule is broken
 * @throws {ServiceException} any response but a call: 404 for an unknown id. If only the list of errors can't be read, `complete` is false
 * @throws {TimeoutException} the deadline passed
 * @throws {NetworkException} the connection failed. None of the exceptions has `placed`
 * @throws the reason of `options.signal`, when that aborts
 *
 * @example A handler that refuses the request for the flow
 * ```ts
 * import { create, why } from "outdial/calls";
 * import { createEmulator } from "outdial/emulator";
 * import { flowHandler, hangup } from "outdial/flows";
 *
 * const flow = flowHandler({ secret: crypto.randomUUID(), onAnswer: () => hangup(), onError: () => {} });
 * const emulator = createEmulator({ clock: "instant", fetch: flow });
 * const options = { apiKey: emulator.apiKey, baseUrl: "https://emulator.test", fetch: emulator.fetch };
 * const { id } = await create(
 *   {
 *     from_number: "+12025550199",
 *     to_number: "+12025550100",
 *     flow_url: "https://app.test/flow", // not signed by signUrl
 *     status_callback_url: "https://app.test/status",
 *   },
 *   options,
 * );
 * await emulator.ended(id);
 * const { reason, causes, explanation } = await why(id, options);
 * console.log(reason, causes[0]?.text); // flow_error step 1: flow_url answered HTTP 401 (outdial-refused: no_token)
 * console.log(explanation.endsWith("sign it with signUrl.")); // true
 * ```
 * @see docs/why-did-it-fail.md
 */
export const why = (id: string, options: OptionsOrClient): Promise<Why> =>
  runLive(options, () => {
    const checked = checkId(id);
    return { texts: [checked], run: (live) => whyOf(live, checked) };
  });
