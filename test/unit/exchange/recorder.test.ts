import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { readWav } from "../../../src/emulator/recording/wav.ts";
import {
  eraseRecordings,
  Recorder,
  type RecorderOptions,
  type RecordingEvent,
} from "../../../src/exchange/recorder.ts";
import { path } from "../../examples/execute.ts";

const day = 86_400_000;

/** A recorder with a folder and a database of its own, and its events. */
const stage = async (options: Partial<RecorderOptions> = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "recordings-"));
  const events: RecordingEvent[] = [];
  const db = new DatabaseSync(":memory:");
  const parts: RecorderOptions = {
    folder,
    db,
    maxDays: 30,
    maxBytes: 2 ** 30,
    onEvent: (event) => events.push(event),
    ...options,
  };
  const recorder = await Recorder.open(parts);
  onTestFinished(async () => {
    await recorder.close();
    db.close();
  });
  return { recorder, folder, events, parts };
};

const call = (id: string) => ({ id, record: true });

const constant = (count: number, value: number) => new Int16Array(count).fill(value);

/** Records some milliseconds of a call, and ends it. */
const record = async (recorder: Recorder, id: string, ms: number): Promise<void> => {
  recorder.begin(call(id));
  for (let at = 0; at < ms; at += 20) recorder.frame(id, "callee", at, constant(160, 1_000));
  recorder.end(id);
  await vi.waitFor(() => expect(recorder.find(id)?.ended_at).toBeDefined());
};

/** Both sides of a recording's file. */
const sides = (folder: string, id: string) => {
  const bytes = readFileSync(join(folder, `${id}.wav`));
  // A killed process may have written more than its head says.
  const { length } = readWav(bytes).samples;
  const view = new Int16Array(new Uint8Array(bytes.subarray(44, 44 + 4 * length)).buffer);
  return {
    callee: view.filter((_, at) => at % 2 === 0),
    application: view.filter((_, at) => at % 2 === 1),
  };
};

afterEach(() => {
  vi.useRealTimers();
});

it("keeps both sides where they were said, whatever the order of their packets", async () => {
  const { recorder, folder } = await stage();
  recorder.begin(call("call"));
  recorder.frame("call", "application", 40, constant(160, 7));
  recorder.frame("call", "callee", 20, constant(160, 5));
  recorder.frame("call", "callee", 0, constant(160, 4));
  await recorder.close();
  const { callee, application } = sides(folder, "call");
  expect([...callee]).toEqual([...constant(160, 4), ...constant(160, 5), ...constant(160, 0)]);
  expect([...application]).toEqual([...constant(320, 0), ...constant(160, 7)]);
});

it("writes a file that is valid after each half a second, while the call goes on", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const { recorder, folder } = await stage();
  recorder.begin(call("call"));
  for (let at = 0; at < 1_500; at += 500) {
    for (let more = 0; more < 500; more += 20) {
      recorder.frame("call", "callee", at + more, constant(160, 9));
    }
    vi.advanceTimersByTime(500);
    await recorder.flush();
    expect(sides(folder, "call").callee.length).toBeGreaterThan(8 * (at + 200));
  }
});

it("has a file of its owner's alone, whose name has no number", async () => {
  const { recorder, folder } = await stage();
  await record(recorder, "../v3:call", 1_000);
  expect(readdirSync(folder)).toEqual(["..%2Fv3%3Acall.wav"]);
  expect(statSync(join(folder, "..%2Fv3%3Acall.wav")).mode & 0o777).toBe(0o600);
});

it("records nothing of a call that isn't to be recorded", async () => {
  const { recorder, folder } = await stage();
  recorder.begin({ ...call("call"), record: false });
  recorder.frame("call", "callee", 0, constant(160, 1));
  recorder.end("call");
  await recorder.close();
  expect(readdirSync(folder)).toEqual([]);
  expect(recorder.latest(10)).toEqual([]);
});

it("has silence where no packets are given, such as in a pause", async () => {
  const { recorder, folder } = await stage();
  recorder.begin(call("call"));
  recorder.frame("call", "callee", 0, constant(160, 1));
  recorder.frame("call", "callee", 40, constant(160, 3));
  await recorder.close();
  const { callee } = sides(folder, "call");
  expect([callee[0], callee[160], callee[320]]).toEqual([1, 0, 3]);
});

it("a process that is killed leaves a file that has all but the last second, and the next start counts it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "recordings-"));
  const child: ChildProcess = spawn(
    process.execPath,
    [path("test/unit/exchange/recording-process.ts"), folder],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const { stdout } = child;
  if (!stdout) throw new Error("no output");
  let given = 0;
  for await (const line of createInterface(stdout)) {
    given = Number(line);
    if (given >= 8_000 * 30) child.kill("SIGKILL");
  }
  expect(child.signalCode ?? "SIGKILL").toBe("SIGKILL");
  const { callee, application } = sides(folder, "call");
  expect(callee.length).toBeGreaterThan(given - 8_000);
  expect(callee.findIndex((sample, at) => sample !== at % 30_000)).toBe(-1);
  expect(application).toEqual(callee);

  const db = new DatabaseSync(`${folder}/store`);
  onTestFinished(() => db.close());
  const recorder = await Recorder.open({ folder, db, maxDays: 1, maxBytes: 2 ** 30 });
  onTestFinished(() => recorder.close());
  expect(recorder.find("call")).toMatchObject({ end: "cut" });
  expect(recorder.find("call")?.seconds).toBeGreaterThanOrEqual(callee.length / 8_000);
  recorder.erase(["call"]);
  expect(existsSync(`${folder}/call.wav`)).toBe(false);
});

it("a full disk ends the recording, not the call: what was written stays", async () => {
  let left = 100_000;
  const { recorder, folder, events } = await stage({
    open: async (file, flags, mode) => {
      const handle = await open(file, flags, mode);
      return {
        close: () => handle.close(),
        write: (async (bytes: Uint8Array, at: number, length: number, position: number) => {
          if (left <= 0) throw Object.assign(new Error("no space"), { code: "ENOSPC" });
          // A full disk takes a part of what is written last.
          const taken = Math.min(left, length);
          left -= taken;
          return handle.write(bytes, at, taken, position);
        }) as typeof handle.write,
      };
    },
  });
  recorder.begin(call("call"));
  for (let at = 0; at < 10_000; at += 20) {
    recorder.frame("call", "callee", at, constant(160, 3));
    if (at % 500 === 0) await recorder.flush();
  }
  recorder.end("call");
  await recorder.close();
  expect(events).toMatchObject([
    { type: "recording_failed", call_id: "call", code: "ENOSPC" },
    { type: "recording_ended", call_id: "call", end: "failed" },
  ]);
  const kept = readWav(readFileSync(join(folder, "call.wav"))).samples;
  expect(kept.length).toBeGreaterThan(8_000);
  expect(kept.every((sample) => sample === 3)).toBe(true);
  expect(recorder.find("call")).toMatchObject({ end: "failed", seconds: kept.length / 8_000 });
});

it("has silence for what a slow disk did not take in five seconds, and goes on", async () => {
  const { promise, resolve: mend } = Promise.withResolvers<void>();
  let isSlow = true;
  const { recorder, folder } = await stage({
    open: async (file, flags, mode) => {
      if (isSlow) await promise;
      return open(file, flags, mode);
    },
  });
  recorder.begin(call("call"));
  for (let at = 0; at < 12_000; at += 20) {
    recorder.frame("call", "callee", at, constant(160, 3));
    if (at === 1_000) recorder.flush();
  }
  isSlow = false;
  mend();
  await recorder.close();
  const { callee } = sides(folder, "call");
  expect(callee).toHaveLength(96_000);
  const silent = callee.filter((sample) => sample === 0).length;
  expect(silent).toBe(96_000 - 8 * 770 - 40_000);
  expect(callee.subarray(-40_000).every((sample) => sample === 3)).toBe(true);
});

it("deletes what is older than the days that it keeps, and then the oldest of what is too much", async () => {
  let now = 1_000 * day;
  const { recorder, folder, events } = await stage({
    maxDays: 2,
    maxBytes: 70_000,
    now: () => now,
  });
  await record(recorder, "first", 1_000);
  now += 3 * day;
  await record(recorder, "second", 1_000);
  now += 1;
  await record(recorder, "third", 1_000);
  recorder.sweep();
  expect(readdirSync(folder).sort()).toEqual(["second.wav", "third.wav"]);
  now += 1;
  await record(recorder, "fourth", 1_000);
  recorder.begin(call("live"));
  recorder.sweep();
  expect(readdirSync(folder).sort()).toEqual(["fourth.wav", "third.wav"]);
  expect(events.filter(({ type }) => type === "recording_deleted")).toEqual([
    { type: "recording_deleted", call_id: "first", why: "age" },
    { type: "recording_deleted", call_id: "second", why: "size" },
  ]);
  expect(recorder.bytes).toBe(2 * 32_044);
});

it("erases calls, live ones too, and nothing of others", async () => {
  const { recorder, folder } = await stage();
  await record(recorder, "over", 500);
  await record(recorder, "other", 500);
  recorder.begin(call("live"));
  recorder.frame("live", "callee", 0, constant(8_000, 1));
  await recorder.flush();
  expect(readdirSync(folder)).toHaveLength(3);
  recorder.erase(["over", "live", "none"]);
  recorder.frame("live", "callee", 1_000, constant(8_000, 1));
  await recorder.flush();
  expect(readdirSync(folder)).toEqual(["other.wav"]);
  expect(recorder.latest(9).map(({ id }) => id)).toEqual(["other"]);
});

it("erases where no service runs", async () => {
  const { recorder, folder, parts } = await stage();
  await record(recorder, "over", 500);
  eraseRecordings(parts, ["over", "none"]);
  expect(readdirSync(folder)).toEqual([]);
});

it("answers a part, one side, silent gaps, two channels, and a range", async () => {
  const { recorder } = await stage();
  recorder.begin(call("call"));
  recorder.frame("call", "callee", 0, constant(16_000, 100));
  recorder.frame("call", "application", 1_000, constant(8_000, 20));
  await recorder.close();
  const samplesOf = async (response: Response | undefined) =>
    new Int16Array((await response?.arrayBuffer())?.slice(44) ?? new ArrayBuffer(0));
  const both = await samplesOf(recorder.download("call", {}, null, 1));
  expect([both.length, both[0], both[8_000]]).toEqual([16_000, 100, 120]);
  const part = await samplesOf(
    recorder.download("call", { from: 500, to: 1_500, side: "application" }, null, 1),
  );
  expect([part.length, part[0], part[4_000]]).toEqual([8_000, 0, 20]);
  const gaps = [{ from: 0, to: 1_500 }];
  const quiet = await samplesOf(recorder.download("call", { gaps }, null, 1));
  expect([quiet[0], quiet[11_999], quiet[12_000]]).toEqual([0, 0, 120]);
  const stereo = await samplesOf(recorder.download("call", {}, null, 2));
  expect([stereo.length, ...stereo.subarray(16_000, 16_002)]).toEqual([32_000, 100, 20]);
  const range = recorder.download("call", {}, "bytes=44-47", 2);
  expect([range?.status, range?.headers.get("Content-Range")]).toEqual([206, "bytes 44-47/64044"]);
  expect(await range?.arrayBuffer()).toEqual(new Int16Array([100, 0]).buffer);
  expect(recorder.download("none", {}, null, 1)).toBeUndefined();
});
