import { type Call, calls } from "outdial";
import { callbackHandler, receive, signUrl } from "outdial/callbacks";
import { createEmulator } from "outdial/emulator";
import { flowHandler, hangup, streamSession } from "outdial/flows";
import { params } from "./params.ts";

// What each platform's own types must understand: its Request, Response, fetch and WebSocket.

const secret = "a secret that was made at random";
const baseUrl = "https://voice.test";

export const place = (signal: AbortSignal): Promise<Call> =>
  calls.create(params, { apiKey: "key", baseUrl, signal, fetch: (url, init) => fetch(url, init) });

export const status: (request: Request) => Promise<Response> = callbackHandler({
  secret,
  verify: (request, body) => request.headers.has("x-signature") && body.length > 0,
  onEvent: ({ event }) => event.known && event.data.to,
  onError: (error, { url }) => [error, url],
});

export const flow: (request: Request) => Promise<Response> = flowHandler({
  secret,
  onAnswer: () => hangup(),
});

export const read = async (request: Request): Promise<string> =>
  (await receive(request, { secret })).event.type;

export const signed = (): Promise<string> => signUrl("https://app.test/status", { secret });

export const speak = (socket: WebSocket): Promise<boolean> =>
  streamSession(socket, {}).audio(new Int16Array(160));

export const ask = (): Promise<Response> =>
  createEmulator({ fetch: status }).fetch(new Request(`${baseUrl}/health`));
