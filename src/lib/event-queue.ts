/** What is due at times, the earliest first; of two at the same time the one that was added first. */
export class EventQueue<Event extends { readonly time: number }> {
  #events: Event[] = [];

  /** What is due next. */
  get next(): Event | undefined {
    return this.#events[0];
  }

  add(event: Event): void {
    let at = this.#events.length;
    while (at > 0 && (this.#events[at - 1]?.time ?? 0) > event.time) at--;
    this.#events.splice(at, 0, event);
  }

  has(is: (event: Event) => boolean): boolean {
    return this.#events.some(is);
  }

  /** Removes and returns what is due next. */
  shift(): Event | undefined {
    return this.#events.shift();
  }

  /** Removes and returns those that are meant. */
  take(isMeant: (event: Event) => boolean): readonly Event[] {
    const taken = this.#events.filter(isMeant);
    if (taken.length > 0) this.#events = this.#events.filter((event) => !isMeant(event));
    return taken;
  }
}
