// What pipecat sends and reads on a media socket: its runner (`parse_telephony_websocket`), its serializers, and its
// transport, which writes 40 ms of audio at a time. The JSON is spelled as Python's `json.dumps` does.
import { expect, test } from "vitest";
import type { WebSocket } from "ws";
import type { Emulator } from "../../src/emulator/index.ts";
import { encodeMulaw } from "../../src/lib/mulaw.ts";
import * as telnyx from "../telnyx/stage.ts";
import * as twilio from "../twilio/stage.ts";
import * as vonage from "../vonage/stage.ts";
import { answering, from, listenForSockets, startEmulator, streamOf } from "./stage.ts";

/** Python's `json.dumps`, for what is sent here. */
const dumps = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `"${name}": ${dumps(field)}`);
  return `{${fields.join(", ")}}`;
};

/** What a bot has got. */
interface Heard {
  /** What the runner has read of the first messages. */
  callData?: Readonly<Record<string, unknown>>;
  /** Bytes of each `InputAudioRawFrame`. */
  readonly audio: number[];
  readonly digits: string[];
  readonly events: string[];
}

/** Ends the call, or its socket: an `EndFrame`, once the callee presses #. */
type End = (heard: Heard) => unknown;

type Bot = (socket: WebSocket, heard: Heard, end: End) => void;

interface Start {
  readonly streamSid?: string;
  readonly callSid?: string;
  readonly customParameters?: object;
  readonly call_control_id?: string;
  readonly media_format?: object;
  readonly from?: string;
  readonly to?: string;
}

/** What its runner reads of `start`, by which it detects the carrier. */
type Detect = (start: Start, streamId: unknown) => Record<string, unknown> & { call_id: unknown };

/** Its `TwilioFrameSerializer` and `TelnyxFrameSerializer`; the second names no stream. */
const mulawBot =
  (detect: Detect, namesStream: boolean): Bot =>
  (socket, heard, end) => {
    const first: object[] = [];
    const send = (message: object) => {
      const stream = namesStream ? { streamSid: heard.callData?.stream_id } : {};
      socket.send(dumps({ ...message, ...stream }));
    };
    const begin = (start: Start = {}, streamId: unknown) => {
      expect(first[0]).not.toHaveProperty("start");
      heard.callData = detect(start, streamId);
      const { stream_id, call_id } = heard.callData;
      if (!stream_id || !call_id) throw new Error("Auto-detection failed - unknown format");
      // `AudioRawFrame`
      const bytes = Buffer.from(encodeMulaw(new Int16Array(320).fill(9_000)));
      const media = { payload: bytes.toString("base64") };
      for (let sent = 0; sent < 10_000; sent += 40) send({ event: "media", media });
    };
    socket.on("message", (data) => {
      const message = JSON.parse(String(data));
      const { event, media, dtmf } = message;
      if (first.push(message) === 2) return begin(message.start, message.stream_id);
      if (event === "media") heard.audio.push(Buffer.from(media.payload, "base64").length);
      if (event !== "dtmf") return;
      heard.digits.push(dtmf.digit);
      // `InterruptionFrame`
      send({ event: "clear" });
      if (dtmf.digit === "#") end(heard);
    });
  };

const packet = 640;

/** Its `VonageFrameSerializer`, and its transport with `fixed_audio_packet_size=640`. */
const vonageBot: Bot = (socket, heard, end) => {
  let buffer: Buffer = Buffer.alloc(0);
  /** `AudioRawFrame`: the transport cuts it into packets, and keeps the rest. */
  const say = (bytes: number) => {
    const samples = new Int16Array(bytes / 2).fill(9_000);
    buffer = Buffer.concat([buffer, new Uint8Array(samples.buffer)]);
    for (; buffer.length >= packet; buffer = buffer.subarray(packet)) {
      socket.send(buffer.subarray(0, packet));
    }
  };
  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) return void heard.audio.push(data.length);
    const { event, digit, dtmf } = JSON.parse(String(data));
    heard.events.push(event);
    if (event === "websocket:connected") {
      // 40 ms at a time, resampled: never a whole number of packets.
      for (let sent = 0; sent < 10_000; sent += 40) say(1_280 + (sent % 80 === 0 ? 2 : -2));
      // `OutputTransportMessageFrame`
      socket.send('{"action": "notify", "payload": {"part": "greeting"}}');
    }
    if (event === "websocket:dtmf") {
      heard.digits.push(String(digit ?? dtmf?.digit));
      socket.send('{"action": "clear"}');
    }
    if (event === "websocket:cleared" && heard.digits.at(-1) === "#") end(heard);
  });
};

interface Row {
  readonly name: string;
  readonly carrier: (typeof twilio.carrier | typeof vonage.carrier)["emulated"];
  readonly bot: Bot;
  /** Places a call whose document connects it with the bot, and returns its id. */
  readonly place: (url: string, baseUrl: string, emulator: Emulator) => Promise<string>;
  /** Hangs up by REST; without it the bot closes its socket. */
  readonly hangUp?: (baseUrl: string, callId: string) => Promise<unknown>;
  readonly audio: number;
  /** What else it has got. */
  readonly heard: (id: string) => object;
}

/** The document with which its runner answers the webhook. */
const documentOf = (url: string, attributes = "", inside = "") =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<Response>\n  <Connect>\n    <Stream url="${url}"${attributes}>${inside}</Stream>\n  </Connect>\n</Response>`;

const rows: readonly Row[] = [
  {
    name: "twilio",
    carrier: twilio.carrier.emulated,
    bot: mulawBot(
      ({ streamSid: stream_id, callSid: call_id, customParameters: body }) => ({
        ...{ stream_id, call_id, body },
      }),
      true,
    ),
    place: async (url, baseUrl) => {
      const parameter = `<Parameter name="to_number" value="${answering}"/>`;
      const document = documentOf(url, "", parameter);
      const { origin } = await twilio.startApplication({ "/": document });
      return twilio.carrier.place(baseUrl, { Url: `${origin}/` });
    },
    hangUp: async (baseUrl, callId) => {
      const path = `/2010-04-01/Accounts/${twilio.accountSid}/Calls/${callId}.json`;
      const Authorization = `Basic ${btoa(`${twilio.accountSid}:${twilio.authToken}`)}`;
      const body = new URLSearchParams({ Status: "completed" });
      const init = { method: "POST", headers: { Authorization }, body };
      expect((await fetch(baseUrl + path, init)).status).toBe(200);
    },
    audio: 160,
    heard: (call_id) => ({ callData: { call_id, body: { to_number: answering } } }),
  },
  {
    name: "telnyx",
    carrier: telnyx.carrier.emulated,
    bot: mulawBot(
      ({ call_control_id: call_id, media_format, from, to }, stream_id) => ({
        ...{ stream_id, call_id, media_format, from, to },
      }),
      false,
    ),
    place: async (url, baseUrl) => {
      const document = documentOf(url, ' bidirectionalMode="rtp"');
      const { origin } = await telnyx.startApplication({ "/": document });
      return telnyx.carrier.place(baseUrl, { Url: `${origin}/` });
    },
    audio: 160,
    heard: (call_id) => ({
      callData: { call_id, media_format: { encoding: "PCMU" }, from, to: answering },
    }),
  },
  {
    name: "vonage",
    carrier: vonage.carrier.emulated,
    bot: vonageBot,
    place: async (uri, baseUrl, { apiKey }) => {
      const endpoint = [{ type: "websocket", uri, "content-type": "audio/l16;rate=16000" }];
      const answers = { "/answer": [{ action: "connect", endpoint }] };
      const { origin } = await vonage.startApplication(answers);
      return vonage.place(vonage.clientFor(baseUrl, apiKey), vonage.callOf(origin));
    },
    audio: packet,
    // The notification of the audio was dropped with it.
    heard: () => ({
      events: [
        "websocket:connected",
        ...["websocket:dtmf", "websocket:cleared", "websocket:dtmf", "websocket:cleared"],
      ],
    }),
  },
];

test.each(rows)(
  "$name: a bot of pipecat's is detected, heard, interrupted by a key, and ends the call",
  async ({ carrier, bot, place, hangUp, audio, heard: expected }) => {
    const { emulator, baseUrl } = await startEmulator({
      ...carrier,
      clock: "real",
      ringDuration: 0,
      callee: [
        { type: "listen", ms: 300 },
        { type: "press", digits: "5" },
        { type: "silence", ms: 100 },
        { type: "press", digits: "#" },
        { type: "silence", ms: 60_000 },
      ],
    });
    const bots: Heard[] = [];
    const hungUp: unknown[] = [];
    const url = await listenForSockets((socket) => {
      const heard: Heard = { audio: [], digits: [], events: [] };
      bots.push(heard);
      bot(socket, heard, ({ callData }) => {
        if (hangUp) hungUp.push(hangUp(baseUrl, String(callData?.call_id)));
        else socket.close();
      });
    });
    const id = await place(url, baseUrl, emulator);
    const call = await emulator.ended(id);
    await Promise.all(hungUp);
    expect(call).toMatchObject({ state: "completed" });
    expect(call.flow_error).toBeUndefined();
    expect(streamOf(call)).toMatchObject({ state: "closed", malformed: [], ignored: [] });
    const [heard] = bots;
    expect(heard).toMatchObject(expected(id));
    expect(heard?.digits).toEqual(["5", "#"]);
    expect(new Set(heard?.audio)).toEqual(new Set([audio]));
    const { cuts = [], played = [] } = emulator.audio(id) ?? {};
    expect(cuts[0]).toMatchObject({ type: "clear" });
    expect(cuts[0]?.samples).toBeGreaterThan(0);
    const milliseconds = played.reduce((sum, { from_ms, to_ms }) => sum + to_ms - from_ms, 0);
    expect(milliseconds).toBeLessThan(10_000);
  },
);
