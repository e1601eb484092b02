/** Wakes who sleeps. A ring while nobody does is kept for the next who would. */
export class Bell {
  #rung = false;
  #wake = (): void => {};

  /** Whether somebody has rung since the last sleep. */
  get isRung(): boolean {
    return this.#rung;
  }

  ring(): void {
    this.#rung = true;
    this.#wake();
  }

  /** Sleeps so many milliseconds at most. */
  async sleep(milliseconds: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#rung = false;
  }
}
