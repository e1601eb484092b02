import { keepBuilt, type RequestFlow } from "../calls/params.ts";
import { ServiceException } from "../errors.ts";
import { fail, fieldsOf, isText, withoutThrowing } from "../lib/check.ts";
import { type Prompt, wirePrompt } from "./prompts.ts";

/** What the request for a call can't have of an action, as each needs an application that is asked. */
const needsServer = ["next", "on_busy", "on_no_answer", "on_failure"] as const;

type NeedsServer = (typeof needsServer)[number];

/** The actions whose result an application is asked about. */
const asking: ReadonlySet<unknown> = new Set(["gather", "record"]);

const wayOut = "give flow_url, where flowHandler decides";

/** Digits of a text that may be a number or a code, in any script and whatever is between them. */
const digitRun = /\p{Nd}(?:[^\p{L}\p{Nd}]{0,3}\p{Nd}){2,}/gu;

/** A code as `spell` writes it. */
const spelledCode = /[\p{L}\p{N}](?:, [\p{L}\p{N}]){2,}/gu;

/** Characters of the parts in which a text is searched for, as a service may repeat a part of it. */
const partLength = 12;

/** The fewest characters of a part of a URL that is searched for alone: a shorter one is in other texts by chance. */
const shortestComponent = 8;

/** The most numbers of a text that has codes: each is searched for at every character of an answer. */
const maxCodes = 20;

/** The parts of a text that no exception may have: it is searched for in them. */
const partsOf = (text: string): readonly string[] =>
  text.replace(/\+/g, " ").match(new RegExp(`[^]{${partLength}}`, "g")) ?? [];

/** Whether a text has enough letters and digits: a shorter one is in other texts by chance. */
const isTelling = (text: string): boolean => text.replace(/[^\p{L}\p{N}]/gu, "").length > 2;

/** A code, and all of it but its first or its last character: a service may cut it short. A shorter one is in other texts by chance. */
const cut = (code: readonly string[]): readonly (readonly string[])[] =>
  code.length > 4 ? [code, code.slice(0, -1), code.slice(1)] : [code];

/** What no exception may have of a text: the whole, its parts, spelled codes, and its digits however they are separated. */
const secretsIn = (text: string): readonly string[] => {
  const numbers = text.match(digitRun) ?? [];
  const codes = text.match(spelledCode) ?? [];
  return [
    ...(isTelling(text) ? [text.replace(/^\+/, "")] : []),
    ...partsOf(text),
    ...codes.flatMap((code) => cut(code.split(", "))).map((code) => code.join(", ")),
    ...numbers
      .map((run) => [...run.replace(/\P{Nd}/gu, "")])
      .flatMap((digits) => (numbers.length > maxCodes ? [digits] : cut(digits)))
      .map((digits) => `+${digits.join("")}`),
  ];
};

/**
 * What no exception may have of a URL, which may be signed: all behind its host, and each part of that, as it is and decoded.
 * Its host alone is that of the application, and says nothing.
 */
const secretsOfUrl = (url: string): readonly string[] => {
  const [, rest = ""] = /^[^/]*\/\/[^/?#]*(.*)$/s.exec(url) ?? [];
  const components = rest.split(/[/?&#=]/).filter(({ length }) => length >= shortestComponent);
  const all = [...(isTelling(rest) ? [rest] : []), ...components];
  const decoded = all.flatMap((text) => withoutThrowing(() => decodeURIComponent(text)) ?? []);
  return [...all, ...decoded, ...components.flatMap(partsOf)];
};

/** An action that a builder has checked, as far as a request must know it. */
export interface BuiltAction extends Readonly<Partial<Record<NeedsServer, unknown>>> {
  readonly action: string;
  readonly prompts?: readonly Prompt[] | undefined;
  /** Whom a `dial` calls. */
  readonly to?: string | undefined;
  /** What a `play` plays, where a `stream` connects to, and where the flow continues. */
  readonly media_url?: string | undefined;
  readonly ws_url?: string | undefined;
  readonly flow_url?: string | undefined;
}

/** The refusal of a service that misses a `flow_url`, as it doesn't know the field `flow`. */
const explain = (refusal: unknown): Promise<never> => {
  const isUnknown =
    refusal instanceof ServiceException &&
    refusal.code === 422 &&
    /\bflow_url\b/.test(refusal.message);
  return Promise.reject(
    isUnknown
      ? new ServiceException("This service takes no flow in the request: give flow_url", refusal)
      : refusal,
  );
};

/** @throws {BadParametersException} for an action that can't be in a request */
const requestFlow = (action: BuiltAction, flow_url: string | undefined): RequestFlow => {
  const { action: name, prompts = [], to, media_url, ws_url, flow_url: inner } = action;
  if (flow_url !== undefined) fail("flow", "must be left out with flow_url");
  if (asking.has(name)) {
    fail("flow", `must not be a ${name} in the request, as its answer needs a server: ${wayOut}`);
  }
  const field = needsServer.find((each) => action[each] !== undefined);
  if (field) fail("flow", `must be without ${field}, which needs a server: ${wayOut}`);
  const audio = prompts.map((prompt) => fieldsOf(prompt).media_url);
  const urls = [media_url, ws_url, inner, ...audio].filter(isText);
  const secrets = [
    ...[to, ...prompts].filter(isText).flatMap(secretsIn),
    ...urls.flatMap(secretsOfUrl),
  ];
  return {
    secrets: [...new Set(secrets)],
    explain,
    toJSON: () => ({
      ...action,
      ...(action.prompts && { prompts: prompts.map(wirePrompt) }),
    }),
  };
};

/**
 * Keeps what the request for a call needs of an action: how outdial's own interface writes it, and what no exception may have.
 *
 * @param action - a new object, which is frozen: what was checked is what is sent
 */
export const inRequest = <A extends BuiltAction>(action: A): A => {
  const prompts = action.prompts?.map((prompt) =>
    isText(prompt) ? prompt : Object.freeze({ ...prompt }),
  );
  Object.freeze(Object.assign(action, prompts && { prompts: Object.freeze(prompts) }));
  keepBuilt(action, ({ flow_url }) => requestFlow(action, flow_url));
  return action;
};
