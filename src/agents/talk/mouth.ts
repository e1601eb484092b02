import type { StreamSession } from "../../flows/media/session.ts";
import { quietly } from "../../rules/quietly.ts";
import type { Mouth } from "../player/mouth.ts";

/** The line, as a player speaks into it: a socket of any make may throw. */
export const mouthOf = (session: StreamSession): Mouth => ({
  audio: session.audio,
  clear: session.clear,
  get buffered() {
    return quietly(() => session.buffered) ?? 0;
  },
});
