import type { Cut } from "../agent.ts";

/** A stretch of an item that is at the service, and when it is heard. */
interface Stretch {
  readonly from: number;
  readonly ms: number;
}

interface Item {
  readonly name: string;
  readonly turn: string | undefined;
  /** Milliseconds that the agent has said. */
  said: number;
  /** Milliseconds of stretches that are over. */
  over: number;
  stretches: Stretch[];
}

/** What was heard of each thing that the agent says, by our own clock: nobody tells us. */
export class Items {
  #items: Item[] = [];

  /** The agent says so much more of something. */
  say(name: string, turn: string | undefined, ms: number): void {
    const last = this.#items.at(-1);
    if (last?.name === name && last.turn === turn) last.said += ms;
    else this.#items.push({ name, turn, said: ms, over: 0, stretches: [] });
  }

  /** So much of something is heard from a moment on. */
  play(name: string, turn: string | undefined, from: number, ms: number): void {
    const isMeant = (item: Item) => item.name === name && item.turn === turn;
    this.#items.find(isMeant)?.stretches.push({ from, ms });
  }

  /** Forgets what was heard to its end, but for the last item, which may go on. */
  settle(now: number): void {
    for (const item of this.#items) {
      const rest = item.stretches.findIndex(({ from, ms }) => from + ms > now);
      const over = rest < 0 ? item.stretches.length : rest;
      for (const { ms } of item.stretches.splice(0, over)) item.over += ms;
    }
    const last = this.#items.at(-1);
    this.#items = this.#items.filter((item) => item === last || item.over < item.said - 0.001);
  }

  /**
   * Cuts everything off.
   *
   * @param isOpen - whether more of a turn may be on its way
   */
  cut(now: number, isOpen: (turn: string | undefined) => boolean): readonly Cut[] {
    const cuts = this.#items.flatMap(({ name, turn, said, over, stretches }, at) => {
      const played = stretches.map(({ from, ms }) => Math.min(ms, Math.max(0, now - from)));
      const heard = played.reduce((sum, ms) => sum + ms, over);
      const isOver = heard >= said - 0.001;
      const mayGoOn = at === this.#items.length - 1 && isOpen(turn);
      return isOver && !mayGoOn ? [] : [{ item: name, heard: Math.floor(heard), of: said }];
    });
    this.#items = [];
    return cuts;
  }
}
