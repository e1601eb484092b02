import { expect, test } from "vitest";
import { mulawCodec } from "../../../src/carriers/xml/server/media.ts";
import { Playout, quotaRate } from "../../../src/emulator/recording/playout.ts";
import { base64, bytesOf } from "../../../src/lib/encoding.ts";
import type { SocketCodec } from "../../../src/performer/media-socket.ts";
import { instructionsOf } from "../../../src/server/outdial/actions.ts";

const ids = { account_id: "ac_1", call_id: "cs_1" };

/** The messages of outdial's own interface. */
const ownCodec = async (acknowledges = true): Promise<SocketCodec> => {
  const [instruction] = instructionsOf(
    { action: "stream", ws_url: "wss://app.test/" },
    {
      ...{ step: 1, place: "", ...ids, acknowledges },
      newStreamId: () => "st_1",
      beginRecording: () => () => {},
    },
  );
  if (instruction?.type !== "stream") throw new Error("no stream");
  const { onOpen } = await instruction.open();
  return onOpen();
};

/** The messages of Twilio and Telnyx. */
const markupCodec = (): SocketCodec =>
  mulawCodec(
    {
      connected: {},
      message: (event, _, fields) => ({ event, ...fields }),
      start: {},
      stop: {},
      dtmf: (digit) => ({ digit }),
    },
    { streamSid: "MZ1", parameters: {}, sides: ["callee"], isBidirectional: true },
  );

/** An application, and the line that plays its audio. */
const talking = (codec: SocketCodec) => {
  const playout = new Playout(8_000, { left: 60 * quotaRate });
  return {
    playout,
    send: (message: object, now: number) => codec.apply(JSON.stringify(message), playout, now),
    received: (now: number) =>
      codec.due?.(playout, now).map((data) => JSON.parse(String(data))) ?? [],
    nextDue: () => codec.nextDue?.(playout),
  };
};

const second = base64(bytesOf(new Int16Array(8_000)));

test("an application that requests it receives how much was played: at the beginning, after a stall, and at the end", async () => {
  const { playout, send, received, nextDue } = talking(await ownCodec());
  const played = (now: number) => received(now).map(({ data }) => data);
  send({ type: "played" }, 0);
  send({ type: "audio", audio_b64: second, chunk_id: "one" }, 0);
  expect(played(0)).toEqual([{ ms: 0 }]);
  expect(played(3_999)).toEqual([]);
  playout.skip(4_000, 7_200);
  expect(played(7_360)).toEqual([{ ms: 520 }]);
  expect(nextDue()).toBe(11_200);
  expect(played(11_199)).toEqual([]);
  expect(played(11_200)).toEqual([{ ms: 1_000 }]);
  expect(played(20_000)).toEqual([]);
  send({ type: "audio", audio_b64: second, chunk_id: "two" }, 20_000);
  send({ type: "clear" }, 20_000);
  expect(played(20_000)).toEqual([{ ms: 2_000 }]);
});

test("an application that doesn't request it receives nothing, nor does one of a service without it", async () => {
  const { send, received, nextDue } = talking(await ownCodec());
  send({ type: "audio", audio_b64: second, chunk_id: "one" }, 0);
  expect([received(0), received(8_000), nextDue()]).toEqual([[], [], undefined]);
  const basic = talking(await ownCodec(false));
  expect(basic.send({ type: "played" }, 0)).toEqual({ type: "ignored", name: "played" });
  basic.send({ type: "audio", audio_b64: second, chunk_id: "one" }, 0);
  expect(basic.received(0)).toEqual([]);
});

test("a mark comes back when the audio before it was played, as much later as a stall delays it", () => {
  const { playout, send, received, nextDue } = talking(markupCodec());
  const payload = base64(new Uint8Array(8_000));
  send({ event: "media", media: { payload } }, 0);
  send({ event: "mark", mark: { name: "one" } }, 0);
  playout.skip(4_000, 7_200);
  expect(nextDue()).toBe(11_200);
  expect(received(11_199)).toEqual([]);
  expect(received(11_200)).toEqual([{ event: "mark", mark: { name: "one" } }]);
});

test("a mark of cleared audio comes back at once", () => {
  const { send, received } = talking(markupCodec());
  send({ event: "media", media: { payload: base64(new Uint8Array(8_000)) } }, 0);
  send({ event: "mark", mark: { name: "one" } }, 0);
  send({ event: "clear" }, 100);
  expect(received(100)).toEqual([{ event: "mark", mark: { name: "one" } }]);
});
