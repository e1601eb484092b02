import type { AudioFormat } from "../audio/format.ts";
import type { Player } from "../player/player.ts";
import type { Link } from "../socket/link.ts";
import type { Ear } from "./ear.ts";
import type { Goodbye } from "./end/goodbye.ts";
import type { Watch } from "./end/watch.ts";
import type { Voice } from "./voice.ts";

/** The two ends of a talk, once the stream has started. */
export interface Ends {
  readonly link: Link;
  readonly player: Player;
  readonly ear: Ear;
  readonly stream: AudioFormat;
  readonly goodbye: Goodbye;
  /** Once the agent is ready. */
  readonly voice?: Voice;
  readonly watch?: Watch;
}
