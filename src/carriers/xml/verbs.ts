import type { AnyAction, Dial, Play, Stream } from "../../flows/actions.ts";
import { startParameters } from "../../flows/media/signed-start.ts";
import type { Prompt } from "../../flows/prompts.ts";
import { defaultMaxLength, type RecordAction } from "../../flows/record.ts";
import type { Gather, Say } from "../../flows/say.ts";
import { defaultEndSilence, type SpeechOptions } from "../../flows/speech.ts";
import type { Redirect } from "../../flows/webhooks.ts";
import { fail, isText } from "../../lib/check.ts";
import { utf8 } from "../../lib/encoding.ts";

type Attributes = Readonly<Record<string, string | undefined>>;

/** An element of XML. A text in it is never markup: `print` escapes it. */
interface Element {
  readonly name: string;
  readonly attributes: Attributes;
  readonly children: readonly (Element | string)[];
}

const element = (
  name: string,
  attributes: Attributes = {},
  ...children: Element["children"]
): Element => ({ name, attributes, children });

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\r": "&#xD;",
};

/** A text, spelled as Twilio's own builder spells it. */
const escaped = (text: string, special: RegExp): string =>
  text.replace(special, (character) => entities[character] ?? "");

const print = (node: Element | string): string => {
  if (typeof node === "string") return escaped(node, /[&<>\r]/g);
  const { name, attributes, children } = node;
  const written = Object.entries(attributes)
    .map(([key, value]) => (value === undefined ? "" : ` ${key}="${escaped(value, /[&<"]/g)}"`))
    .join("");
  const content = children.map(print).join("");
  return `<${name}${written}${content ? `>${content}</${name}>` : "/>"}`;
};

/** How the markup of one carrier differs from that of the others. */
export interface Dialect {
  /** The carrier, as its messages name it. */
  readonly carrier: string;
  /** Whether `<Connect>` has `action`: without it the verb after it is followed. */
  readonly connectHasAction: boolean;
  /** Attributes that each `<Stream>` has. */
  readonly streamAttributes?: Attributes;
  /** Attributes that each `<Dial>` has. */
  readonly dialAttributes?: Attributes;
  /** Attributes that each `<Record>` has. */
  readonly recordAttributes: Attributes;
  /** The attributes of a `<Say>` in a language. */
  readonly speechIn: (language: string) => Attributes;
  /** Why a text can't be spoken by one `<Say>`, as the end of a sentence; absent where every prompt's can be. */
  readonly spokenRule?: (text: string) => string | undefined;
  /** Whether a `<Gather>` may have a `<Pause>` in it. Otherwise the prompts up to the last pause come before it. */
  readonly gathersPauses: boolean;
  /** Why a `<Dial>` can't ring for so many seconds, as the end of a sentence. */
  readonly ringRule: (seconds: number) => string | undefined;
}

/** A URL as it is requested: ASCII without spaces, which any XML can hold. */
const urlOf = (url: string): string => new URL(url).href;

const hangup = element("Hangup");

const redirect = (flow_url: string): Element =>
  element("Redirect", { method: "POST" }, urlOf(flow_url));

const next = (flow_url: string | undefined): Element => (flow_url ? redirect(flow_url) : hangup);

/** The attributes of a verb after which the carrier requests a URL. */
const actionAt = (url: string | undefined) =>
  url === undefined ? {} : { action: urlOf(url), method: "POST" };

const play = ({ media_url, flow_url }: Play<string>): readonly Element[] => [
  element("Play", {}, urlOf(media_url)),
  next(flow_url),
];

const stream = (
  { ws_url, sample_rate, chunk_size, record, flow_url }: Stream<string>,
  { carrier, connectHasAction, streamAttributes }: Dialect,
): readonly Element[] => {
  if (sample_rate === "16k") fail("sample_rate", `must be "8k": ${carrier} has no other`);
  if (chunk_size !== undefined && chunk_size !== 20)
    fail("chunk_size", `must be 20: ${carrier} has no other`);
  if (record)
    fail("record", `must be false: ${carrier} records whole calls, by record of calls.create`);
  const { origin, pathname, search } = new URL(ws_url);
  const parameters = startParameters(search).map(([name, value]) =>
    element("Parameter", { name, value }),
  );
  const url = origin + pathname;
  const streamed = element("Stream", { url, ...streamAttributes }, ...parameters);
  return connectHasAction
    ? [element("Connect", actionAt(flow_url), streamed)]
    : [element("Connect", {}, streamed), next(flow_url)];
};

const dial = (
  { to, timeout, record, flow_url }: Dial<string>,
  ownUrl: string | undefined,
  { ringRule, dialAttributes }: Dialect,
): Element => {
  const rule = timeout === undefined ? undefined : ringRule(timeout);
  if (rule) fail("timeout", rule);
  if (/\p{C}/u.test(to)) fail("to", "must be without control characters");
  const attributes = {
    timeout: timeout?.toString(),
    ...dialAttributes,
    record: record ? "record-from-answer" : undefined,
    ...actionAt(ownUrl ?? flow_url),
  };
  return element("Dial", attributes, element(to.startsWith("+") ? "Number" : "Sip", {}, to));
};

const promptIn =
  (speech: Attributes, { spokenRule }: Dialect) =>
  (prompt: Prompt, at: number): Element => {
    if (isText(prompt)) {
      const rule = spokenRule?.(prompt);
      if (rule) fail("prompts", `number ${at + 1} ${rule}`);
      return element("Say", speech, prompt);
    }
    return "media_url" in prompt
      ? element("Play", {}, urlOf(prompt.media_url))
      : element("Pause", { length: String(prompt.pause_ms / 1000) });
  };

const promptsOf = (
  { prompts, language }: Say<string> | Gather<string> | RecordAction<string>,
  dialect: Dialect,
): readonly Element[] => prompts.map(promptIn(language ? dialect.speechIn(language) : {}, dialect));

/** The most keys of an answer. */
const maxDigits = 20;

/** The attributes of a `<Gather>` that takes speech. */
const speechOf = (
  { language, hints, end_silence_ms = defaultEndSilence }: SpeechOptions,
  spoken: string | undefined,
): Attributes => ({
  language: language ?? spoken,
  hints: hints?.join(", "),
  speechTimeout: String(end_silence_ms / 1000),
});

/** @param recordingUrl - where the carrier sends that it has the recording */
const record = (
  action: RecordAction<string>,
  recordingUrl: string | undefined,
  dialect: Dialect,
): readonly Element[] => {
  const { max_length_ms = defaultMaxLength, finish_on_key = "", silence_ms, flow_url } = action;
  const attributes = {
    maxLength: String(max_length_ms / 1000),
    ...(silence_ms !== undefined && { timeout: String(silence_ms / 1000) }),
    finishOnKey: finish_on_key,
    playBeep: "true",
    ...dialect.recordAttributes,
    ...(recordingUrl !== undefined && {
      recordingStatusCallback: urlOf(recordingUrl),
      recordingStatusCallbackMethod: "POST",
    }),
    ...actionAt(flow_url),
  };
  // Twilio goes on with the next verb where nothing was said.
  return [...promptsOf(action, dialect), element("Record", attributes), next(flow_url)];
};

/** What follows a `<Gather>` is performed when nothing came in: the same request, without `Digits`. */
const gather = (action: Gather<string>, dialect: Dialect): readonly Element[] => {
  const { digits, finish_on_key, speech, timeout_ms = 5000, flow_url } = action;
  const takesKeys = digits || finish_on_key;
  const prompts = promptsOf(action, dialect);
  const names = prompts.map(({ name }) => name);
  const from = dialect.gathersPauses ? 0 : names.lastIndexOf("Pause") + 1;
  const attributes = {
    input: [takesKeys && "dtmf", speech && "speech"].filter(Boolean).join(" "),
    ...(takesKeys && { numDigits: String(digits ?? maxDigits) }),
    ...(speech && speechOf(speech, action.language)),
    timeout: String(timeout_ms / 1000),
    ...(takesKeys && { finishOnKey: finish_on_key ?? "" }),
    ...actionAt(flow_url),
  };
  return [
    ...prompts.slice(0, from),
    element("Gather", attributes, ...prompts.slice(from)),
    next(flow_url),
  ];
};

const verbs = (
  action: AnyAction | Redirect,
  ownUrl: string | undefined,
  dialect: Dialect,
): readonly Element[] => {
  switch (action.action) {
    case "play":
      return play(action);
    case "stream":
      return stream(action, dialect);
    case "dial":
      return [dial(action, ownUrl, dialect)];
    case "redirect":
      return [redirect(action.flow_url)];
    case "hangup":
      return [hangup];
    case "say":
      return [...promptsOf(action, dialect), next(action.flow_url)];
    case "gather":
      return gather(action, dialect);
    case "record":
      return record(action, ownUrl, dialect);
  }
};

/** The most bytes of a document: the call ends where one has more. */
const maxDocument = 65_536;

/**
 * An action as the verbs of TwiML, or of TeXML, which has the same.
 *
 * @param ownUrl - the URL that decides what follows a `dial`, or that a recording comes to
 * @throws {BadParametersException} for what the carrier can't do, by the field
 */
export const documentOf = (
  action: AnyAction | Redirect,
  ownUrl: string | undefined,
  dialect: Dialect,
): string => {
  const response = element("Response", {}, ...verbs(action, ownUrl, dialect));
  const xml = `<?xml version="1.0" encoding="UTF-8"?>${print(response)}`;
  // Only prompts are long: each "&" of a text is five bytes.
  return utf8(xml).length > maxDocument
    ? fail("prompts", `must be at most 64 kB as XML: ${dialect.carrier} reads no more`)
    : xml;
};
