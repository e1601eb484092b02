import type { Campaign } from "../../campaign.ts";
import type { Bell } from "./bell.ts";

/** When a runtime that was killed comes back: the alarm is set so before anything is done. */
const backAfter = 2_000;

/** How long one alarm goes on: the platform ends what takes much longer. */
const longest = 20_000;

/** How many POSTs one alarm makes, or a step more: platforms allow an invocation so many requests. */
const mostPosts = 500;

/** What is due sooner than that is waited for; anything else is another alarm's. */
const nap = 1_000;

/** What is used of a storage. */
interface Alarm {
  setAlarm(at: number): Promise<void>;
}

/** What else there is to know. */
interface Watch {
  /** How many POSTs wait for their answer. */
  readonly underWay: () => number;
  /** How many POSTs were made in all. */
  readonly posts: () => number;
  readonly onStep: () => void;
}

/**
 * Steps while something is due soon or a POST is under way.
 *
 * @returns when to come back, in milliseconds since 1970; `undefined` when nothing will be due by itself
 */
export const attend = async (
  campaign: Pick<Campaign, "step" | "idle">,
  storage: Alarm,
  bell: Bell,
  { underWay, posts, onStep }: Watch,
): Promise<number | undefined> => {
  const end = Date.now() + longest;
  const before = posts();
  await storage.setAlarm(Date.now() + backAfter);
  for (;;) {
    const wake = await campaign.step();
    onStep();
    const now = Date.now();
    if (now >= end || posts() - before >= mostPosts) {
      // The platform drops what is under way once an alarm has ended.
      await campaign.idle();
      return Date.now();
    }
    const isIdle = underWay() === 0 && !bell.isRung;
    if (isIdle && (wake === undefined || wake > now + nap)) return wake;
    await bell.sleep(Math.max(0, Math.min(wake ?? end, end) - now));
  }
};
