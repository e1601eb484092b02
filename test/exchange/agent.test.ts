import { expect, onTestFinished, test } from "vitest";
import { WebSocketServer } from "ws";
import { connectAgent } from "../../src/agents/index.ts";
import { scriptedAgent } from "../../src/testing/index.ts";
import { applicationOf, openStage, pause, placeCall, until } from "./stage.ts";
import { isAudible, voice } from "./telephone/ear.ts";

/** How long the fake model waits after the callee's last word, in milliseconds. */
const patience = 500;

/** A media socket of an application whose agent is a fake model. */
const serveAgent = async (answers: Parameters<typeof scriptedAgent>[0]): Promise<string> => {
  const sockets = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  sockets.on("connection", (socket) =>
    connectAgent(socket, scriptedAgent(answers, { patience }), {}),
  );
  onTestFinished(() => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
  });
  await new Promise((resolve) => sockets.once("listening", resolve));
  const address = sockets.address();
  if (typeof address === "string" || !address) throw new Error("no port");
  return `ws://127.0.0.1:${address.port}/`;
};

test.each(["8k", "16k"])(
  "an agent at %s greets a telephone, answers it, and stops when it is interrupted",
  async (sample_rate) => {
    const ws_url = await serveAgent([{ ms: 400 }, { ms: 600 }, { ms: 20_000 }]);
    const app = applicationOf({
      "/flow": { action: "stream", ws_url, sample_rate, chunk_size: 20 },
    });
    const { client, exchange, telephone } = await openStage({
      host: "127.0.0.1",
      fetch: app.fetch,
    });
    const { id, call } = await placeCall({ client, telephone });
    call.ring();
    await call.answer();
    /** How many audible packets the telephone has heard, and when the last was. */
    const audible = () => call.packets.filter(({ samples }) => isAudible(samples));
    const isQuiet = () =>
      performance.now() - (audible().at(-1)?.at ?? performance.now()) > patience;
    await until(() => audible().length > 15 && isQuiet());
    const greeted = audible().length;
    await call.speak(voice(1, 600));
    await until(() => audible().length > greeted + 25 && isQuiet());
    const answered = audible().length;
    // Of a response of 600 ms nothing is missing, and nothing is heard twice.
    expect(Math.abs(answered - greeted - 30)).toBeLessThan(4);
    await call.speak(voice(2, 600));
    await until(() => audible().length > answered + 25);
    await call.speak(voice(3, 600));
    await until(isQuiet);
    // A response of 20 s stopped in its midst.
    expect(audible().length - answered).toBeLessThan(500);
    call.hangUp();
    await pause(0);
    const { state, reason, history } = await exchange.ended(id);
    expect([state, reason]).toEqual(["completed", "normal"]);
    expect(history.some(({ type }) => type === "cut")).toBe(true);
  },
);
