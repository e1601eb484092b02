import { Client, isException } from "outdial";
import {
  type Agent,
  connectAgent,
  leaveVoicemail,
  openaiRealtime,
  type SessionEnd,
  type SessionOptions,
  type Tools,
  transferTo,
} from "outdial/agents";
//~ !verifiesStart
import { callbackHandler, isFinal, type Received, signUrl, verifyUrl } from "outdial/callbacks";
//~ end
//~ verifiesStart: import { callbackHandler, isFinal, type Received, signUrl } from "outdial/callbacks";
import { type Dial, flowHandler, hangup, type MediaSocket, stream } from "outdial/flows";
//~ carrier: import { {name} } from "outdial/{name}";

/** The settings. See .env.example for each. */
export type Env = Readonly<Record<string, string | undefined>>;

/** What a test replaces. */
interface Replacements {
  /** Sends the requests to the service. */
  readonly fetch?: typeof globalThis.fetch;
  /** Makes the agent. */
  readonly makeAgent?: (tools: Tools) => Agent;
  /** Books a time, such as `"Monday at nine"`. */
  readonly book?: (time: string) => Promise<string>;
  readonly onEvent?: (event: Received["event"]) => void;
  /** Called with how a conversation ended: `outcome` is `"message_left"` or `"transferred"`. */
  readonly onEnd?: (end: SessionEnd) => void;
}

const defaults = {
  // Book it here.
  book: async (time: string) => `${time} is booked`,
  onEvent: (event: Received["event"]) =>
    console.log(event.type, event.call_id, isFinal(event) ? event.data.reason : ""),
  onEnd: ({ reason, outcome }: SessionEnd) => console.log("conversation", reason, outcome ?? ""),
};

const setting = (env: Env, name: string): string => {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set: see .env.example`);
  return value;
};

/** Digests are compared, so that the time depends on no secret. */
const digest = async (text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).join();

/** A text in a JSON object that somebody else has written. */
const textIn = (body: unknown, name: string): string => {
  const value: unknown = Object(body)[name];
  return typeof value === "string" ? value : "";
};

const instructions = `You call for Example Travel to book a callback. Begin with: "This is an automated call of
Example Travel." Ask which time suits, book it, confirm it, and say goodbye. If they want a person, transfer them to the desk.
If a recording answers, leave a voicemail.`;

/**
 * The application: `POST /call` places a call, and the service sends its requests to `/status` and `/flow`, and the audio of
 * the call to `/media`.
 */
export const createApp = (env: Env, replacements: Replacements = {}) => {
  const { fetch, makeAgent, book, onEvent, onEnd } = { ...defaults, ...replacements };
  //~ !carrier
  const client = new Client(setting(env, "OUTDIAL_API_KEY"), {
    baseUrl: setting(env, "OUTDIAL_BASE_URL"),
    ...(fetch && { fetch }),
  });
  //~ end
  //~ carrier: const apiKey = setting(env, "OUTDIAL_API_KEY");
  //~ carrier: const service = {name}({
  //~ carrier:   {accountField}: setting(env, "OUTDIAL_ACCOUNT"),
  //~ carrier:   {verifiedBy}: {verifier}, // verifies who sends a request
  //~ carrier: });
  //~ carrier: const baseUrl = env.OUTDIAL_BASE_URL; // the emulator's; empty for {label} itself
  //~ carrier: const options = { service, ...(baseUrl && { baseUrl }), ...(fetch && { fetch }) };
  //~ carrier: const client = new Client(apiKey, options);
  const from_number = setting(env, "FROM_NUMBER");
  const desk = setting(env, "DESK_NUMBER");
  const publicUrl = setting(env, "PUBLIC_URL");
  const secret = setting(env, "SIGNING_SECRET");
  const token = setting(env, "CALL_TOKEN");

  // In one process. With several of them: a store that all of them read.
  const transfers = new Map<string, Dial>();

  const tools: Tools = {
    book: {
      description: "Books the time that the callee has chosen.",
      parameters: { type: "object", properties: { time: { type: "string" } }, required: ["time"] },
      run: (args) => book(textIn(args, "time")),
    },
    leave_voicemail: leaveVoicemail({ message: "Example Travel here. Please call us back." }),
    transfer: transferTo(
      { desk: { to: desk, timeout: 20 } },
      { decide: ({ call_id }, action) => void transfers.set(call_id, action) },
    ),
  };
  const agent =
    makeAgent?.(tools) ??
    openaiRealtime({ apiKey: setting(env, "OPENAI_API_KEY"), instructions, tools });

  //~ !carrier
  const status = callbackHandler({ secret, onEvent: ({ event }) => onEvent(event) });
  //~ end
  //~ carrier: const status = callbackHandler({
  //~ carrier:   service,
  //~ carrier:   secret,
  //~ carrier:   publicUrl: `${publicUrl}/status`,
  //~ carrier:   onEvent: ({ event }) => onEvent(event),
  //~ carrier: });

  const mediaUrl = `${publicUrl.replace(/^http/, "ws")}/media`;
  const flow = flowHandler({
    //~ carrier: service,
    secret,
    //~ carrier: publicUrl: `${publicUrl}/flow`,
    // Somebody has answered: the agent talks to them.
    onAnswer: async () =>
      stream(await signUrl(mediaUrl, { secret }), { next: "afterAgent", chunk_size: 20 }),
    steps: {
      afterAgent: ({ call }) => transfers.get(call.call_id) ?? hangup(),
    },
  });

  /** What `connect` needs for a media socket at a URL; nothing for one that is refused. */
  const accept = async (url: string): Promise<SessionOptions | undefined> => {
    const { pathname } = new URL(url, publicUrl);
    if (pathname !== "/media") return;
    //~ !verifiesStart
    const context = await verifyUrl(url, { secret }).catch(() => undefined);
    return context && { context };
    //~ end
    //~ verifiesStart: return { secret, url }; // {label} sends the token with the first message.
  };

  /** Connects a media socket to the agent. */
  const connect = (socket: MediaSocket, accepted: SessionOptions) =>
    //~ !carrier
    connectAgent(socket, agent, { ...accepted, onEnd });
  //~ end
  //~ carrier:   connectAgent(socket, agent, { service, ...accepted, onEnd });

  const place = async (request: Request): Promise<Response> => {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const given = request.headers.get("authorization") ?? "";
    // Everybody can reach this URL, and every call costs money.
    if ((await digest(given)) !== (await digest(`Bearer ${token}`))) {
      return new Response(null, { status: 401 });
    }
    try {
      const call = await client.calls.create({
        from_number,
        to_number: textIn(await request.json().catch(() => undefined), "to_number"),
        flow_url: await signUrl(`${publicUrl}/flow`, { secret }),
        status_callback_url: await signUrl(`${publicUrl}/status`, { secret }),
        record: false,
      });
      return Response.json({ call_id: call.id }, { status: 201 });
    } catch (error) {
      if (!isException(error)) throw error;
      console.error(error.message); // It contains neither the key nor the numbers.
      const { name, placed } = error;
      // 202: a telephone may ring, so do not repeat the request.
      const code = placed === "maybe" ? 202 : name === "BadParametersException" ? 400 : 503;
      return Response.json({ error: name, placed }, { status: code });
    }
  };

  return {
    fetch: async (request: Request): Promise<Response> => {
      const { pathname } = new URL(request.url);
      if (pathname === "/call") return place(request);
      if (pathname === "/status") return status(request);
      if (pathname === "/flow") return flow(request);
      return new Response(null, { status: 404 });
    },
    accept,
    connect,
  };
};
