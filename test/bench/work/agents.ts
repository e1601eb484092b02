import process from "node:process";
import { afterwards } from "../agents/afterwards.ts";
import { crowd } from "../agents/crowd.ts";
import { frames } from "../agents/frames.ts";
import { interruptedOurs, interruptedTheirs } from "../agents/interrupted.ts";
import { lost } from "../agents/lost.ts";
import { ours } from "../agents/ours.ts";
import { relay } from "../agents/relay.ts";
import { theirs } from "../agents/theirs.ts";

const contenders = { ours, theirs, relay };
const [, , what = "", who = "ours", number = "0", seconds = "6"] = process.argv;
const contender = contenders[who as keyof typeof contenders];
const count = Number(number);

const work: Readonly<Record<string, () => Promise<unknown>>> = {
  frames: () => frames(contender, 8000, count),
  "frames-16k": () => frames(contender, 16_000, count),
  lost: () => lost(contender, count),
  crowd: () => crowd(contender, count, Number(seconds)),
  afterwards: () => afterwards(contender, count),
  interrupted: () => (contender === theirs ? interruptedTheirs(count) : interruptedOurs(count)),
};
console.log(JSON.stringify(await work[what]?.()));
process.exit();
