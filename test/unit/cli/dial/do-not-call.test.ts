import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { DoNotCallFile, unreadable } from "../../../../src/cli/dial/do-not-call.ts";
import { numberReader } from "../../../../src/cli/dial/numbers.ts";
import { stageOf } from "../../campaigns/stage.ts";

let folder: string;
let file: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "do-not-call-"));
  file = join(folder, "list.txt");
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

describe("the numbers of a do-not-call file", () => {
  it.each(["\n", "\r\n", "\r"])("are one per line, with the line end %j", async (end) => {
    writeFileSync(file, ["\ufeff+12025550100", "", ' "+12025550101" # asked', "# no"].join(end));
    const numbers = await new DoNotCallFile(file, await numberReader()).numbers();
    expect(numbers).toEqual(["+12025550100", "+12025550101"]);
    writeFileSync(file, ["+12025550100", "", "nobody"].join(end));
    await expect(new DoNotCallFile(file, await numberReader()).numbers()).rejects.toThrow("line 3");
  });

  it("are read 1,000 lines at a time: others have their turn in between", async () => {
    writeFileSync(file, "+12025550100\n".repeat(10_000));
    let now = 0;
    const counts: number[] = [];
    const read = (number: string) => {
      now++;
      return { number };
    };
    let isDone = false;
    const done = new DoNotCallFile(file, read).numbers().finally(() => {
      isDone = true;
    });
    while (!isDone) {
      counts.push(now);
      now = 0;
      await turn();
    }
    counts.push(now);
    expect(await done).toHaveLength(10_000);
    expect(Math.max(...counts)).toBeLessThanOrEqual(1_000);
  });
});

describe("a do-not-call file that is away during a run", () => {
  const setUp = async () => {
    vi.useFakeTimers({ toFake: ["setInterval"] });
    writeFileSync(file, "");
    const { campaign } = await stageOf();
    const messages: string[] = [];
    const list = new DoNotCallFile(file, await numberReader());
    const watch = list.watch(campaign, (message) => messages.push(message));
    const look = async (times = 1): Promise<void> => {
      for (let each = 0; each < times; each++) {
        vi.advanceTimersByTime(1_000);
        await turn();
      }
    };
    return { campaign, watch, look, messages, signal: new AbortController().signal };
  };

  it("pauses the campaign, and says once that it is looked for", async () => {
    const { campaign, look, messages, watch } = await setUp();
    rmSync(file);
    await look(3);
    expect(campaign.progress()).toMatchObject({ state: "paused", reason: unreadable });
    expect([...campaign.audit()].filter(({ event }) => event === "paused")).toHaveLength(1);
    expect(messages).toEqual([
      "the do-not-call list cannot be read (ENOENT); no call begins, and it is read again for 60 s",
    ]);
    watch.stop();
  });

  it("is read again once it is back, also after a minute less a second", async () => {
    const { look, messages, watch, signal } = await setUp();
    rmSync(file);
    await look();
    const isBack = watch.readAgain(signal);
    await look(59);
    writeFileSync(file, "+12025550100\n");
    await look();
    expect(await isBack).toBe(true);
    expect(messages.at(-1)).toBe("the do-not-call list is read again: calls go on");
    watch.stop();
  });

  it("is waited for 60 looks, and no longer than the run", async () => {
    const { look, watch, signal } = await setUp();
    rmSync(file);
    await look();
    const isBack = watch.readAgain(signal);
    const interrupt = new AbortController();
    const isBackBefore = watch.readAgain(interrupt.signal);
    interrupt.abort();
    expect(await isBackBefore).toBe(false);
    await look(60);
    expect(await isBack).toBe(false);
    watch.stop();
  });
});
