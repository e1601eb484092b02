import type { Wire } from "../../flows/media/wire.ts";
import { quietly } from "../../rules/quietly.ts";
import type { Mouth } from "../player/mouth.ts";

/** The line, as a player speaks into it: a socket of any make may throw. */
export const mouthOf = (wire: Wire): Mouth => ({
  audio: wire.say,
  clear: () => wire.send({ type: "clear" }),
  get buffered() {
    return quietly(() => wire.buffered) ?? 0;
  },
});
