import { expect, test, vi } from "vitest";
import { streamSession } from "../../../../src/flows/media/session.ts";

/** A socket of nothing, with so much in its buffer. */
const socketWith = (readyState: number, bufferedAmount: number) =>
  Object.assign(new EventTarget(), {
    readyState,
    bufferedAmount,
    send: vi.fn<(message: string) => void>(),
    close: vi.fn(),
  });

const settled = () => new Promise((resolve) => setTimeout(resolve, 5));

test.each([
  [65_536, 1],
  [65_537, 0],
])("with %i bytes in the socket's buffer, %i messages go out at once", async (buffered, count) => {
  const socket = socketWith(1, buffered);
  const stream = streamSession(socket, {});
  const said = stream.audio(new Uint8Array(100));
  await settled();
  expect(socket.send).toHaveBeenCalledTimes(count);
  stream.clear();
  expect(await said).toBe(count === 1);
});

test("nothing is said to a socket that is closing", async () => {
  const socket = socketWith(1, 0);
  const stream = streamSession(socket, {});
  socket.readyState = 2;
  expect(await stream.audio(new Uint8Array(100))).toBe(false);
  expect(socket.send).not.toHaveBeenCalled();
});

test("close tells the usual code and no reason, unless others are given", () => {
  const onClose = vi.fn();
  streamSession(socketWith(1, 0), { onClose }).close();
  streamSession(socketWith(1, 0), { onClose }).close(4_000, "enough");
  expect(onClose.mock.calls).toEqual([
    [{ code: 1000, reason: "" }],
    [{ code: 4_000, reason: "enough" }],
  ]);
});

test.each([
  [{ type: "start", account_id: "acc_1", call_id: "cs_1" }, "The stream has started already"],
  [{ type: "audio" }, "stream_id is another"],
])("a message out of place is reported (%#)", async (message, rule) => {
  const socket = socketWith(1, 0);
  const onError = vi.fn();
  streamSession(socket, { onError });
  const arrive = (more: object) => {
    const data = { encoding: "audio/l16", sample_rate: 8_000, channels: 1, audio_b64: "AAA=" };
    const whole = { stream_id: "st_1", message_id: 1, data, ...more };
    socket.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(whole) }));
  };
  arrive({ type: "start", account_id: "acc_1", call_id: "cs_1" });
  arrive({ ...message, stream_id: "st_2" });
  await settled();
  expect(onError.mock.calls).toEqual([
    [expect.objectContaining({ name: "FrameException", message: rule })],
  ]);
});
