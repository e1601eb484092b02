import type { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { partOf } from "../part.ts";
import { type Phone, ring, start } from "./phone.ts";
import type { Reported } from "./runtimes/line.ts";
import { type Application, starts } from "./runtimes/start.ts";
import { boundsAfter, delta, flooding, refused, whenAsked } from "./scripted.ts";
import { type AgentServer, type Peer, serveAgent, type Taking } from "./server.ts";

type Runtime = keyof typeof starts;

/** What goes wrong, on either end, and how the talk ends then. */
interface Fault {
  /** What the agent does; else it is ready, and says half a minute. */
  readonly agent?: Taking;
  /** What the service does once it is connected; else it says that the call has started. */
  readonly service?: (phone: Phone, agent: AgentServer) => unknown;
  /** Limits of the session, in ms; the others are so long that they end nothing here. */
  readonly limits?: Readonly<Record<string, number>>;
  /** The ends that it may have; on a runtime of its own ways another. */
  readonly ends: readonly string[];
  readonly elsewhere?: Readonly<Partial<Record<Runtime, readonly string[]>>>;
  readonly limitsElsewhere?: Readonly<Partial<Record<Runtime, Readonly<Record<string, number>>>>>;
  /** What else must be so, `ms` after the call began. */
  readonly check?: (reported: Reported, phone: Phone, agent: AgentServer, ms: number) => unknown;
}

const patience = { timeout: 100_000, interval: 20 };

const speech = (peer: Peer) => peer.send(delta(30_000));

/** The connection under an agent's socket. */
const streamOf = ({ request }: Peer): Socket => request.socket;

const begin = ({ send }: Phone) => send(start);

/** Does something as soon as the agent is heard. */
const onceHeard =
  (does: (phone: Phone, agent: AgentServer) => void) =>
  async (phone: Phone, agent: AgentServer): Promise<void> => {
    begin(phone);
    await expect.poll(phone.heard, patience).toBeGreaterThan(0);
    does(phone, agent);
  };

/** Neither a WebSocket's frame nor anything else. */
const rubbish = Buffer.alloc(100, 0xff);

const agentGarbage = ({ socket, send }: Peer) => {
  for (const text of ["{MARKED", "[]", "7", "null", '"MARKED"']) socket.send(text);
  socket.send(new Uint8Array([1, 2, 3]));
  socket.send("x".repeat(9 * 2 ** 20));
  send({ type: "response.output_audio.delta", delta: "MARKED!" });
  send({ type: "unheard.of" });
};

const serviceGarbage = ({ socket, send }: Phone) => {
  for (const text of ["{MARKED", "[]", "7", "null", '"MARKED"']) socket.send(text);
  socket.send(new Uint8Array([1, 2, 3]));
  socket.send("x".repeat(2 * 2 ** 20));
  send(start);
  for (const [stream_id, audio_b64] of [
    ["st_MARKED", "AAAA"],
    ["st_1", "MARKED!"],
    ["st_1", "AA=="],
  ]) {
    send({ type: "audio", stream_id, message_id: 3, data: { audio_b64 } });
  }
};

/** More than the network and the runtimes hold, and five minutes of what a callee may say. */
const flood = ({ say }: Phone) => {
  for (let at = 0; at < 100; at++) say(20_000);
};

/** Milliseconds of the callee that came to the agent. */
const heardBy = (agent: AgentServer): number =>
  agent.peers
    .flatMap(({ received }) => received)
    .reduce(
      (sum, message) => sum + Buffer.from(String(Object(message).audio ?? ""), "base64").length,
      0,
    ) / 8;

const faults: Readonly<Record<string, Fault>> = {
  "the agent's socket: cut": {
    agent: whenAsked((peer) => {
      speech(peer);
      peer.socket.terminate();
    }),
    ends: ["agent_lost"],
  },
  "the agent's socket: silent": {
    agent: whenAsked(() => {}),
    limits: { silenceTimeout: 100 },
    ends: ["agent_silent"],
  },
  "the agent's socket: silent before the agent is ready": {
    agent: { accept: () => {} },
    limits: { agentTimeout: 100 },
    ends: ["agent_slow"],
  },
  "the agent's socket: never opened": {
    agent: { accept: () => {}, isDeaf: true },
    limits: { agentTimeout: 100 },
    ends: ["agent_slow"],
  },
  "the agent's socket: closed in order": {
    agent: whenAsked(({ socket }) => socket.close(1000)),
    ends: ["agent_ended"],
  },
  "the agent's socket: closed with a complaint": {
    agent: whenAsked(({ socket }) => socket.close(1011)),
    ends: ["agent_lost"],
  },
  "the agent's socket: closed because of the key": {
    agent: { accept: ({ socket }) => socket.close(3000, "invalid_request_error.invalid_api_key") },
    ends: ["agent_refused"],
    check: ({ errors }) => expect(errors).toEqual([expect.stringContaining("invalid_api_key")]),
  },
  "the agent's socket: closed because of the quota": {
    agent: whenAsked(({ socket }) => socket.close(1002, "This request exceeds your quota limit.")),
    ends: ["agent_refused"],
    check: ({ errors }) => expect(errors).toEqual([expect.stringContaining("1002")]),
  },
  "the agent's socket: read no more": {
    agent: whenAsked((peer) => {
      peer.send(delta(300));
      streamOf(peer).pause();
    }),
    service: onceHeard(flood),
    ends: ["agent_stalled"],
    // There a full network can't be seen.
    elsewhere: { workerd: ["agent_silent"] },
    limitsElsewhere: { workerd: { silenceTimeout: 10_000 } },
    check: (_, __, agent) => agent.peers.map((peer) => streamOf(peer).resume()),
  },
  "the agent's socket: flooding": {
    agent: whenAsked(flooding),
    ends: ["agent_lost"],
    check: ({ dropped }, { heard }, _, ms) => {
      const { mostSent, leastDropped } = boundsAfter(ms);
      expect(dropped).toBeGreaterThanOrEqual(leastDropped);
      expect(heard()).toBeLessThanOrEqual(mostSent);
    },
  },
  "the agent's socket: garbage": {
    agent: whenAsked((peer) => {
      agentGarbage(peer);
      peer.send(delta(700));
      peer.socket.close(1000);
    }),
    ends: ["agent_ended"],
    check: ({ errors }, { heard }) => {
      expect(errors).toHaveLength(8);
      for (const error of errors) expect(error).toMatch(/^AgentException: .*agent_malformed/);
      expect(heard()).toBe(700);
    },
  },
  "the agent's socket: no frames but rubbish": {
    agent: whenAsked((peer) => streamOf(peer).write(rubbish)),
    ends: ["agent_lost"],
  },
  "the service's socket: cut": {
    service: onceHeard(({ stream }) => stream.resetAndDestroy()),
    ends: ["hung_up"],
  },
  "the service's socket: closed in order": {
    service: onceHeard(({ socket }) => socket.close(1000)),
    ends: ["hung_up"],
  },
  "the service's socket: silent": {
    service: () => {},
    limits: { startTimeout: 100 },
    ends: ["no_start"],
  },
  "the service's socket: read no more": {
    agent: whenAsked(flooding),
    service: onceHeard(({ stream }) => stream.pause()),
    ends: ["agent_lost"],
    check: async (_, { stream, heard, closed }, __, ms) => {
      stream.resume();
      await closed; // All that was sent has come.
      expect(heard()).toBeLessThanOrEqual(boundsAfter(ms).mostSent);
    },
  },
  "the service's socket: flooding": {
    service: onceHeard(async (phone, agent) => {
      for (let at = 0; at < 500; at++) phone.say(400);
      await expect.poll(() => heardBy(agent), patience).toBe(200_000);
      phone.socket.close(1000);
    }),
    ends: ["hung_up"],
    check: ({ heard }) => expect(heard).toBe(200_000),
  },
  "the service's socket: garbage": {
    service: onceHeard(async (phone, agent) => {
      serviceGarbage(phone);
      phone.say(60);
      await expect.poll(() => heardBy(agent), patience).toBe(60);
      phone.socket.close(1000);
    }),
    ends: ["hung_up"],
    check: ({ errors }) => {
      expect(errors).toHaveLength(11);
      for (const error of errors) expect(error).toMatch(/^FrameException/);
    },
  },
  "the service's socket: no frames but rubbish": {
    service: onceHeard(({ stream }) => stream.write(rubbish)),
    ends: ["hung_up"],
  },
  "both: cut": {
    service: onceHeard(({ stream }, { peers }) => {
      stream.resetAndDestroy();
      for (const peer of peers) streamOf(peer).resetAndDestroy();
    }),
    ends: ["hung_up", "agent_lost"],
  },
  "both: silent": {
    agent: whenAsked(() => {}),
    limits: { silenceTimeout: 100 },
    ends: ["agent_silent"],
  },
  "both: read no more": {
    agent: whenAsked((peer) => {
      peer.send(delta(3_000));
      streamOf(peer).pause();
    }),
    service: onceHeard((phone) => {
      phone.stream.pause();
      flood(phone);
    }),
    limits: { maxDuration: 10_000 },
    ends: ["agent_stalled", "too_long"],
    check: (_, { stream }, agent) => {
      stream.resume();
      for (const peer of agent.peers) streamOf(peer).resume();
    },
  },
  "both: flooding": {
    agent: whenAsked(flooding),
    service: onceHeard(flood),
    ends: ["agent_lost", "agent_stalled"],
  },
  "both: garbage": {
    agent: whenAsked((peer) => {
      agentGarbage(peer);
      speech(peer);
    }),
    service: onceHeard(async (phone, agent) => {
      serviceGarbage(phone);
      phone.say(60);
      await expect.poll(() => heardBy(agent), patience).toBe(60);
      phone.socket.close(1000);
    }),
    ends: ["hung_up"],
    check: ({ errors }) => expect(errors).toHaveLength(19),
  },
};

/** Sockets that a platform can't cut: they stay open for as long as their peer likes. A Worker's go with its request. */
const uncut: Readonly<Record<Runtime, readonly ("agent" | "service")[]>> = {
  node: ["agent"],
  deno: ["agent", "service"],
  bun: [],
  workerd: ["service"],
};

describe.each(partOf(Object.keys(starts) as Runtime[]))("%s", (runtime) => {
  let application: Application;
  let calls = 0;
  beforeAll(async () => {
    application = await starts[runtime]();
  });
  afterAll(() => application.kill());

  /** A call to the application, with an agent and limits, up to its end. */
  const call = async (fault: Fault, withTicket = false) => {
    const { agent: taking = whenAsked(speech), service = begin, limits = {} } = fault;
    const agent = await serveAgent(taking);
    const id = String(calls++);
    const startedAt = performance.now();
    const long = {
      maxDuration: 60_000,
      startTimeout: 60_000,
      agentTimeout: 60_000,
      silenceTimeout: 60_000,
    };
    const numbers = Object.entries({ ...long, ...limits, ...fault.limitsElsewhere?.[runtime] }).map(
      ([name, s]) => [name, String(s)],
    );
    const where = withTicket ? { ticket: agent.http } : { agent: agent.url };
    const asked = { call: id, ...where, ...Object.fromEntries(numbers) };
    const phone = await ring(`${application.url}?${new URLSearchParams(asked)}`);
    try {
      await service(phone, agent);
      const end = async () => (await application.state()).ends[id];
      await expect.poll(end, patience).toBeDefined();
      const reported = await end();
      if (reported) await fault.check?.(reported, phone, agent, performance.now() - startedAt);
      // Nothing stays: no socket, no connection that was never one, and no timer.
      const [code, reason] = await phone.closed;
      await expect.poll(agent.connections, patience).toBe(0);
      await expect.poll(async () => (await application.state()).timers, patience).toBe(0);
      return { reported, code, reason };
    } finally {
      phone.socket.terminate();
      await agent.close();
    }
  };

  test.each(Object.entries(faults))("%s", async (_, fault) => {
    const { reported, code, reason } = await call(fault);
    const ends = fault.elsewhere?.[runtime] ?? fault.ends;
    expect(ends).toContain(reported?.reason);
    expect(JSON.stringify(reported)).not.toContain("MARKED");
    const isOurs = code !== 1006 && code !== 1002 && reported?.reason !== "hung_up";
    if (isOurs) expect(reason).toBe(reported?.reason);
  });

  test("a close that is never answered is cut, where the platform can", async () => {
    const cuts = uncut[runtime];
    const deaf = ({ socket }: Peer | Phone) => {
      socket.close = () => {}; // This is how `ws` answers a close.
    };
    const { reported } = await call({
      // Both sockets are open and deaf when the agent's refusal ends the session.
      service: onceHeard((phone, { peers }) => {
        deaf(phone);
        for (const peer of peers) {
          deaf(peer);
          peer.send(refused);
        }
      }),
      ends: [],
      check: (_, phone, agent) => {
        if (cuts.includes("service")) phone.socket.terminate();
        if (cuts.includes("agent")) for (const { socket } of agent.peers) socket.terminate();
      },
    });
    expect(reported?.reason).toBe("agent_refused");
  });

  test("the key is in a header, and in nothing else that is sent", async () => {
    const seen = await call({
      service: onceHeard(({ socket }) => socket.close(1000)),
      ends: [],
      check: (_, __, { upgrades }) => {
        expect(upgrades).toHaveLength(1);
        const { authorization, ...others } = upgrades[0]?.headers ?? {};
        expect(authorization).toBe("Bearer sk-MARKED");
        expect(JSON.stringify([upgrades[0]?.url, others])).not.toContain("MARKED");
      },
    });
    expect(seen.reported?.reason).toBe("hung_up");
  });

  test.each(["socket", "ticket"] as const)(
    "a redirect of the %s is not followed: the key goes to nobody else",
    async (which) => {
      const thief = await serveAgent({ accept: () => {}, answer: () => ({}) });
      const refuse = { status: 307, headers: { Location: thief.http, Connection: "close" } };
      try {
        const { reported } = await call(
          { agent: { accept: () => {}, refuse }, ends: [] },
          which === "ticket",
        );
        expect(reported?.reason).toBe("agent_unreachable");
        expect(thief.requests.length + thief.upgrades.length).toBe(0);
      } finally {
        await thief.close();
      }
    },
  );

  test("a key that isn't taken ends the call, and is reported to nobody", async () => {
    const refuse = { status: 401, headers: { Connection: "close" } };
    const { reported } = await call({ agent: { accept: () => {}, refuse }, ends: [] });
    expect(reported?.reason).toBe("agent_refused");
    expect(reported?.errors).toEqual([expect.stringContaining('"code":"401"')]);
    expect(JSON.stringify(reported)).not.toContain("MARKED");
  });

  test("once no more calls are taken, nothing holds the process", async () => {
    expect(await application.stop()).toBe(true);
  });
});
