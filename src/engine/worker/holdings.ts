import type { Lease } from "../fleet-ports.ts";

/**
 * What a worker holds, by its own knowledge. The database knows better, but cannot always be asked: whoever has not
 * been heard there for the time of a lease holds nothing any more, however long it slept meanwhile.
 */
export class Holdings {
  readonly #leases = new Map<string, Lease>();
  readonly #leaseMs: number;
  /** Of this machine alone; it goes on while the process is stopped. */
  readonly #elapsed: () => number;
  #heardAt: number;
  readonly #forgotten: Lease[] = [];

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
    this.#leases.delete(name);
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

  /**
   * What it forgot in a silence, each once. Nobody else may have got it: the database may have been away for all. Then
   * it has to be let go of, since what was under way is ended.
   */
  takeForgotten(): readonly Lease[] {
    this.#forgetIfSilent();
    return this.#forgotten.splice(0);
  }

  #forgetIfSilent(): void {
    if (this.#elapsed() - this.#heardAt < this.#leaseMs) return;
    this.#forgotten.push(...this.#leases.values());
    this.#leases.clear();
  }
}
