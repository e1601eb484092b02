import { afterEach, describe, expect, it, vi } from "vitest";
import {
  type CallRecord,
  createEmulator,
  type EmulatorOptions,
} from "../../../src/emulator/index.ts";

afterEach(() => void vi.unstubAllGlobals());

const other = "+12025550198";

/** A call to the end, whose flow answers one action; what else is asked is the media's answer. */
const callWith = async (
  action: unknown,
  {
    media = () => new Response(),
    to_number = "+12025550100",
    ...options
  }: EmulatorOptions & { media?: () => Response; to_number?: string } = {},
) => {
  const emulator = createEmulator({
    clock: "instant",
    untimedMedia: true,
    fetch: ({ url }) =>
      url.endsWith("/flow")
        ? Response.json(action)
        : url.endsWith("/status")
          ? new Response()
          : media(),
    ...options,
  });
  const response = await emulator.fetch("https://emulator.test/api/v1/calls/initiate", {
    method: "POST",
    headers: { "X-API-Key": emulator.apiKey, "Content-Type": "application/json" },
    body: JSON.stringify({
      from_number: "+12025550199",
      to_number,
      flow_url: "https://app.test/flow",
      status_callback_url: "https://app.test/status",
    }),
  });
  return { emulator, call: await emulator.ended((await response.json()).data.id) };
};

const legOf = ({ history }: CallRecord) =>
  history.flatMap((entry) => (entry.type === "leg" ? [entry] : []));

const answer = { outcome: "answer" } as const;

describe("file_url of a play, as the deployed service's npm builder writes it", () => {
  const file_url = "https://app.test/hello.wav";
  const played = ({ history }: CallRecord) =>
    history.flatMap((entry) => (entry.type === "action" ? [entry.action] : []));

  it("is taken for media_url, and is not an unknown field", async () => {
    const { call } = await callWith({ action: "play", file_url });
    expect(call).toMatchObject({ state: "completed", reason: "normal" });
    expect(played(call)).toEqual([{ action: "play", media_url: file_url }]);
    expect(call.history.find(({ type }) => type === "flow")).not.toHaveProperty("unknown_fields");
  });

  it("is taken in a branch of a dial too", async () => {
    const action = { action: "dial", to: "+12025550101", on_busy: { action: "play", file_url } };
    const { call } = await callWith(action);
    expect(call).toMatchObject({ state: "completed", reason: "normal" });
    expect(played(call)).toContainEqual({ action: "play", media_url: file_url });
  });

  it("is an unknown field beside a media_url, and of any other action", async () => {
    for (const action of [
      { action: "play", media_url: "https://app.test/other.wav", file_url },
      { action: "hangup", file_url },
    ]) {
      const { call } = await callWith(action);
      const flow = call.history.find(({ type }) => type === "flow");
      expect(flow).toMatchObject({ unknown_fields: ["file_url"] });
      expect(played(call)[0]).not.toMatchObject({ media_url: file_url });
    }
  });
});

describe("a flow that can't be followed", () => {
  const loopback = { action: "play", media_url: "http://127.0.0.1/a.wav" };

  it.each([
    ["play", "the action must be play, stream, dial, hangup, say, gather or record"],
    [{ action: "dial", to: other, on_busy: loopback }, "on_busy.media_url must be https or wss"],
  ])("%j: %s", async (action, words) => {
    expect((await callWith(action)).call.flow_error).toContain(`step 1: ${words}`);
  });

  it.each<[string, () => Response]>([
    [
      "gave no answer: gone",
      () => {
        throw new Error("gone");
      },
    ],
    [
      "gave no answer: redirects",
      () => Object.defineProperty(new Response(), "type", { value: "opaqueredirect" }),
    ],
  ])("media that %s", async (words, media) => {
    const { call } = await callWith(
      { ...loopback, media_url: "https://app.test/a.wav" },
      { media },
    );
    expect(call.flow_error).toBe(`step 1: media_url ${words}`);
  });

  it("a stream in a runtime without WebSocket", async () => {
    vi.stubGlobal("WebSocket", undefined);
    const { call } = await callWith({ action: "stream", ws_url: "wss://app.test/" });
    expect(call.flow_error).toContain("ws_url needs a WebSocket");
  });

  it("a stream whose socket stays closed", async () => {
    const close = vi.fn();
    class Mute extends EventTarget {
      close = close;
    }
    const WebSocket = Mute as unknown as NonNullable<EmulatorOptions["WebSocket"]>;
    const { call } = await callWith(
      { action: "stream", ws_url: "wss://app.test/" },
      { WebSocket, responseTimeout: 20 },
    );
    expect(call.flow_error).toBe("step 1: ws_url did not open within 20 ms");
    expect(close).toHaveBeenCalledOnce();
  });
});

describe("a dial", () => {
  it("whose branch is a hangup ends the call there", async () => {
    const action = { action: "dial", to: "+12025550101", on_busy: { action: "hangup" } };
    const { call } = await callWith({ ...action, flow_url: "https://app.test/next/flow" });
    expect(call.history.filter(({ type }) => type === "flow")).toHaveLength(1);
    expect(call.reason).toBe("normal");
  });

  it.each([
    [other, 5_000],
    ["+12025550105", 2_500],
  ])("to %s talks for %i ms", async (to, talk) => {
    const { call } = await callWith({ action: "dial", to });
    const [answered, ended] = legOf(call).slice(-2);
    expect([answered?.state, ended?.state]).toEqual(["answered", "completed"]);
    expect(Date.parse(ended?.at ?? "") - Date.parse(answered?.at ?? "")).toBe(talk);
  });

  it.each([
    [1_000, "failed", "canceled"],
    [3_000, "completed", "normal"],
  ] as const)("whose callee leaves after %i ms is %s: %s", async (hangUpAfter, state, reason) => {
    const { call } = await callWith(
      { action: "dial", to: other },
      { onCall: () => ({ ...answer, hangUpAfter }) },
    );
    expect(legOf(call).at(-1)).toMatchObject({ state, reason });
  });

  it.each([true, false])("with record %j is heard in the recording: %j", async (record) => {
    const { call, emulator } = await callWith({ action: "dial", to: other, record });
    const wav = await emulator.fetch(call.recording_url ?? "");
    const samples = new Int16Array((await wav.arrayBuffer()).slice(44));
    expect(samples.some((each) => each !== 0)).toBe(record);
  });
});

it("a callee who leaves midway leaves a second into an action of open length", async () => {
  const { call } = await callWith({ action: "dial", to: other }, { to_number: "+12025550105" });
  expect(call).toMatchObject({ reason: "normal", duration: 1 });
});

it("what onCall throws is reported, whatever it is", async () => {
  const onCall = () => {
    throw "no idea";
  };
  const { call } = await callWith({ action: "hangup" }, { onCall });
  expect(call.history).toContainEqual(
    expect.objectContaining({ type: "error", source: "onCall", message: "no idea" }),
  );
});

it("a call that nobody knows is neither answered, rejected nor hung up", async () => {
  const { emulator } = await callWith({ action: "hangup" });
  for (const act of [emulator.answer, emulator.reject, emulator.hangup]) {
    expect(act("cs_none")).toBe(false);
  }
});

describe("a media socket on the instant clock", () => {
  const action = { action: "stream", ws_url: "wss://app.test/media" };
  const opened = vi.fn((_: string) => {
    throw new Error("opened");
  });
  const stubSocket = () => {
    opened.mockClear();
    vi.stubGlobal("WebSocket", function WebSocket(url: string) {
      opened(url);
    });
  };

  it("is refused by name, and not opened: its times would be wrong", async () => {
    stubSocket();
    const { call } = await callWith(action, { untimedMedia: false });
    expect(call.flow_error).toMatch(
      /^step 1: ws_url needs clock: "real", or simulateCall of outdial\/testing/,
    );
    expect(opened).not.toHaveBeenCalled();
  });

  it.each([{ untimedMedia: true }, { untimedMedia: false, clock: "real", speed: 1_000 } as const])(
    "is opened where only its messages matter, and on the real clock: %o",
    async (options) => {
      stubSocket();
      const { call } = await callWith(action, options);
      expect(call.flow_error).toMatch(/opened/);
      expect(opened).toHaveBeenCalledOnce();
    },
  );
});
