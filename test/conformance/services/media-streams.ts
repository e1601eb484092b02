import { assert } from "chai";
import type { Service } from "outdial";
import { signUrl } from "outdial/callbacks";
import { streamSession } from "outdial/flows";
import { secret } from "../callbacks/fixtures.ts";
import type { Case } from "../case.ts";
import { until } from "../timers.ts";
import { Socket } from "./socket.ts";

/** What carriers that send μ-law in JSON call the parts of their messages. */
export interface MediaStreams {
  readonly service: Service;
  readonly streamId: string;
  readonly callId: string;
  readonly accountId: string;
  readonly parameters: string;
  readonly format: object;
  /** Whether our messages have the stream's id. */
  readonly sendsStreamId: boolean;
}

const url = "wss://app.test/media/17";

/** What holds for the media sockets of carriers that send μ-law in JSON, and the signed query in their `start`. */
export const mediaCases = (names: MediaStreams): readonly Case[] => {
  const { service, format } = names;
  const of = { [names.streamId]: "st_1" };
  const ids = { [names.accountId]: "acc_1", [names.callId]: "call_1" };

  /** 20 ms of the callee in μ-law: G.711 has 0xff for 0, and 0x80 for the loudest. */
  const media = (code: number) => ({
    event: "media",
    ...of,
    media: {
      ...{ track: "inbound", chunk: "2", timestamp: "40" },
      payload: btoa(String.fromCharCode(code).repeat(160)),
    },
  });

  /** The messages that begin a stream, with the query of a signed URL in its parameters. */
  const begin = async (signedUrl: string) => {
    const signed = await signUrl(signedUrl, { secret, context: { order: 17 } });
    const parts = signed.split("?")[1]?.match(/.{1,80}/g) ?? [];
    const parameters = Object.fromEntries(
      parts.map((part, at) => [`outdial.${at}`, part] as const),
    );
    const start = { ...ids, ...of, ...format, [names.parameters]: parameters };
    return [
      { event: "connected", version: "1.0.0" },
      { event: "start", ...of, start },
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
        onKey: ({ key }) => called.push(key),
        onMessage: ({ type }) => called.push(type),
        onClose: () => called.push("closed"),
        onError: () => {},
      },
      { service, secret, url: "/media/17" },
    );
    return { socket, called, stream };
  };

  return [
    {
      name: `${service.name}: a stream with a signed start brings its context, and frames of PCM`,
      run: async () => {
        const { socket, called, stream } = session();
        for (const message of await begin(url)) socket.receive(message);
        await until(() => called.length);
        socket.receive(media(0xff));
        socket.receive(media(0x80));
        socket.receive({ event: "dtmf", ...of, dtmf: { digit: "#" } });
        await until(() => called.length === 5);
        assert.deepEqual(called, [
          ["call_1", { order: 17 }],
          "connected",
          [320, 0],
          [320, 32_124],
          "#",
        ]);
        // 20 ms of silence go out as 160 codes of 0xff.
        await stream.audio(new Uint8Array(320));
        stream.clear();
        const sent = socket.sent.map((each) => JSON.parse(String(each)));
        const ours = names.sendsStreamId ? of : {};
        assert.deepInclude(sent[0], {
          event: "media",
          ...ours,
          media: { payload: btoa("\u00ff".repeat(160)) },
        });
        assert.deepEqual(sent.at(-1), { event: "clear", ...ours });
        socket.receive({ event: "stop", ...of, stop: ids });
        socket.emit("close", { code: 1000 });
        await until(() => called.includes("closed"));
        assert.equal(socket.listeners, 0);
      },
    },
    {
      name: `${service.name}: a start of another URL calls nothing, and closes the socket with 1008`,
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
};
