import { expect, test } from "vitest";
import type { Agent, AgentEvent } from "../../../src/agents/agent.ts";
import { connectAgent } from "../../../src/agents/session.ts";
import { energyDetector } from "../../../src/testing/detector.ts";
import { scriptedAgent } from "../../../src/testing/scripted-agent.ts";
import { simulateCall } from "../../../src/testing/simulate-call.ts";

import { voice, withEvents } from "./agents.ts";

/** A caller who listens to the greeting, speaks for so long, listens and hangs up. */
const speaksFor = (agent: Agent, ms: number) =>
  simulateCall({
    app: (socket) => connectAgent(socket, agent),
    caller: [
      { type: "until-quiet" },
      { type: "say", voice: voice(ms) },
      { type: "until-quiet" },
      { type: "hangup" },
    ],
  });

test("hang_up while the callee speaks doesn't end the call: the agent responds", async () => {
  const agent = withEvents(scriptedAgent([{ ms: 700 }, { ms: 900 }]), (events) =>
    events.flatMap((event): readonly AgentEvent[] =>
      event.type === "interrupted"
        ? [event, { type: "tool", id: "1", name: "hang_up", arguments: {} }]
        : [event],
    ),
  );
  const { turns, end } = await speaksFor(agent, 2_000);
  expect(turns).toMatchObject([{ response: expect.closeTo(500, -2) }]);
  expect(end.session).toBe("hung_up");
});

test("audio that comes late of a response that the service has cancelled isn't played", async () => {
  let late: readonly AgentEvent[] = [];
  // The second answer is cancelled by the service after its audio; more of it comes with the next message.
  const agent = withEvents(scriptedAgent([{ ms: 700 }, { ms: 900 }]), (events) => {
    const arrived = late;
    late = [];
    const changed = events.map((event): AgentEvent => {
      if (event.type === "audio" && event.response === "answer 2") late = [event, event];
      return event.type === "response_done" && event.response === "answer 2"
        ? { ...event, outcome: "cancelled" }
        : event;
    });
    return [...arrived, ...changed];
  });
  const { audio, turns } = await speaksFor(agent, 800);
  const after = audio.samples("application", turns[0]?.to ?? 0);
  const [answer, ...others] = energyDetector.detect(after, audio.sample_rate);
  expect((answer?.to ?? 0) - (answer?.from ?? 0)).toBeCloseTo(900, -2);
  expect(others).toEqual([]);
});
