/** How the peer answers one request. */
export interface Answer {
  /** @defaultValue 200 */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** `{token}` becomes the credentials of the request's `Authorization`, as in headers. */
  readonly body?: string;
  /** How often the body is written. */
  readonly times?: number;
  /** Nothing at all, or the connection closed, in the place of an answer. */
  readonly instead?: "silence" | "drop";
  /** After the head and the body, the connection stalls or is closed. */
  readonly after?: "stall" | "drop";
  /** The connection stays open for the next request; otherwise each request has one of its own. */
  readonly keepAlive?: true;
}

/** One request as the peer saw it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly host: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A part of the peer that answers as asked, and what arrived there. */
export interface Part {
  readonly baseUrl: string;
  /** The requests that arrived, in order. */
  readonly seen: () => Promise<readonly Seen[]>;
}

const fetch = globalThis.fetch;

const backwards = (text: string): string => [...text].reverse().join("");

/** Backwards, as an answer may repeat the key: the client refuses a base URL with the key in base64. */
const encode = (answers: readonly Answer[]): string =>
  backwards(btoa(JSON.stringify(answers)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const decode = (encoded: string): readonly Answer[] =>
  JSON.parse(atob(backwards(encoded).replaceAll("-", "+").replaceAll("_", "/")));

/** The base URL of a part of the peer, with other answers; another URL as it is. */
export const inAnswers = (baseUrl: string, change: (answer: Answer) => Answer): string =>
  baseUrl.replace(
    /(\/p\/\w+\/)([\w-]+)/,
    (_, start: string, encoded: string) => start + encode(decode(encoded).map(change)),
  );

/** Gives a part of the peer of its own, which answers its first request by the first answer, and so on. */
export const answering = (peer: string, ...answers: readonly Answer[]): Part => {
  const id = Math.random().toString(36).slice(2);
  const encoded = encode(answers);
  return {
    baseUrl: `${peer}/p/${id}/${encoded}`,
    seen: async () => (await fetch(`${peer}/journal/${id}`)).json(),
  };
};
