import { Client, calls } from "outdial/fetch";
import { twilio } from "outdial/twilio";
import type { Entry } from "../conformance/entries.ts";
import type { Answer } from "../peer/answer.ts";

const accountSid = "AC0123456789abcdef0123456789abcdef";

/** A body of outdial's own interface as Twilio sends it; anything else as it is. */
const inTwilio = (text: string): string => {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return text;
  }
  if (typeof body !== "object" || body === null || Array.isArray(body)) return text;
  const { data, id, detail, ...rest }: Readonly<Record<string, unknown>> = { ...body };
  const call = { ...(typeof data === "object" ? data : {}) } as Readonly<Record<string, unknown>>;
  const sid = call.id ?? id;
  return JSON.stringify({
    ...rest,
    ...call,
    ...(sid !== undefined && { sid }),
    ...(typeof detail === "string" && { message: detail }),
  });
};

const headersInTwilio = (headers: Readonly<Record<string, string>> = {}) =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      /^(x-)?request-id$/i.test(name) ? "twilio-request-id" : name,
      value,
    ]),
  );

const answerInTwilio = ({ json, body, headers, ...answer }: Answer): Answer => ({
  ...answer,
  headers: headersInTwilio(headers),
  ...(json === undefined ? body !== undefined && { body: inTwilio(body) } : {}),
  ...(json !== undefined && { json: JSON.parse(inTwilio(JSON.stringify(json))) }),
});

const reversed = (text: string): string => [...text].reverse().join("");

/** The URL of a peer that gives the same answers in Twilio's form. */
const peerInTwilio = (baseUrl: string): string =>
  baseUrl.replace(/(\/p\/\w+\/)([\w-]+)/, (_, start: string, encoded: string) => {
    const answers: readonly Answer[] = JSON.parse(
      Buffer.from(reversed(encoded), "base64url").toString(),
    );
    const ours = JSON.stringify(answers.map(answerInTwilio));
    return start + reversed(Buffer.from(ours, "latin1").toString("base64url"));
  });

/** A response in Twilio's form, once its body has come: one that stalls or breaks does so still. */
const responseInTwilio = (response: Response): Response => {
  if (!(response instanceof Response) || !response.body || response.redirected) return response;
  let text = "";
  const decoder = new TextDecoder();
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk) => {
        text += decoder.decode(chunk, { stream: true });
      },
      flush: (controller) => controller.enqueue(new TextEncoder().encode(inTwilio(text))),
    }),
  );
  const { status } = response;
  return new Response(body, {
    status,
    headers: headersInTwilio(Object.fromEntries(response.headers)),
  });
};

type Given = Readonly<Record<string, unknown>>;

const optionsInTwilio = (given: Given): Given => {
  if (typeof given !== "object" || given === null) return given;
  const { path: _, baseUrl, fetch, ...options } = given;
  return {
    ...options,
    ...(baseUrl !== undefined && {
      baseUrl: typeof baseUrl === "string" ? peerInTwilio(baseUrl) : baseUrl,
    }),
    ...(typeof fetch === "function"
      ? { fetch: async (...args: unknown[]) => responseInTwilio(await fetch(...args)) }
      : fetch !== undefined && { fetch }),
  };
};

const service = twilio({ accountSid });

/** `outdial/fetch` with Twilio, for cases that give the answers of outdial's own interface. */
export const entry: Entry = {
  entry: "outdial/fetch with Twilio",
  calls: {
    create: (params, options) =>
      calls.create(params, { service, ...optionsInTwilio(options as never) } as never),
  },
  Client: class extends Client {
    constructor(apiKey: never, options: never) {
      super(apiKey, { service, ...optionsInTwilio(options) } as never);
    }
  } as never,
};
