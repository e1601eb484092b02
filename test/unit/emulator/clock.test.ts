import { describe, expect, it, vi } from "vitest";
import { type Clock, instantClock, realClock } from "../../../src/emulator/clock.ts";

const clocks: readonly [string, Clock][] = [
  ["instant", instantClock],
  ["real", realClock(1_000)],
];

describe.each(clocks)("the %s clock", (_, clock) => {
  it("adds up waits", async () => {
    const time = clock();
    const start = time.now();
    await time.run(async () => {
      await time.wait(20_000);
      await time.wait(10_000);
    });
    expect(time.now() - start).toBeGreaterThanOrEqual(29_000);
  });

  it("does what is planned in the order of its time, and not after stop", async () => {
    const time = clock();
    const seen: string[] = [];
    await time.run(async () => {
      time.after(30_000, () => seen.push("second"));
      time.after(10_000, () => seen.push("first"));
      time.after(90_000, () => seen.push("never"));
      await time.wait(60_000);
      seen.push("waited");
      time.stop();
      await time.wait(600_000_000);
    });
    expect(seen).toEqual(["first", "second", "waited"]);
  });

  it("plans nothing more after stop", async () => {
    const time = clock();
    const act = vi.fn();
    await time.run(async () => {
      const other = time.fork();
      time.stop();
      time.after(1, act);
      await other.wait(5_000);
    });
    expect(act).not.toHaveBeenCalled();
  });

  it("ends a wait by skip, and every wait by stop", async () => {
    const time = clock();
    // These waits are so long that the test would end by its time-out.
    await time.run(async () => {
      time.after(1_000, () => time.skip());
      await time.wait(600_000_000);
      time.after(1_000, () => time.stop());
      await time.wait(600_000_000);
      await time.wait(600_000_000);
    });
  });

  it("runs the activities of one call by the same time", async () => {
    const line = clock();
    const post = line.fork();
    const seen: string[] = [];
    await line.run(async () => {
      const posting = post.run(async () => {
        await post.wait(20_000);
        seen.push("post 20");
        line.skip();
        await post.wait(20_000);
        seen.push("post 40");
      });
      await line.wait(10_000);
      seen.push("line 10");
      await line.wait(20_000);
      seen.push("line 30");
      void posting.then(() => seen.push("end"));
      await line.wait(60_000);
    });
    expect(seen).toEqual(["line 10", "post 20", "line 30", "post 40", "end"]);
  });
});

describe("the instant clock", () => {
  it("stands still while work goes on", async () => {
    const line = instantClock();
    const post = line.fork();
    const start = line.now();
    let passed = -1;
    await line.run(async () => {
      void post.run(async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        passed = post.now() - start;
      });
      await line.wait(50_000);
    });
    expect(passed).toBe(0);
    expect(line.now() - start).toBe(50_000);
  });
});

describe("the real clock", () => {
  it("leaves no timer once it is stopped", () => {
    vi.useFakeTimers();
    try {
      const time = realClock(1)();
      void time.wait(1_000);
      time.after(1_000, () => {});
      expect(vi.getTimerCount()).toBe(2);
      time.stop();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
