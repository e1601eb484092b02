//~ !light
import { Client, isException } from "outdial";
//~ end
//~ light: import { Client, isException } from "outdial/fetch";
//~ redirects: import { redirect } from "outdial/calls";
import { callbackHandler, isFinal, type Received, signUrl } from "outdial/callbacks";
//~ !redirects
import { flowHandler, gather, pause, say } from "outdial/flows";
//~ end
//~ redirects: import { flowHandler, gather, machineUrl, pause, say } from "outdial/flows";
//~ carrier: import { {name} } from "outdial/{name}";

/** The settings. See .env.example for each. */
export type Env = Readonly<Record<string, string | undefined>>;

/** What a test replaces. */
interface Replacements {
  /** Sends the requests to the service. */
  readonly fetch?: typeof globalThis.fetch;
  readonly onEvent?: (event: Received["event"]) => void;
  /** Called with what somebody has pressed: `"1"` or `"2"`. */
  readonly onReply?: (call_id: string, reply: string) => void | Promise<void>;
}

const defaults = {
  // At the end with why it ended: normal, busy, no_answer, …
  onEvent: (event: Received["event"]) =>
    console.log(event.type, event.call_id, isFinal(event) ? event.data.reason : ""),
  // Save it here. The same reply may come twice.
  onReply: (call_id: string, reply: string) => console.log("reply", call_id, reply),
};

const setting = (env: Env, name: string): string => {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set: see .env.example`);
  return value;
};

/** Digests are compared, so that the time depends on no secret. */
const digest = async (text: string): Promise<string> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).join();

/** The number in `{ "to_number": "+12025550100" }`; `create` refuses anything that is not a number. */
const numberIn = (body: unknown): string =>
  typeof body === "object" && body && "to_number" in body && typeof body.to_number === "string"
    ? body.to_number
    : "";

/** The application: `POST /call` places a call, and the service sends its requests to `/status` and `/flow`. */
export const createApp = (
  env: Env,
  { fetch, onEvent = defaults.onEvent, onReply = defaults.onReply }: Replacements = {},
): ((request: Request) => Promise<Response>) => {
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
  //~ carrier:   machineDetection: "message", // waits for the end of a machine's greeting
  //~ carrier: });
  //~ carrier: const baseUrl = env.OUTDIAL_BASE_URL; // the emulator's; empty for {label} itself
  //~ carrier: const options = { service, ...(baseUrl && { baseUrl }), ...(fetch && { fetch }) };
  //~ carrier: const client = new Client(apiKey, options);
  const from_number = setting(env, "FROM_NUMBER");
  const publicUrl = setting(env, "PUBLIC_URL");
  const secret = setting(env, "SIGNING_SECRET");
  const token = setting(env, "CALL_TOKEN");

  //~ redirects: const redirectToMachine = async (event: Received["event"]) => {
  //~ redirects:   if (!event.known || event.type !== "call.machine_detected" || !event.data.beep) return;
  //~ redirects:   const { from: from_number = "", to: to_number = "", answered_by = "" } = event.data;
  //~ redirects:   const url = await machineUrl(`${publicUrl}/flow`, { secret, answered_by });
  //~ redirects:   await redirect({ id: event.call_id, from_number, to_number }, url, { apiKey, ...options });
  //~ redirects: };
  //~ redirects:
  //~ !carrier
  const status = callbackHandler({ secret, onEvent: ({ event }) => onEvent(event) });
  //~ end
  //~ carrier: const status = callbackHandler({
  //~ carrier:   service,
  //~ carrier:   secret,
  //~ carrier:   publicUrl: `${publicUrl}/status`,
  //~ waits:   onEvent: ({ event }) => onEvent(event),
  //~ redirects:   onEvent: async ({ event }) => {
  //~ redirects:     onEvent(event);
  //~ redirects:     await redirectToMachine(event);
  //~ redirects:   },
  //~ carrier: });

  const reminder = "This is an automated reminder: your appointment is tomorrow at nine.";
  const flow = flowHandler({
    //~ carrier: service,
    secret,
    //~ carrier: publicUrl: `${publicUrl}/flow`,
    // Somebody has answered. Also: play("https://…/hello.wav"), dial("+1…"), stream("wss://…").
    onAnswer: () =>
      gather([reminder, "Press 1 to confirm, or 2 to cancel."], {
        digits: 1,
        as: "reply",
        on: { 1: "confirm", 2: "cancel" },
        tries: 3, // Silence and other keys are no answer.
        otherwise: "bye",
      }),
    //~ !carrier
    // A machine has answered, and the carrier detects machines. outdial's own interface detects none.
    //~ end
    //~ redirects: // A machine has answered: redirectToMachine leads the call here after the beep.
    //~ waits: // A machine has answered, and its greeting is over.
    onMachine: () => say([pause(1_000), reminder, "Please call us back."]),
    onInput: ({ call, answers }) => answers.reply && onReply(call.call_id, answers.reply),
    steps: {
      confirm: () => say("Thank you. Your appointment is confirmed."),
      cancel: () => say("Your appointment is cancelled."),
      bye: () => say("Goodbye."),
    },
  });

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
        to_number: numberIn(await request.json().catch(() => undefined)),
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

  return async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/call") return place(request);
    if (pathname === "/status") return status(request);
    if (pathname === "/flow") return flow(request);
    return new Response(null, { status: 404 });
  };
};
