// A Cloudflare Worker that calls people with Twilio and lets a voice agent speak to them. See README.md.
import { connectAgent, leaveVoicemail, openaiRealtime, transferTo } from "outdial/agents";
import { callbackHandler, signUrl } from "outdial/callbacks";
import { redirect } from "outdial/calls";
import { calls, isException } from "outdial/fetch";
import { actionUrl, flowHandler, stream } from "outdial/flows";
import { twilio } from "outdial/twilio";

interface Env {
  readonly TWILIO_ACCOUNT_SID: string;
  readonly TWILIO_AUTH_TOKEN: string;
  /** The emulator. Left out, it is Twilio. */
  readonly TWILIO_BASE_URL?: string;
  readonly FROM_NUMBER: string;
  /** The origin at which Twilio reaches this Worker. */
  readonly PUBLIC_URL: string;
  /** Signs the URLs of each call. */
  readonly SIGNING_SECRET: string;
  /** Whoever has it may place calls. */
  readonly CALL_TOKEN: string;
  readonly AGENT_KEY: string;
  /** The number of a person whom the agent may connect the callee to. Left out, it has no such tool. */
  readonly TRANSFER_TO?: string;
  /** After so many seconds without a word the agent asks whether somebody is there. Left out, they are 10. */
  readonly IDLE_SECONDS?: string;
  /** Another address of the agent's service. Left out, it is OpenAI's. */
  readonly AGENT_URL?: string;
}

const serviceOf = ({ TWILIO_ACCOUNT_SID: accountSid, TWILIO_AUTH_TOKEN: authToken }: Env) =>
  twilio({ accountSid, authToken });

/** Digests are compared, so that the time depends on no secret. */
const digest = async (text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).join();

/** `POST /calls`: places a call to the number in the body. Every call costs you money, so it needs the token. */
const place = async (request: Request, env: Env): Promise<Response> => {
  const given = request.headers.get("authorization") ?? "";
  const isAllowed = (await digest(given)) === (await digest(`Bearer ${env.CALL_TOKEN}`));
  if (!env.CALL_TOKEN || !isAllowed) return new Response(null, { status: 401 });
  const sign = (path: string) =>
    signUrl(`${env.PUBLIC_URL}${path}`, { secret: env.SIGNING_SECRET });
  try {
    const call = await calls.create(
      {
        from_number: env.FROM_NUMBER,
        to_number: await request.text(), // `create` refuses anything that is not a number.
        flow_url: await sign("/flow"),
        status_callback_url: await sign("/status"),
      },
      {
        service: serviceOf(env),
        apiKey: env.TWILIO_AUTH_TOKEN,
        baseUrl: env.TWILIO_BASE_URL || undefined,
      },
    );
    return Response.json({ call_id: call.id }, { status: 201 });
  } catch (error) {
    if (!isException(error)) throw error;
    const { name, message, placed } = error;
    console.error(message); // It never contains the key or the numbers.
    // 503 invites the client to try again, which is safe only if no telephone has rung.
    return Response.json({ error: name, placed }, { status: placed === "no" ? 503 : 202 });
  }
};

/** `POST /status`: what became of a call. */
const status = (env: Env) =>
  callbackHandler({
    service: serviceOf(env),
    secret: env.SIGNING_SECRET,
    onEvent: ({ event }) => console.log(event.call_id, event.type),
  });

/** `POST /flow`: once somebody has answered, their audio goes to `/media`. */
const flow = (env: Env) =>
  flowHandler({
    service: serviceOf(env),
    secret: env.SIGNING_SECRET,
    onAnswer: async ({ call: { from_number, to_number } }) => {
      const url = `${env.PUBLIC_URL.replace(/^http/, "ws")}/media`;
      const context = { from_number, to_number };
      return stream(await signUrl(url, { secret: env.SIGNING_SECRET, context, expiresIn: 60 }));
    },
  });

/** Connects the callee to a person: the call continues at a URL that carries this, so any isolate answers it. */
const transferOf = (env: Env, to: string) =>
  transferTo(
    { person: { to, timeout: 30 } },
    {
      redirect: async ({ call_id }, action, { from_number, to_number }) => {
        const service = serviceOf(env);
        const secret = env.SIGNING_SECRET;
        const url = await actionUrl(`${env.PUBLIC_URL}/flow`, { secret, call_id, action, service });
        const call = {
          id: call_id,
          from_number: String(from_number),
          to_number: String(to_number),
        };
        const baseUrl = env.TWILIO_BASE_URL || undefined;
        await redirect(call, url, { service, apiKey: env.TWILIO_AUTH_TOKEN, baseUrl });
      },
    },
  );

/** `GET /media`: a Media Stream. Before its `start` is verified, no agent is connected. */
const media = ({ url, headers }: Request, env: Env): Response => {
  if (headers.get("upgrade") !== "websocket") return new Response(null, { status: 426 });
  const { 0: client, 1: socket } = new WebSocketPair();
  socket.accept();
  const agent = openaiRealtime({
    apiKey: env.AGENT_KEY,
    url: env.AGENT_URL || undefined,
    instructions: "Say at once that you are a machine. Answer in one or two short sentences.",
    tools: {
      leave_voicemail: leaveVoicemail({ message: "I am a machine. Please call us back." }),
      ...(env.TRANSFER_TO && { transfer: transferOf(env, env.TRANSFER_TO) }),
    },
  });
  connectAgent(socket, agent, {
    service: serviceOf(env),
    secret: env.SIGNING_SECRET,
    url,
    maxDuration: 300_000,
    idleTimeout: Number(env.IDLE_SECONDS || 10) * 1000,
    onIdle: async ({ count }, session) => {
      if (count <= 2) return session.reply("Ask in five words whether they are still there.");
      await session.reply("Say goodbye in five words.");
      await session.leave("gave_up");
    },
    onEnd: ({ reason, outcome }) => console.log("The agent's part is over:", outcome ?? reason),
    onError: (error) => console.error(String(error)),
  });
  return new Response(null, { status: 101, webSocket: client });
};

export default {
  fetch: async (request: Request, env: Env): Promise<Response> => {
    const route = `${request.method} ${new URL(request.url).pathname}`;
    if (route === "POST /calls") return place(request, env);
    if (route === "POST /status") return status(env)(request);
    if (route === "POST /flow") return flow(env)(request);
    if (route === "GET /media") return media(request, env);
    return new Response(null, { status: 404 });
  },
};
