import { fieldsOf, isRecord, isText } from "../../../lib/check.ts";
import { bytesOf } from "../../../lib/encoding.ts";
import type { Instruction, Then } from "../../../performer/instructions.ts";
import {
  type Effect,
  enqueue,
  type Output,
  ProtocolViolation,
  type SocketCodec,
} from "../../../performer/media-socket.ts";
import { Answers, objectOf } from "../../../server/media-messages.ts";
import { isSocketAllowed } from "../../../server/outgoing.ts";
import type { Fields } from "./call.ts";
import {
  type ActionContext,
  ask,
  beginning,
  fail,
  numberOf,
  type Translate,
  targetOf,
} from "./context.ts";
import { e164, type Next, type Target } from "./fields.ts";
import type { NccoAction } from "./ncco.ts";
import { ConnectedLeg } from "./notifications.ts";

/** Milliseconds of audio in one message. */
const frameDuration = 20;

/** Milliseconds of a key that the callee presses. */
const digitDuration = 260;

/** The sample rates that a socket may have. */
const sampleRates: ReadonlySet<number> = new Set([8_000, 16_000, 24_000]);

/** What a socket consists of. */
interface Socket {
  readonly id: string;
  readonly sampleRate: number;
  /** The `headers` of its endpoint. */
  readonly headers: Fields;
}

/** The bytes of a binary message; `undefined` for text. */
const bytesIn = (data: unknown): Uint8Array | undefined => {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  return data instanceof Uint8Array ? data : undefined;
};

/** The messages of Vonage's WebSockets: binary audio of 16 bits, and JSON. */
const webSocketCodec = ({ id, sampleRate, headers }: Socket): SocketCodec => {
  const frameBytes = (2 * sampleRate * frameDuration) / 1000;
  const answers = new Answers<object>();
  const json = (event: string, fields: Fields = {}): string =>
    JSON.stringify({ event: `websocket:${event}`, ...fields });

  const applyAudio = (bytes: Uint8Array, playout: Output, now: number): Effect => {
    if (bytes.length !== frameBytes) {
      throw new ProtocolViolation(
        `unexpected frame size ${bytes.length} bytes, when required ${frameBytes}`,
      );
    }
    const samples = new Int16Array(new Uint8Array(bytes).buffer);
    return enqueue(playout, samples, undefined, now);
  };

  return {
    stream_id: id,
    sides: ["callee"],
    sampleRate,
    frameDuration,
    opening: () => {
      const type = `audio/l16;rate=${sampleRate}`;
      return [json("connected", { "content-type": type, ...headers })];
    },
    encode: (samples) => {
      const bytes = bytesOf(samples);
      return () => bytes;
    },
    closing: () => [],
    apply: (data, playout, now) => {
      const bytes = bytesIn(data);
      if (bytes) return applyAudio(bytes, playout, now);
      if (!isText(data)) throw new TypeError("must be text or binary");
      const { action, payload } = objectOf(data, "must be JSON, or audio in a binary message");
      if (!isText(action)) throw new TypeError("action must be a string");
      if (action === "clear") {
        // The notifications of the audio are dropped with it.
        answers.dropMarks();
        answers.add(() => json("cleared"));
        return { type: "clear", samples: playout.clear(now) };
      }
      if (action !== "notify") return { type: "ignored", name: action };
      if (!isRecord(payload)) throw new TypeError("payload must be an object");
      answers.mark(payload, playout);
      return { type: "queued" };
    },
    due: (output, now) => answers.take(output, now, (payload) => json("notify", { payload })),
    nextDue: (output) => answers.nextDue(output),
    press: (digit) => {
      answers.add(() => json("dtmf", { digit, duration: digitDuration }));
    },
  };
};

/** How the events of a connected leg are sent. */
interface LegEvents {
  readonly leg: ConnectedLeg;
  readonly target: Target | undefined;
  /** Whether the response to a failure replaces the NCCO. */
  readonly isSynchronous: boolean;
}

const legOf = (
  action: NccoAction,
  context: ActionContext,
  from: string,
  to: string,
): LegEvents => ({
  leg: new ConnectedLeg(context.call, context.newUuid(), { from, to }),
  target: targetOf(context, action),
  isSynchronous: action.eventType === "synchronous" && action.eventUrl !== undefined,
});

/** Sends the event by which a leg failed: the response to a synchronous one may replace the NCCO. */
const sendFailure = async (
  context: ActionContext,
  events: LegEvents,
  fields: Fields,
): Promise<Then<Next>> => {
  const { leg, target, isSynchronous } = events;
  if (isSynchronous) return ask(context, target, fields);
  context.notify(leg.message(fields, { target, sign: context.sign }));
  return "next";
};

/** Calls a telephone or a SIP address. */
const dial = (action: NccoAction, context: ActionContext, to: string): Instruction<Next> => {
  const { served } = context.call;
  const { from = served.params.from_number.replace("+", "") } = action;
  if (!isText(from)) return fail(context, "connect.from", "must be a number");
  const events = legOf(action, context, from, to);
  const { leg, target } = events;
  const notify = (fields: Fields | undefined) => {
    if (fields) context.notify(leg.message(fields, { target, sign: context.sign }));
  };
  return {
    type: "dial",
    step: beginning(context, action),
    to,
    record: true,
    answerTimeout: numberOf(context, "connect.timeout", action.timeout, [1, 7_200], 60) * 1_000,
    maxDuration: numberOf(context, "connect.limit", action.limit, [1, 86_400], 7_200) * 1_000,
    onState: ({ state, reason }) => {
      if (state === "initiated") notify(leg.fields("started"));
      if (state === "ringing") notify(leg.fields("ringing"));
      if (state === "answered") {
        leg.answered();
        notify(leg.fields("answered"));
      }
      if (state === "completed") notify(leg.completedFields());
      // A leg that ends with its call decides nothing.
      if (state === "failed" && served.isOver) notify(leg.failedFields(reason));
    },
    next: async ({ reason, talkTime }) => {
      if (talkTime !== undefined || served.isOver) return "next";
      const failed = leg.failedFields(reason);
      const then = failed ? await sendFailure(context, events, failed) : "next";
      if (reason !== "rejected") notify(leg.completedFields());
      return then;
    },
  };
};

/** The headers of the handshake. */
const handshakeOf = (
  context: ActionContext,
  authorization: unknown,
): Readonly<Record<string, string>> | undefined => {
  const { type, value } = fieldsOf(authorization);
  if (type === "vonage") return { Authorization: `Bearer ${context.sign("")}` };
  return type === "custom" && isText(value) ? { Authorization: value } : undefined;
};

/** Connects a WebSocket until either side ends it. */
const connectSocket = (
  action: NccoAction,
  context: ActionContext,
  endpoint: Fields,
): Instruction<Next> => {
  const { call, step, signal, sign } = context;
  const { served } = call;
  const { uri, headers, authorization } = endpoint;
  const type = endpoint["content-type"] ?? "audio/l16;rate=16000";
  const sampleRate = Number(/^audio\/l16;\s*rate=(\d+)$/.exec(String(type))?.[1]);
  if (!sampleRates.has(sampleRate)) {
    const rule = "must be audio/l16;rate=8000, 16000 or 24000";
    return fail(context, "connect.endpoint.content-type", rule);
  }
  const field = "connect.endpoint.uri";
  if (!isText(uri) || !/^wss?:/i.test(uri)) return fail(context, field, "must be wss");
  if (!isSocketAllowed(uri, served.reach)) return fail(context, field, "must be wss");
  const events = legOf(action, context, served.params.from_number, uri);
  const { leg, target } = events;
  const notify = (fields: Fields) => context.notify(leg.message(fields, { target, sign }));
  const id = context.newUuid();
  return {
    type: "stream",
    step: beginning(context, action),
    open: () => {
      notify(leg.fields("started"));
      return {
        step,
        field,
        url: uri,
        headers: handshakeOf(context, authorization),
        record: true,
        onOpen: () => {
          leg.answered();
          notify(leg.fields("answered"));
          return webSocketCodec({ id, sampleRate, headers: fieldsOf(headers) });
        },
      };
    },
    next: async (error) => {
      let then: Then<Next> = "next";
      if (error) {
        if (served.isOver) throw error;
        then = await sendFailure(context, events, leg.fields("failed"));
        if (then === "next" && context.follower === undefined) throw error;
        served.log({ type: "flow_error", step, field, message: error.message });
      } else if (!served.isOver && !signal.aborted) {
        // The application has closed it.
        then = await sendFailure(context, events, leg.fields("disconnected"));
      }
      notify(leg.completedFields());
      return then;
    },
  };
};

/** Connects the callee to a telephone, a SIP address or a WebSocket. */
export const connect: Translate = (action, context) => {
  const list: unknown[] = Array.isArray(action.endpoint) ? action.endpoint : [];
  const endpoint = fieldsOf(list[0]);
  if (list.length !== 1) return fail(context, "connect.endpoint", "must be a list of one endpoint");
  const { type, number, uri } = endpoint;
  if (type === "websocket") return connectSocket(action, context, endpoint);
  if (type === "phone") {
    if (isText(number) && /^[1-9]\d{6,14}$/.test(number))
      return dial(action, context, e164(number));
    return fail(context, "connect.endpoint.number", "must be 7 to 15 digits, without + and 00");
  }
  if (type !== "sip")
    return fail(
      context,
      "connect.endpoint.type",
      `${type} is not emulated: give phone, sip or websocket`,
    );
  if (isText(uri) && /^sips?:[^\s<>"]+$/i.test(uri)) return dial(action, context, uri);
  return fail(context, "connect.endpoint.uri", "must be a SIP URI");
};
