/** Rung by whatever is news; nothing that rings while nobody waits is missed. */
export class Bell {
  #wake: () => void = () => {};
  #rung = false;

  ring(): void {
    this.#rung = true;
    this.#wake();
  }

  /** Resolves when it was rung since the last time. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#rung = false;
        resolve();
      };
      if (this.#rung) this.#wake();
    });
  }
}
