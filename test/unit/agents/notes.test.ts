import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Connection } from "../../../src/agents/connection.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { createVoice } from "../../../src/agents/voice.ts";
import { processClock } from "../../../src/lib/clock.ts";
import { createTimers } from "../../../src/lib/timers.ts";
import { start } from "../flows/media/start.ts";
import { plain, Socket, settled } from "./talking.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const count = 1_500;
const kept = 1_000;

test("an agent that takes over gets the last 1000 notes that the one before was sent, in their order, and new ones", async () => {
  const [line, ...minds] = [new Socket(), new Socket(), new Socket()];
  const agents = minds.map((mind) =>
    plain(
      { addContext: (text) => [text], setInstructions: (text) => [text] },
      { open: () => mind },
    ),
  );
  const session = connectAgent(line, agents, { onError: () => {} });
  line.receive(start);
  await settled();
  minds[0]?.receive({ type: "ready" });
  for (let at = 0; at < count; at++) {
    await (at % 2 ? session.setInstructions(`${at}`) : session.addContext(`${at}`));
  }
  expect(minds[0]?.sent).toHaveLength(count);
  minds[0]?.receive({ type: "error", code: "invalid_api_key" });
  await session.addContext("new");
  await settled();
  minds[1]?.receive({ type: "ready" });
  const last = Array.from({ length: kept }, (_, at) => `${count - kept + at}`);
  expect(minds[1]?.sent).toEqual([...last, "new"]);
});

test.each([
  [true, 0],
  [false, kept],
])("of an agent that has acted (%s) %i notes are kept", (hasActed, notes) => {
  const send = vi.fn();
  const voice = createVoice({
    connection: () => ({ read: () => true, send }) as unknown as Connection,
    isReady: () => true,
    hasActed: () => hasActed,
    timers: createTimers(processClock),
    input: {},
  } as never);
  for (let at = 0; at < count; at++) voice.addNote("addContext", "text");
  expect(send).toHaveBeenCalledTimes(count);
  voice.restart();
  voice.ready();
  expect(send).toHaveBeenCalledTimes(count + notes);
});
