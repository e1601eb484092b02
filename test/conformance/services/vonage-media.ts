import { assert } from "chai";
import { streamSession } from "outdial/flows";
import { vonage } from "outdial/vonage";
import type { Case } from "../case.ts";
import { until, withHeldTimers } from "../timers.ts";
import { Socket } from "./socket.ts";
import { applicationId } from "./vonage-requests.ts";

const call_id = "aaaaaaaa-bbbb-cccc-dddd-0123456789ab";

const session = () => {
  const socket = new Socket();
  const called: unknown[] = [];
  const stream = streamSession(
    socket,
    {
      onStart: (start) => called.push([start.call_id, start.data.sample_rate]),
      onAudio: ({ bytes, time }) => called.push([[...new Int16Array(bytes.buffer)].at(-1), time]),
      onKey: ({ key }) => called.push(key),
      onMessage: ({ type }) => called.push(type),
      onClose: () => called.push("closed"),
    },
    { service: vonage({ applicationId }) },
  );
  const connect = (rate: number) =>
    socket.receive({
      event: "websocket:connected",
      "content-type": `audio/l16;rate=${rate}`,
      call_id,
    });
  return { socket, called, stream, connect };
};

const lengthsOf = ({ sent }: Socket) =>
  sent.map((each) => (each instanceof Uint8Array ? each.length : JSON.parse(String(each)).action));

export const mediaCases: readonly Case[] = [
  {
    name: "vonage: a stream's first message starts it, and its binary frames are samples",
    run: async () => {
      for (const rate of [8000, 16_000]) {
        const { socket, called, connect } = session();
        assert.equal(socket.binaryType, "arraybuffer");
        connect(rate);
        for (const sample of [-32_768, 7]) {
          // Little-endian, whatever the machine has.
          const bytes = new DataView(new ArrayBuffer(rate / 25));
          bytes.setInt16(bytes.byteLength - 2, sample, true);
          socket.receive(bytes.buffer);
        }
        socket.receive({ event: "websocket:dtmf", digit: "5", duration: 260 });
        await until(() => called.length === 4);
        assert.deepEqual(called, [[call_id, rate], [-32_768, 0], [7, 20], "5"]);
        socket.emit("close", { code: 1000 });
        await until(() => called.includes("closed"));
        assert.equal(socket.listeners, 0);
      }
    },
  },
  {
    name: "vonage: every message of audio has 20 ms: the rest waits, and is padded once nothing follows",
    run: async () => {
      await withHeldTimers(
        () => true,
        async ({ fire, delays }) => {
          const { socket, stream, connect } = session();
          connect(8000);
          await stream.audio(new Uint8Array(1000).fill(1));
          assert.deepEqual(lengthsOf(socket), [320, 320, 320]);
          for (const delay of delays()) await fire(delay);
          assert.deepEqual(lengthsOf(socket), [320, 320, 320, 320]);
          const last = socket.sent[3];
          assert.isTrue(last instanceof Uint8Array && last[39] === 1 && last[40] === 0);
          stream.clear();
          assert.equal(lengthsOf(socket).at(-1), "clear");
          socket.emit("close", { code: 1000 });
        },
      );
    },
  },
];
