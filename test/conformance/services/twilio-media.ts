import { assert } from "chai";
import { signUrl } from "outdial/callbacks";
import { streamSession } from "outdial/flows";
import { twilio } from "outdial/twilio";
import { secret } from "../callbacks/fixtures.ts";
import type { Case } from "../case.ts";
import { until } from "../timers.ts";
import { Socket } from "./socket.ts";

const accountSid = "AC0123456789abcdef0123456789abcdef";
const callSid = "CA00000000000000000000000000000002";
const streamSid = "MZ00000000000000000000000000000003";
const url = "wss://app.test/media/17";

/** 20 ms of the callee in μ-law: G.711 has 0xff for 0, and 0x80 for the loudest. */
const media = (code: number) => ({
  event: "media",
  streamSid,
  sequenceNumber: "3",
  media: {
    ...{ track: "inbound", chunk: "2", timestamp: "40" },
    payload: btoa(String.fromCharCode(code).repeat(160)),
  },
});

/** The messages that begin a stream, with the query of a signed URL in its parameters. */
const begin = async (signedUrl: string) => {
  const query = (await signUrl(signedUrl, { secret, context: { order: 17 } })).split("?")[1] ?? "";
  const parts = query.match(/.{1,80}/g) ?? [];
  const customParameters = Object.fromEntries(
    parts.map((part, at) => [`outdial.${at}`, part] as const),
  );
  const mediaFormat = { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 };
  return [
    { event: "connected", protocol: "Call", version: "1.0.0" },
    {
      event: "start",
      sequenceNumber: "1",
      start: { accountSid, callSid, streamSid, tracks: ["inbound"], mediaFormat, customParameters },
      streamSid,
    },
  ];
};

/** A session on a socket, and what it called. */
const session = () => {
  const socket = new Socket();
  const called: unknown[] = [];
  const stream = streamSession(
    socket,
    {
      onStart: ({ call_id }, context) => called.push([call_id, context]),
      onAudio: ({ bytes }) => called.push([bytes.length, new Int16Array(bytes.buffer)[0]]),
      onClose: () => called.push("closed"),
      onError: () => {},
    },
    { service: twilio({ accountSid }), secret, url: "/media/17" },
  );
  return { socket, called, stream };
};

export const mediaCases: readonly Case[] = [
  {
    name: "twilio: a stream with a signed start brings its context, frames of PCM, and marks",
    run: async () => {
      const { socket, called, stream } = session();
      for (const message of await begin(url)) socket.receive(message);
      await until(() => called.length);
      socket.receive(media(0xff));
      socket.receive(media(0x80));
      await until(() => called.length === 3);
      assert.deepEqual(called, [
        [callSid, { order: 17 }],
        [320, 0],
        [320, 32_124],
      ]);
      // 20 ms of silence go out as 160 codes of 0xff.
      await stream.audio(new Uint8Array(320));
      stream.clear();
      const sent = socket.sent.map((each) => JSON.parse(String(each)));
      assert.deepInclude(sent[0], {
        event: "media",
        streamSid,
        media: { payload: btoa("\u00ff".repeat(160)) },
      });
      assert.deepEqual(sent.at(-1), { event: "clear", streamSid });
      socket.receive({ event: "stop", streamSid, stop: { accountSid, callSid } });
      socket.emit("close", { code: 1000 });
      await until(() => called.includes("closed"));
      assert.equal(socket.listeners, 0);
    },
  },
  {
    name: "twilio: a start of another URL calls nothing, and closes the socket with 1008",
    run: async () => {
      const { socket, called } = session();
      for (const message of await begin(`${url}/other`)) socket.receive(message);
      socket.receive(media(0xff));
      await until(() => socket.closes.length);
      assert.equal(socket.closes[0]?.[0], 1008);
      assert.deepEqual(
        called.filter((each) => each !== "closed"),
        [],
      );
    },
  },
];
