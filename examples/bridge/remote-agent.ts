import { signUrl } from "outdial/callbacks";
import type { Agent, Connect, Line } from "./agent.ts";

/** Bytes that may wait for the network: what would come later than this isn't worth hearing. */
const enough = 2 ** 16;

/** What the agent may say in text; its audio is binary. */
const commands: ReadonlyMap<unknown, (line: Line) => void> = new Map([
  ["clear", (line: Line) => line.clear()],
  ["hangup", (line: Line) => line.hangUp()],
]);

const obey = (line: Line, text: string): void => {
  try {
    commands.get(Object(JSON.parse(text)).type)?.(line);
  } catch {
    console.error("The agent sent text that isn't JSON");
  }
};

/** Waits until the socket is open, or throws when it won't be, or nobody wants it any more. */
const opened = (socket: WebSocket, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = () => reject(new Error("The agent can't be reached"));
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", fail);
    socket.addEventListener("close", fail);
    signal.addEventListener("abort", fail);
  });

/**
 * An agent on the other side of a WebSocket: binary messages are audio, both ways. The bridge begins
 * with `{ "type": "start", "call_id", "sample_rate" }`; the agent may send
 * `{ "type": "clear" }`, which stops what it said before, and `{ "type": "hangup" }`. Either side closing
 * ends the call. This is the file to rewrite for the protocol of the voice API of your choice.
 *
 * @param url - the agent's wss URL
 * @param secret - signs that URL; the agent checks it with `verifyUrl`
 */
export const remoteAgent =
  (url: string, secret: string | undefined): Connect =>
  async (line): Promise<Agent> => {
    const { call_id, sample_rate, signal, context } = line;
    const address = secret ? await signUrl(url, { secret, context, expiresIn: 60 }) : url;
    signal.throwIfAborted();
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    const close = () => socket.close(1000);
    signal.addEventListener("abort", close); // Also when it never opens: then the call is ended.
    // What the agent says first may come with its "open".
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") obey(line, data);
      else line.say(data);
    });
    await opened(socket, signal);
    socket.addEventListener("close", () => {
      close(); // Workers leave the answer to the application.
      line.hangUp();
    });
    socket.send(JSON.stringify({ type: "start", call_id, sample_rate }));
    return {
      hear: ({ bytes }) => {
        if (socket.readyState === 1 && !(socket.bufferedAmount > enough)) socket.send(bytes);
      },
    };
  };
