import type { ToolCall } from "../../agent.ts";
import type { Player } from "../../player/player.ts";
import type { Link } from "../../socket/link.ts";
import type { Timers } from "../timers.ts";
import { onceHeard } from "./once-heard.ts";

/** The agent's wish to hang up, until its goodbye was heard. */
export class Goodbye {
  readonly #link: Link;
  readonly #player: Player;
  readonly #timers: Timers;
  readonly #onHeard: () => void;
  #wish: ToolCall | undefined;

  /** @param onHeard - it was heard, and nobody has spoken into it */
  constructor(link: Link, player: Player, timers: Timers, onHeard: () => void) {
    this.#link = link;
    this.#player = player;
    this.#timers = timers;
    this.#onHeard = onHeard;
  }

  /** Hangs up, once what the agent says was heard, unless the callee speaks meanwhile. */
  say(wish: ToolCall): void {
    if (this.#wish) {
      this.#answer(wish, "The call is being ended.", false);
      return;
    }
    this.#wish = wish;
    onceHeard(this.#player, this.#timers, "goodbye", () => {
      if (this.#wish === wish) this.#onHeard();
    });
  }

  /** The callee has spoken into it, if there was one. */
  off(): void {
    const wish = this.#wish;
    this.#wish = undefined;
    this.#timers.never("goodbye");
    if (wish) this.#answer(wish, "The callee spoke: the call goes on.", true);
  }

  #answer({ id, name }: ToolCall, output: string, isError: boolean): void {
    const result = { id, name, output, isError, reply: false };
    this.#link.ask("tool_result", (codec) => codec.toolResult(result));
  }
}
