import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { DatabaseSync } from "node:sqlite";
import { openCampaign } from "outdial/campaigns";

/** How a pace was kept. */
export interface PaceTold {
  /** Calls a second, as it was asked for. */
  readonly rate: number;
  /** Calls a second, as they were. */
  readonly kept: number;
  /** The most in any second. */
  readonly most: number;
}

/** When the POSTs of a list begin that is called at a pace, by the clock on the wall. */
const timesAt = async (rate: number, seconds: number, file: string): Promise<readonly number[]> => {
  const times: number[] = [];
  const campaign = await openCampaign(new DatabaseSync(file), {
    from_number: "+12025550199",
    flow_url: "https://app.test/flow",
    status_callback_url: "https://app.test/status",
    secret: "a secret that was made at random",
    create: async () => {
      times.push(Date.now());
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { id: `cs_${times.length}` };
    },
    notified: false,
    rate,
    window: "always",
  });
  const count = Math.ceil(rate * (seconds + 2));
  await campaign.add(
    Array.from({ length: count }, (_, index) => ({ to_number: `+1${3_035_000_000 + index}` })),
  );
  await campaign.run({ signal: AbortSignal.timeout(seconds * 1000 + 500) });
  await campaign.close();
  return times;
};

const told = (rate: number, seconds: number, times: readonly number[]): PaceTold => {
  const [first = 0] = times;
  const within = times.filter((at) => at < first + seconds * 1000);
  const most = within.map((at, index) => {
    const after = within.findIndex((other, later) => later > index && other >= at + 1000);
    return (after < 0 ? within.length : after) - index;
  });
  return { rate, kept: within.length / seconds, most: Math.max(...most) };
};

const [, , seconds = "", ...rates] = process.argv;
const folder = mkdtempSync(join(tmpdir(), "bench-"));
const all = await Promise.all(
  rates.map(async (rate) => {
    const times = await timesAt(Number(rate), Number(seconds), join(folder, rate));
    return told(Number(rate), Number(seconds), times);
  }),
);
rmSync(folder, { recursive: true });
console.log(JSON.stringify(all));
process.exit();
