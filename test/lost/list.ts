import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomOf } from "../random.ts";
import type { DialerGiven } from "./dialer.ts";
import type { Fate } from "./plan.ts";
import { type Answered, startService } from "./service.ts";

/** A list that is dialled by processes that are killed, at a service whose answers are lost. */
export interface LostList {
  readonly contacts: number;
  readonly kills: number;
  readonly seed: number;
  readonly idempotent: boolean;
}

const whole: Fate = { is: "whole" };

/** What becomes of the POSTs of each contact: a third of the answers are lost, some of them more often than `create` asks. */
const fatesOf = (random: () => number): readonly Fate[] => {
  const cut: Fate = { is: "cut", bytes: Math.floor(random() * 400), by: "end" };
  const kind = Math.floor(random() * 20);
  if (kind < 4) return [cut, whole];
  if (kind < 6) return [cut, { is: "status", status: 503, places: true }, cut, cut, whole];
  if (kind < 7) return [{ is: "unplaced" }, whole];
  return [whole];
};

/**
 * Dials a list, and kills the process among its POSTs.
 *
 * @returns what must not be, as lines, and what happened
 */
export const lostList = async ({ contacts, kills, seed, idempotent }: LostList) => {
  const random = randomOf(seed);
  const folder = mkdtempSync(join(tmpdir(), "lost-"));
  const numbers = Array.from(
    { length: contacts },
    (_, at) => `+1202555${String(at).padStart(4, "0")}`,
  );
  const fates = new Map(numbers.map((number) => [number, fatesOf(random)]));
  const service = await startService(({ to_number }): Answered => {
    return { name: to_number, fates: fates.get(to_number) ?? [whole] };
  });
  const given: DialerGiven = {
    ...{ file: join(folder, "list.outdial"), numbers, baseUrl: service.baseUrl, idempotent },
  };
  const dial = () =>
    spawn(process.execPath, ["test/lost/dialer.ts", JSON.stringify(given)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
  let killed = 0;
  for (let kill = 0; kill < kills; kill++) {
    const child = dial();
    const exited = once(child, "exit");
    const most = service.posts() + 1 + Math.floor((random() * 1.5 * contacts) / kills);
    while (child.exitCode === null && service.posts() < most)
      await new Promise((resolve) => setTimeout(resolve, 2));
    if (child.exitCode === null) killed++;
    child.kill("SIGKILL");
    await exited;
  }
  const child = dial();
  let output = "";
  child.stdout.on("data", (part) => (output += part));
  const [code] = await once(child, "close");
  const dialled = JSON.parse(/^DIALLED (.*)$/m.exec(output)?.[1] ?? "{}");
  const faults = code === 0 ? [] : [`exit ${code}`];
  let open = 0;
  for (const number of numbers) {
    const { calls, posts } = service.seen(number);
    if (calls.length > 1) faults.push(`${number} was called ${calls.length} times`);
    if (new Set(posts).size > 1) faults.push(`${number}: the POSTs are not the same`);
    if (!idempotent && posts.length > 1) faults.push(`${number}: ${posts.length} POSTs`);
    const id = dialled.ids?.[number];
    if (id === undefined || id === null) open++;
    else if (id !== calls[0]) faults.push(`${number} has another id than its call`);
  }
  service.close();
  rmSync(folder, { recursive: true });
  const share = (100 * open) / contacts;
  if (idempotent && share > 1) faults.push(`${share.toFixed(2)} % unknown`);
  const summary = {
    contacts,
    kills,
    killed,
    seed,
    idempotent,
    posts: service.posts(),
    open,
    share,
  };
  return { faults, summary };
};
