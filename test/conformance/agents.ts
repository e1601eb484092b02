import { assert } from "chai";
import {
  type Agent,
  type AgentEvent,
  AgentException,
  type AgentMessage,
  type AgentSocket,
  connectAgent,
  type EndReason,
  type OpenSocket,
  openaiRealtime,
  type SessionOptions,
  warmAgent,
} from "outdial/agents";
import type { MediaEvent, MediaSocket } from "outdial/flows";
import { ownAgent } from "../../examples/own-agent/agent.ts";
import type { Case } from "./case.ts";

type Listener = (event: MediaEvent) => void;

/** A socket whose other end is the test. */
class Socket implements MediaSocket, AgentSocket {
  readyState = 1;
  readonly sent: unknown[] = [];
  closed: unknown[] | undefined;
  readonly listeners = new Map<string, Set<Listener>>();

  send(message: string | Uint8Array): void {
    this.sent.push(message);
  }

  close(...how: unknown[]): void {
    this.closed ??= how;
    this.readyState = 3;
  }

  addEventListener(type: string, listener: Listener): void {
    this.listeners.set(type, (this.listeners.get(type) ?? new Set()).add(listener));
  }

  removeEventListener(type: string, listener: Listener): void {
    this.listeners.get(type)?.delete(listener);
  }

  emit(type: string, event: object = {}): void {
    for (const listener of [...(this.listeners.get(type) ?? [])]) listener({ type, ...event });
  }

  receive(message: object | ArrayBuffer): void {
    const data = message instanceof ArrayBuffer ? message : JSON.stringify(message);
    this.emit("message", { data });
  }

  get isLeft(): boolean {
    return [...this.listeners.values()].every(({ size }) => size === 0);
  }

  /** What was sent as text, read. */
  get messages(): Record<string, unknown>[] {
    return this.sent.flatMap((each) => (typeof each === "string" ? [JSON.parse(each)] : []));
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

const until = async (isSo: () => boolean): Promise<void> => {
  for (let tries = 0; !isSo(); tries++) {
    if (tries > 5_000) assert.fail("it never came so far");
    await pause(5);
  }
};

const start = (sample_rate: number) => ({
  type: "start",
  account_id: "acc_1",
  call_id: "cs_1",
  stream_id: "st_1",
  message_id: 1,
  data: { encoding: "audio/l16", sample_rate, channels: 1 },
});

const audio = (bytes: Uint8Array) => ({
  type: "audio",
  stream_id: "st_1",
  message_id: 2,
  data: { audio_b64: btoa(String.fromCharCode(...bytes)) },
});

const bytesOf = (text: unknown): number[] =>
  [...atob(String(text))].map((character) => character.charCodeAt(0));

/** A talk on two sockets of the test. */
const talking = (agent: Agent, options: SessionOptions = {}, sample_rate = 8000) => {
  const [line, mind] = [new Socket(), new Socket()];
  const openings: Parameters<OpenSocket>[0][] = [];
  const errors: unknown[] = [];
  const open: OpenSocket = (opening) => {
    openings.push(opening);
    return mind;
  };
  const talk = connectAgent(line, agent, {
    open,
    onError: (error) => errors.push(error),
    ...options,
  });
  line.receive(start(sample_rate));
  return { line, mind, talk, openings, errors, open };
};

const noise = (length: number): Uint8Array<ArrayBuffer> => {
  let seed = 7;
  return Uint8Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % 256;
  });
};

/** An agent that hears and speaks in formats of its own, and is ready at once. */
const formatted = (encoding: "pcm" | "ulaw", sampleRate: number): Agent => ({
  name: "formatted",
  address: () => ({ url: "wss://agent.test/" }),
  codec: () => ({
    formats: { input: { encoding, sampleRate }, output: { encoding, sampleRate } },
    open: () => ["hello"],
    answered: () => [],
    encode: (heard) => [heard],
    decode: (frame: AgentMessage): readonly AgentEvent[] =>
      typeof frame === "string"
        ? [{ type: "ready" }]
        : [
            { type: "audio", audio: frame, response: "1" },
            { type: "response_done", response: "1" },
          ],
    interrupted: () => [],
    toolResult: () => [],
  }),
});

/** FNV-1a: a number that tells bytes apart. */
const hash = (bytes: Iterable<number>): number => {
  let sum = 0x811c9dc5;
  for (const byte of bytes) sum = Math.imul(sum ^ byte, 0x01000193) >>> 0;
  return sum;
};

/** What a function throws. */
const exceptionIn = (work: () => unknown): Record<string, unknown> => {
  try {
    work();
  } catch (error) {
    return Object(error);
  }
  return assert.fail("nothing was thrown");
};

const end = async (promise: Promise<{ readonly reason: EndReason }>) => (await promise).reason;

export const cases: readonly Case[] = [
  {
    name: "agents: an agent of one's own, in 40 lines, hears, speaks, is interrupted and let go",
    run: async () => {
      const said: string[] = [];
      const { line, mind, talk, openings, errors } = talking(ownAgent("wss://agent.test/", "key"), {
        onTranscript: ({ text }) => said.push(text),
      });
      line.receive(audio(new Uint8Array([1, 2])));
      await until(() => mind.sent.length === 2);
      assert.deepEqual(mind.messages, [
        { type: "configure", sample_rate: 8000 },
        { type: "begin" },
      ]);
      assert.deepEqual(openings[0]?.headers, { Authorization: "Bearer key" });
      mind.receive({ type: "configured" });
      line.receive(audio(new Uint8Array([3, 4])));
      assert.deepEqual(mind.sent.slice(2), [new Uint8Array([1, 2]), new Uint8Array([3, 4])]);
      mind.receive({ type: "text", text: "Hello" });
      mind.receive({ type: "answer", id: "1" });
      mind.receive(noise(16_000).buffer);
      await until(() => line.sent.length === 2);
      const spoken = line.messages.flatMap(({ audio_b64 }) => bytesOf(audio_b64));
      assert.deepEqual(spoken, [...noise(16_000)]);
      mind.receive({ type: "speech" });
      assert.deepEqual(line.messages.at(-1), { type: "clear" }); // In the same turn.
      const { type, ms } = Object(mind.messages.at(-1));
      assert.equal(type, "cut");
      assert.isTrue(ms >= 0 && ms <= 1000);
      mind.receive(noise(16_000).buffer); // Late, of the answer that was cut off.
      await pause(80);
      assert.deepEqual(line.messages.at(-1), { type: "clear" });
      for (const id of ["2", "3"]) {
        const { length } = line.sent;
        mind.receive({ type: "answer", id });
        mind.receive(noise(1_600).buffer);
        mind.receive({ type: "said" });
        await until(() => line.sent.length > length);
        assert.lengthOf(bytesOf(line.messages.at(-1)?.audio_b64), 1_600);
      }
      talk.close();
      assert.equal(await end(talk.ended), "closed");
      assert.deepEqual([line.isLeft, mind.isLeft], [true, true]);
      assert.deepEqual([line.closed, mind.closed], [[1000, "closed"], [1000]]);
      assert.deepEqual([said, errors], [["Hello"], []]);
    },
  },
  {
    name: "agents: audio becomes the same bits on every runtime, both ways, at every rate",
    run: async () => {
      const hashes: Record<string, readonly [heard: number, spoken: number]> = {};
      for (const [encoding, rate] of [
        ["ulaw", 8000],
        ["pcm", 16_000],
        ["pcm", 24_000],
        ["pcm", 22_050],
      ] as const) {
        const { line, mind, talk } = talking(formatted(encoding, rate));
        await until(() => mind.sent.length === 1);
        mind.emit("message", { data: "ready" });
        for (let at = 0; at < 1600; at += 400) line.receive(audio(noise(1600).slice(at, at + 400)));
        const heard = mind.sent.slice(1).flatMap((each) => [...Object(each)]);
        mind.receive(noise(1600).buffer);
        await until(() => line.sent.length > 0); // The first audio, and the end of the filter.
        const spoken = line.messages.flatMap(({ audio_b64 }) => bytesOf(audio_b64));
        hashes[`${encoding}_${rate}`] = [hash(heard), hash(spoken)];
        talk.close();
      }
      assert.deepEqual(hashes, {
        ulaw_8000: [3317892659, 2630006757],
        pcm_16000: [1518477650, 349926329],
        pcm_24000: [2060701436, 69176862],
        pcm_22050: [1051337502, 1799827409],
      });
    },
  },
  {
    name: "agents: an agent that can't be reached ends the call with its reason, and no word of the key",
    run: async () => {
      const { talk, line, errors } = talking(ownAgent("wss://agent.test/", "MARKED"), {
        open: () => {
          throw new Error("MARKED");
        },
      });
      assert.equal(await end(talk.ended), "agent_unreachable");
      assert.deepEqual(line.closed, [1011, "agent_unreachable"]);
      assert.instanceOf(errors[0], AgentException);
      assert.notInclude(String(errors[0]) + JSON.stringify(errors), "MARKED");
    },
  },
  {
    name: "agents: a plain socket leads to this machine only, and never is the key in a URL",
    run: async () => {
      for (const url of ["ws://agent.test/", "https://agent.test/", "wss://a:b@agent.test/", ""]) {
        const { talk, openings } = talking(ownAgent(url, "key"));
        assert.equal(await end(talk.ended), "agent_unreachable");
        assert.lengthOf(openings, 0);
      }
      const { openings, mind, talk } = talking(ownAgent("ws://127.0.0.1:9/", "key"));
      await until(() => mind.sent.length > 0);
      assert.equal(openings[0]?.url, "ws://127.0.0.1:9/");
      talk.close();
    },
  },
  {
    name: "agents: options that break a rule are refused without their values, and a key in a page",
    run: () => {
      const options = { apiKey: "key", dangerouslyAllowBrowser: true };
      for (const [more, param] of [
        [{ apiKey: "MARKED\n" }, "apiKey"],
        [{ url: "ws://MARKED.test/" }, "url"],
      ] as const) {
        const error = exceptionIn(() => openaiRealtime({ ...options, ...more }));
        assert.deepInclude(error, { name: "BadParametersException", param, placed: "no" });
        assert.notInclude(String(error), "MARKED");
      }
      const late = exceptionIn(() =>
        connectAgent(new Socket(), openaiRealtime(options), { maxDuration: 0 }),
      );
      assert.deepInclude(late, { name: "BadParametersException", param: "maxDuration" });
      if ("window" in globalThis && "document" in globalThis) {
        const error = exceptionIn(() => openaiRealtime({ apiKey: "key" }));
        assert.deepInclude(error, { param: "dangerouslyAllowBrowser" });
      }
    },
  },
  {
    name: "agents: a service that never starts, or hangs up, ends the talk and leaves no timer",
    run: async () => {
      const silent = new Socket();
      const talk = connectAgent(silent, ownAgent("wss://agent.test/", "key"), {
        startTimeout: 20,
      });
      assert.equal(await end(talk.ended), "no_start");
      const { line, mind, talk: other } = talking(ownAgent("wss://agent.test/", "key"));
      await until(() => mind.sent.length === 2);
      line.emit("close", { code: 1000 });
      assert.equal(await end(other.ended), "hung_up");
      assert.deepEqual([silent.isLeft, line.isLeft, mind.isLeft], [true, true, true]);
      assert.equal(mind.readyState, 3);
    },
  },
  {
    name: "agents: an adapter, a tool or a socket that throws ends the talk by name, and nothing is left",
    run: async () => {
      const boom = (): never => {
        throw new Error("MARKED");
      };
      const own = ownAgent("wss://agent.test/", "key");
      const codec: Agent["codec"] = (line) => ({ ...own.codec(line), answered: boom, close: boom });
      const adapter = talking({ ...own, codec });
      assert.equal(await end(adapter.talk.ended), "agent_failed");
      const rubbish = talking(own, { open: () => ({}) as never });
      assert.equal(await end(rubbish.talk.ended), "agent_unreachable");
      const output = "\0".repeat(200_000);
      const t = { description: "", run: () => output };
      const { line, mind, talk, errors } = talking({ ...own, tools: { t } });
      await until(() => mind.sent.length === 2);
      mind.receive({ type: "configured" });
      mind.receive({ type: "tool", id: "1", name: "t", args: {} });
      await until(() => mind.sent.length === 3);
      assert.deepInclude(mind.messages.at(-1), { output: "The answer was too long." });
      talk.close();
      assert.equal(await end(talk.ended), "closed");
      for (const socket of [adapter.line, adapter.mind, rubbish.line, line, mind]) {
        assert.isTrue(socket.isLeft);
        assert.equal(socket.readyState, 3);
      }
      assert.notInclude(JSON.stringify([adapter.errors, rubbish.errors, errors]), "MARKED");
    },
  },
  {
    name: "agents: what an agent calls its error is reported, unless the key is in it",
    run: async () => {
      const apiKey = "sk-live-abcdefghijklmnop";
      const options = { apiKey, dangerouslyAllowBrowser: true };
      const { mind, talk, errors } = talking(openaiRealtime(options));
      await until(() => mind.sent.length > 0);
      for (const code of [apiKey, "abcdefgh_ijklmnop", "invalid_value"]) {
        mind.receive({ type: "error", error: { code } });
      }
      talk.close();
      const codes = errors.map((error) => Object(error).code);
      assert.deepEqual(codes, [undefined, undefined, "invalid_value"]);
    },
  },
  {
    name: "agents: an agent whose every response fails ends within its limit of silence, with the service's code",
    run: async () => {
      const agent = openaiRealtime({ apiKey: "sk-key", dangerouslyAllowBrowser: true });
      const { mind, talk, errors } = talking(agent, { silenceTimeout: 300 });
      await until(() => mind.sent.length > 0);
      mind.receive({ type: "session.updated" });
      let ended = false;
      talk.ended.then(() => {
        ended = true;
      });
      const status_details = { type: "failed", error: { code: "server_error" } };
      for (let at = 0; !ended; at++) {
        if (at > 300) assert.fail("it never ended");
        const id = `r${at}`;
        mind.receive({ type: "response.created", response: { id } });
        mind.receive({ type: "response.done", response: { id, status: "failed", status_details } });
        await pause(20);
      }
      assert.equal(await end(talk.ended), "agent_silent");
      assert.isAbove(errors.length, 0);
      for (const error of errors) assert.deepInclude(Object(error), { code: "server_error" });
    },
  },
  {
    name: "agents: a response that fails for want of quota ends the call at once",
    run: async () => {
      const agent = openaiRealtime({ apiKey: "sk-key", dangerouslyAllowBrowser: true });
      const { mind, talk } = talking(agent);
      await until(() => mind.sent.length > 0);
      const status_details = { type: "failed", error: { code: "insufficient_quota" } };
      mind.receive({
        type: "response.done",
        response: { id: "r", status: "failed", status_details },
      });
      assert.equal(await end(talk.ended), "agent_refused");
    },
  },
  {
    name: "agents: audio and texts by the earlier names of OpenAI's protocol are taken",
    run: async () => {
      const texts: string[] = [];
      const agent = openaiRealtime({ apiKey: "sk-key", dangerouslyAllowBrowser: true });
      const { line, mind, talk } = talking(agent, { onTranscript: ({ text }) => texts.push(text) });
      await until(() => mind.sent.length > 0);
      mind.receive({ type: "session.updated" });
      const where = { response_id: "r1", item_id: "i1", output_index: 0, content_index: 0 };
      mind.receive({ type: "response.created", response: { id: "r1" } });
      const delta = btoa("\u007f".repeat(800));
      for (let at = 0; at < 5; at++)
        mind.receive({ type: "response.audio.delta", ...where, delta });
      mind.receive({ type: "response.audio_transcript.delta", ...where, delta: "Hello" });
      mind.receive({ type: "response.done", response: { id: "r1", status: "completed" } });
      const bytes = () => line.messages.flatMap(({ audio_b64 }) => bytesOf(audio_b64)).length;
      await until(() => bytes() === 8000);
      assert.deepEqual(texts, ["Hello"]);
      talk.close();
    },
  },
  {
    name: "agents: unknown options, and tools that can't run, are refused by name",
    run: () => {
      const options = { apiKey: "key", dangerouslyAllowBrowser: true };
      const misspelt: SessionOptions = Object({ silnce: 3 });
      const unknown = exceptionIn(() =>
        connectAgent(new Socket(), openaiRealtime(options), misspelt),
      );
      assert.deepInclude(unknown, { name: "BadParametersException", param: "silnce" });
      for (const tools of [{ "look up": { description: "", run: () => "" } }, { t: {} }]) {
        const error = exceptionIn(() => openaiRealtime({ ...options, tools: Object(tools) }));
        assert.deepInclude(error, { name: "BadParametersException", placed: "no" });
      }
    },
  },
  {
    name: "agents: a warm agent is connected before the call, and its first word doesn't wait",
    run: async () => {
      const [line, mind] = [new Socket(), new Socket()];
      let opened = 0;
      const open: OpenSocket = () => {
        opened++;
        return mind;
      };
      const warm = warmAgent(ownAgent("wss://agent.test/", "key"), { sampleRate: 8000, open });
      await until(() => mind.sent.length === 1);
      mind.receive({ type: "configured" });
      const talk = connectAgent(line, warm, { open });
      line.receive(start(8000));
      assert.deepEqual(mind.messages.at(-1), { type: "begin" }); // In the turn of the answer.
      assert.equal(opened, 1);
      talk.close();
      warm.close();
      assert.isTrue(mind.isLeft);
    },
  },
];
