import type { Lease } from "../fleet-ports.ts";

/**
 * What a worker holds, by its own knowledge. The database knows better, but cannot always be asked: whoever has not
 * been heard there for the time of a lease holds nothing any more, however long it slept meanwhile.
 */
export class Holdings {
  readonly #leases = new Map<string, Lease>();
  readonly #dropped: Lease[] = [];
  readonly #leaseMs: number;
  /** Of this machine alone; it goes on while the process is stopped. */
  readonly #elapsed: () => number;
  #heardAt: number;

  constructor(leaseMs: number, elapsed: () => number = () => performance.now()) {
    this.#leaseMs = leaseMs;
    this.#elapsed = elapsed;
    this.#heardAt = elapsed();
  }

  /** A beat that was begun then has reached the others; these it does not hold any more. */
  heard(begunAt: number, lost: readonly string[]): void {
    this.#heardAt = begunAt;
    for (const name of lost) this.#leases.delete(name);
  }

  add(lease: Lease): void {
    this.#leases.set(lease.name, lease);
  }

  drop(name: string): void {
    const lease = this.#leases.get(name);
    this.#leases.delete(name);
    if (lease !== undefined) this.#dropped.push(lease);
  }

  /**
   * What was given up here since the last time, or forgotten in a silence, each once. The database may still take it to
   * be held: nobody else would get it.
   */
  takeDropped(): readonly Lease[] {
    this.#forgetIfSilent();
    return this.#dropped.splice(0);
  }

  get(name: string): Lease | null {
    this.#forgetIfSilent();
    return this.#leases.get(name) ?? null;
  }

  has(name: string): boolean {
    return this.get(name) !== null;
  }

  get all(): readonly Lease[] {
    this.#forgetIfSilent();
    return [...this.#leases.values()];
  }

  #forgetIfSilent(): void {
    if (this.#elapsed() - this.#heardAt < this.#leaseMs) return;
    for (const name of this.#leases.keys()) this.drop(name);
  }
}
