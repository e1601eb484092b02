import type { RecordedAudio } from "../../server/call.ts";
import { downloadOf } from "./download.ts";
import { firstLoud, lastLoud } from "./loudness.ts";
import type { Recording } from "./recording.ts";

/**
 * The recording of a call as the interfaces use it.
 *
 * @param recording - made when it is first used: most calls need none
 */
export const recordedAudio = (recording: () => Recording): RecordedAudio => ({
  pause: (now) => recording().pause(now),
  resume: (now) => recording().resume(now),
  silence: (side, isSilent, now) => recording().silence(side, isSilent, now),
  firstAudible: (from, to) => firstLoud(recording(), from, to),
  lastAudible: (from, to) => lastLoud(recording(), from, to),
  download: (part, range, channels) => downloadOf(recording(), part, range, channels),
});
