import {
  AgentException,
  type EndReason,
  elevenlabs,
  openaiRealtime,
  type SessionOptions,
  type Tools,
  warmAgent,
} from "outdial/agents";
import type { CalleeAct } from "outdial/emulator";
import { afterEach, describe, expect, test } from "vitest";
import type { Behaviour } from "../conformance/models/model.ts";
import { withHeldTimers } from "../conformance/timers.ts";
import { nobodysPort } from "../nobody.ts";
import { type Calling, call } from "./application.ts";
import { hearingOut, interrupting } from "./callee.ts";
import { type Name, names, protocols, serveOpenai } from "./protocols.ts";
import { boundsAfter, delta, flooding, updated, whenAsked } from "./scripted.ts";
import { type AgentServer, serveAgent, type Taking } from "./server.ts";

const servers: AgentServer[] = [];
const served = async (server: Promise<AgentServer>) => {
  servers.push(await server);
  return server;
};
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});

const apiKey = "sk-MARKED";
const silent: readonly CalleeAct[] = [{ type: "silence", ms: 60_000 }];
/** Longer than a busy machine keeps anything waiting: which limit ends a call is never luck. */
const talk = { maxDuration: 40_000, agentTimeout: 20_000, silenceTimeout: 20_000 };

/** A call to an agent of OpenAI's protocol, with a callee who says nothing. */
const calling = (server: Pick<AgentServer, "url">, more: Calling = {}, tools: Tools = {}) =>
  call(openaiRealtime({ apiKey, url: server.url, tools }), {
    emulator: { callee: silent },
    ...more,
    talk: { ...talk, ...more.talk },
  });

describe("a call ends for sure, with a reason, and both sockets are let go", () => {
  const faults: Readonly<Record<string, readonly [Taking, EndReason, SessionOptions?]>> = {
    "the agent is cut off": [whenAsked(({ socket }) => socket.terminate()), "agent_lost"],
    "the agent closes in order": [whenAsked(({ socket }) => socket.close(1000)), "agent_ended"],
    "the agent closes with a complaint": [
      whenAsked(({ socket }) => socket.close(1011)),
      "agent_lost",
    ],
    "the agent says nothing at all": [whenAsked(() => {}), "agent_silent", { silenceTimeout: 500 }],
    "the agent says nothing before it is ready": [
      { accept: () => {} },
      "agent_slow",
      { agentTimeout: 500 },
    ],
    "the agent's every response fails": [
      whenAsked(({ send }) => {
        const error = { type: "server_error", code: "server_error" };
        const response = { id: "r1", status: "failed", status_details: { error } };
        send({ type: "response.created", response: { id: "r1" } });
        send({ type: "response.done", response });
      }),
      "agent_silent",
      { silenceTimeout: 500 },
    ],
    "the account of the agent has no quota left": [
      whenAsked(({ send }) => {
        const status_details = { error: { code: "insufficient_quota" } };
        send({ type: "response.done", response: { id: "r1", status: "failed", status_details } });
      }),
      "agent_refused",
    ],
    "the agent redirects to another host": [
      { accept: () => {}, refuse: { status: 307, headers: { Location: "http://127.0.0.1:9/" } } },
      "agent_unreachable",
    ],
    "the session expires": [
      whenAsked(({ send, socket }) => {
        send({ type: "error", error: { code: "session_expired", type: "x", message: "" } });
        socket.close(1001);
      }),
      "session_limit",
    ],
  };

  test.each(Object.entries(faults))("%s", async (_, [taking, reason, talk = {}]) => {
    const server = await served(serveAgent(taking));
    const { end } = await calling(server, { talk });
    expect(end.reason).toBe(reason);
    await expect.poll(server.open).toBe(0);
  });

  test.each([
    [401, "agent_refused"],
    [403, "agent_refused"],
    [404, "agent_unreachable"],
    [429, "agent_unreachable"],
    [503, "agent_unreachable"],
  ] as const)("the agent answers %i: %s, after one more request", async (status, reason) => {
    const server = await served(serveAgent({ accept: () => {}, refuse: { status } }));
    const { end, errors } = await calling(server);
    expect(end.reason).toBe(reason);
    expect(errors).toEqual([expect.objectContaining({ problem: reason, code: String(status) })]);
    expect(server.requests).toHaveLength(1);
    const [socket, probe] = [server.upgrades[0], server.requests[0]];
    expect(probe?.method).toBe("GET");
    expect(probe?.url).toBe(socket?.url);
    expect(probe?.headers.authorization).toBe(socket?.headers.authorization);
  });

  test("a URL that was signed for the agent is never asked for again", async () => {
    const server = await served(
      serveAgent({
        accept: () => {},
        refuse: { status: 401 },
      }),
    );
    const signer = await served(
      serveAgent({ accept: () => {}, answer: () => ({ signed_url: server.url }) }),
    );
    const { end } = await call(elevenlabs({ apiKey, agentId: "a", url: signer.http }), { talk });
    expect(end.reason).toBe("agent_unreachable");
    expect(server.upgrades.length).toBeGreaterThan(0);
    expect([signer.requests.length, server.requests.length]).toEqual([1, 0]);
  });

  test("nobody is there", async () => {
    const { end, errors } = await calling({ url: `ws://127.0.0.1:${await nobodysPort()}/` });
    expect(end.reason).toBe("agent_unreachable");
    expect(errors).toEqual([expect.objectContaining({ problem: "agent_unreachable" })]);
    expect(JSON.stringify(errors)).not.toContain("MARKED");
  });

  test("the agent doesn't open its socket", async () => {
    const server = await served(serveAgent({ accept: () => {} }));
    const open = () =>
      Object.assign(new EventTarget(), { readyState: 0, send: () => {}, close: () => {} });
    const { end } = await calling(server, { talk: { open, agentTimeout: 500 } });
    expect(end.reason).toBe("agent_slow");
  });

  test("the callee hangs up while the agent speaks", async () => {
    const server = await served(serveOpenai({ answers: [5_000] }));
    const callee: readonly CalleeAct[] = [{ type: "listen", ms: 300 }, { type: "hangup" }];
    const { end } = await calling(server, { emulator: { callee } });
    expect(end.reason).toBe("hung_up");
    await expect.poll(server.open).toBe(0);
  });

  test("the service's socket is cut, and so is the agent's, at once", async () => {
    const server = await served(serveOpenai({ answers: [5_000] }));
    const { end } = await calling(server, {
      onTalk: (_, socket) =>
        setTimeout(() => {
          socket.terminate();
          for (const peer of server.peers) peer.socket.terminate();
        }, 300),
    });
    expect(["hung_up", "agent_lost"]).toContain(end.reason);
    await expect.poll(server.open).toBe(0);
  });

  test("it lasts too long", async () => {
    const server = await served(serveOpenai({ answers: [5_000] }));
    expect((await calling(server, { talk: { maxDuration: 500 } })).end.reason).toBe("too_long");
  });

  test("the application ends it", async () => {
    const server = await served(serveOpenai({ answers: [5_000] }));
    const { end } = await calling(server, {
      onTalk: (talk) => setTimeout(() => talk.close(), 300),
    });
    expect(end.reason).toBe("closed");
  });
});

describe("an agent may send what it likes", () => {
  test("garbage is reported without its content, and the call goes on", async () => {
    const server = await served(
      serveAgent(
        whenAsked(({ socket, send }) => {
          for (const text of ["{MARKED", "[]", "7", "null", '"MARKED"']) socket.send(text);
          socket.send(new Uint8Array([1, 2, 3]));
          send({ type: "response.output_audio.delta", delta: "MARKED!" });
          send({ type: "unheard.of" });
          send(delta(700));
          setTimeout(() => socket.close(1000), 100);
        }),
      ),
    );
    const { end, errors, audio } = await calling(server);
    expect(end.reason).toBe("agent_ended");
    expect(errors).toHaveLength(7);
    for (const error of errors) {
      expect(error).toBeInstanceOf(AgentException);
      expect(String(error)).not.toContain("MARKED");
    }
    const heard = audio.played.reduce((sum, { samples }) => sum + samples, 0);
    expect(heard).toBe(5_600); // All of it, although the agent has gone.
  });

  test("a flood is bounded, and costs the callee nothing", async () => {
    const server = await served(serveAgent(whenAsked(flooding)));
    const startedAt = performance.now();
    const { end, sent } = await calling(server);
    const { mostSent, leastDropped } = boundsAfter(performance.now() - startedAt);
    expect(end.reason).toBe("agent_lost");
    expect(end.metrics.audio.dropped).toBeGreaterThanOrEqual(leastDropped);
    const bytes = sent.reduce((sum, message) => sum + message.bytes, 0);
    expect(bytes / 16).toBeLessThanOrEqual(mostSent);
  });

  test("an agent that doesn't take what it is sent ends the call", async () => {
    const server = await served(
      serveAgent(
        whenAsked(({ socket, send }) => {
          send(delta(100));
          socket.pause();
        }),
      ),
    );
    const { end } = await calling(server, {
      talk: {
        open: ({ url, headers }) => {
          const socket = Reflect.construct(WebSocket, [url, { headers }]);
          let sent = 0;
          const send = socket.send.bind(socket);
          socket.send = (message: string) => {
            sent += message.length;
            send(message);
          };
          Object.defineProperty(socket, "bufferedAmount", { get: () => sent * 1_000 });
          return socket;
        },
      },
    });
    expect(end.reason).toBe("agent_stalled");
  });
});

describe("tools", () => {
  const outputs = (server: AgentServer) =>
    (server.peers[0]?.received ?? []).flatMap((message) => {
      const { type, item } = Object(message);
      return type === "conversation.item.create" ? [item.output] : [];
    });
  const wish = (name: string, args: object = {}) => ({ name, args });
  const behaviour: Behaviour = {
    answers: [300, 300],
    calls: { 0: [wish("good", { id: 7 }), wish("bad"), wish("late"), wish("missing")] },
  };
  const tools: Tools = {
    good: { description: "", run: (args) => ({ args, found: true }) },
    bad: {
      description: "",
      run: () => {
        throw new Error("MARKED +12025550188");
      },
    },
    late: { description: "", run: () => new Promise(() => {}) },
  };

  test("are answered, also those that throw, are late or aren't there, and the call goes on", async () => {
    const server = await served(serveOpenai(behaviour));
    const { end, errors, audio } = await calling(
      server,
      { talk: { toolTimeout: 300 }, callee: (hearing) => hearingOut(1, 290, hearing) },
      tools,
    );
    expect(outputs(server)).toEqual(
      [
        '{"args":{"id":7},"found":true}',
        "The tool failed.",
        "There is no such tool.",
        "The tool took too long.",
      ].toSorted((one, other) => outputs(server).indexOf(one) - outputs(server).indexOf(other)),
    );
    expect(end.reason).toBe("hung_up");
    expect(errors).toHaveLength(3);
    expect(end.metrics.tools).toMatchObject({
      good: { calls: 1, failed: 0 },
      bad: { calls: 1, failed: 1 },
      late: { calls: 1, failed: 1 },
      unknown: { calls: 1, failed: 1 },
    });
    const heard = audio.played.reduce((sum, { samples }) => sum + samples, 0) / 8;
    // What it had to say about them, too: the callee hangs up in its last hundredth of a second.
    expect(heard).toBeGreaterThanOrEqual(590);
    expect(heard).toBeLessThanOrEqual(600);
  });

  test.each<[Name, Behaviour["toolTurn"]]>([
    ...names.map((name): [Name, undefined] => [name, undefined]),
    ["gemini", "before"],
    ["gemini", "open"],
  ])("%s: hang_up waits until the goodbye was heard: turn %s", async (name, toolTurn) => {
    const server = await served(
      protocols[name].serve({ answers: [1_500], calls: { 0: wish("hang_up") }, toolTurn }),
    );
    const { end, endedAt, sent } = await call(protocols[name].agent(server), {
      emulator: { callee: silent },
      talk,
    });
    expect(end.reason).toBe("agent_hung_up");
    // This line acknowledges nothing: an emulator that is held up for longer than our margin is left before it has played all.
    const goodbye = sent.filter(({ bytes }) => bytes > 0);
    const ms = goodbye.reduce((sum, { bytes }) => sum + bytes, 0) / 16;
    expect(ms / 1_000).toBeCloseTo(1.5, 1);
    expect(endedAt - (goodbye[0]?.at ?? 0)).toBeGreaterThanOrEqual(ms);
    await expect.poll(server.open).toBe(0);
  });

  test("a callee who speaks into the goodbye keeps the call, and the agent learns of it", async () => {
    const server = await served(
      serveOpenai({
        ...{ answers: [60_000, 500], delta: 60_000, turns: 1 },
        calls: { 0: wish("hang_up") },
      }),
    );
    const { end } = await calling(server, {
      callee: (hearing) => interrupting(1_000, hearing, 400),
    });
    expect(end.reason).toBe("hung_up");
    expect(outputs(server)).toEqual(["The callee spoke: the call goes on."]);
  });
});

describe("a warm agent", () => {
  test.each(names)(
    "%s: is connected before, says its first word at once, and is used once",
    async (name) => {
      const { serve, agent } = protocols[name];
      const server = await served(serve({ answers: [600] }));
      const warm = warmAgent(agent(server), { sampleRate: 8000 });
      await expect.poll(() => server.peers.length).toBe(1);
      const callee: readonly CalleeAct[] = [{ type: "listen", ms: 400 }, { type: "hangup" }];
      const { end } = await call(() => warm, { emulator: { callee }, talk });
      expect(end.reason).toBe("hung_up");
      expect(server.peers).toHaveLength(1);
      await call(() => warm, { emulator: { callee }, talk });
      expect(server.peers).toHaveLength(2);
      await expect.poll(server.open).toBe(0);
    },
  );

  test("keeps little of what it is sent while it rings", async () => {
    const read = Promise.withResolvers<void>();
    const server = await served(
      serveAgent({
        accept: (peer, message) => {
          if (Object(message).type !== "session.update") return;
          peer.send(updated);
          const error = { type: "error", error: { code: "invalid_value" } };
          for (let at = 0; at < 3_000; at++) peer.send(error);
          peer.socket.ping(); // Answered when all before it was read.
          peer.socket.once("pong", () => read.resolve());
        },
      }),
    );
    const warm = warmAgent(openaiRealtime({ apiKey, url: server.url }), { sampleRate: 8000 });
    await read.promise;
    const { errors } = await call(() => warm, { talk: { maxDuration: 100 } });
    expect(errors.length).toBe(999); // And that it is ready.
  });

  test("is given up when nobody answers, and when it is closed", async () => {
    const server = await served(serveOpenai());
    const agent = openaiRealtime({ apiKey, url: server.url });
    const timeout = 54_321;
    await withHeldTimers(
      (delay) => delay === timeout,
      async ({ fire }) => {
        warmAgent(agent, { sampleRate: 8000, timeout });
        const warm = warmAgent(agent, { sampleRate: 8000 });
        await expect.poll(server.open).toBe(2);
        warm.close();
        await expect.poll(server.open).toBe(1);
        await fire(timeout);
        await expect.poll(server.open).toBe(0);
      },
    );
  });
});

test.each(names)("%s: the key is in no URL, no error and no inspection", async (name) => {
  const server = await served(protocols[name].serve({ answers: [300] }));
  const callee: readonly CalleeAct[] = [{ type: "listen", ms: 200 }, { type: "hangup" }];
  const agent = protocols[name].agent(server);
  let shown = "";
  const { inspect } = await import("node:util");
  const result = await call(agent, {
    emulator: { callee },
    talk,
    onTalk: (talk) => {
      shown = inspect(talk, { depth: 9, showHidden: true });
    },
  });
  expect(server.upgrades).toHaveLength(1);
  const { url = "", headers } = server.upgrades[0] ?? {};
  expect(url).not.toMatch(/MARKED|xi-key/);
  expect(JSON.stringify(headers)).toMatch(name === "elevenlabs" ? /convai/ : /MARKED/);
  expect(shown + inspect(result.end) + inspect(agent, { depth: 9, showHidden: true })).not.toMatch(
    /MARKED|xi-key/,
  );
});
