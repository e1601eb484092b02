import type { Action, Dial, Play, Stream } from "../flows/actions.ts";
import { fail } from "../lib/check.ts";

/** An element of XML. A text in it is never markup: `print` escapes it. */
interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string | undefined>>;
  readonly children: readonly (Element | string)[];
}

const element = (
  name: string,
  attributes: Element["attributes"] = {},
  ...children: Element["children"]
): Element => ({ name, attributes, children });

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => entities[character] ?? "");

const print = (node: Element | string): string => {
  if (typeof node === "string") return escaped(node);
  const { name, attributes, children } = node;
  const written = Object.entries(attributes)
    .map(([key, value]) => (value === undefined ? "" : ` ${key}="${escaped(value)}"`))
    .join("");
  const content = children.map(print).join("");
  return `<${name}${written}${content ? `>${content}</${name}>` : "/>"}`;
};

/** A URL as it is requested: ASCII without spaces, which any XML can hold. */
const urlOf = (url: string): string => new URL(url).href;

const hangup = element("Hangup");

const redirect = (flow_url: string): Element =>
  element("Redirect", { method: "POST" }, urlOf(flow_url));

const next = (flow_url: string | undefined): Element => (flow_url ? redirect(flow_url) : hangup);

/** The attributes of a verb after which Twilio requests a URL. */
const actionAt = (url: string | undefined) =>
  url === undefined ? {} : { action: urlOf(url), method: "POST" };

const play = ({ media_url, flow_url }: Play): readonly Element[] => [
  element("Play", {}, urlOf(media_url)),
  next(flow_url),
];

/** The most characters of a `<Parameter>` are 499, with its name: enough is left for escapes. */
const longest = 400;

/** Twilio drops the query of a `<Stream>`: parameters bring it with `start`, in pieces. */
const stream = ({ ws_url, sample_rate, chunk_size, record, flow_url }: Stream): Element => {
  if (sample_rate === "16k") fail("sample_rate", 'must be "8k": Twilio has no other');
  if (chunk_size !== undefined && chunk_size !== 20)
    fail("chunk_size", "must be 20: Twilio has no other");
  if (record)
    fail("record", "must be false: Twilio records whole calls, by record of calls.create");
  const { origin, pathname, search } = new URL(ws_url);
  const pieces = search.slice(1).match(new RegExp(`.{1,${longest}}`, "g")) ?? [];
  const parameters = pieces.map((value, at) =>
    element("Parameter", { name: `outdial.${at}`, value }),
  );
  const streamed = element("Stream", { url: origin + pathname }, ...parameters);
  return element("Connect", actionAt(flow_url), streamed);
};

const dial = (
  { to, timeout, record, flow_url }: Dial,
  branchesUrl: string | undefined,
): Element => {
  if (timeout !== undefined && timeout < 5)
    fail("timeout", "must be at least 5: Twilio rings no shorter");
  if (/\p{C}/u.test(to)) fail("to", "must be without control characters");
  const attributes = {
    timeout: timeout?.toString(),
    record: record ? "record-from-answer" : undefined,
    ...actionAt(branchesUrl ?? flow_url),
  };
  return element("Dial", attributes, element(to.startsWith("+") ? "Number" : "Sip", {}, to));
};

/** The action that only continues at another flow URL. */
export interface Redirect {
  readonly action: "redirect";
  readonly flow_url: string;
}

const verbs = (action: Action | Redirect, branchesUrl: string | undefined): readonly Element[] => {
  switch (action.action) {
    case "play":
      return play(action);
    case "stream":
      return [stream(action)];
    case "dial":
      return [dial(action, branchesUrl)];
    case "redirect":
      return [redirect(action.flow_url)];
    case "hangup":
      return [hangup];
  }
};

/**
 * An action as TwiML.
 *
 * @param branchesUrl - the URL that decides what follows a `dial`
 * @throws {BadParametersException} for what Twilio can't do, by the field
 * @see https://www.twilio.com/docs/voice/twiml
 */
export const twimlOf = (action: Action | Redirect, branchesUrl?: string): string =>
  `<?xml version="1.0" encoding="UTF-8"?>${print(element("Response", {}, ...verbs(action, branchesUrl)))}`;
