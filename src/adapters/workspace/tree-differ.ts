import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Socket } from "node:net";

/** A git that stays for a while and compares commits as it is asked: starting one costs more than its work. */
export interface TreeDiffer {
  /** What git prints of the difference, in NUL-terminated records; null when it cannot say: a commit is gone. */
  records(from: string, to: string): Promise<readonly string[] | null>;
}

/** Nobody needs it while an agent works for minutes. */
const IDLE_MS = 5_000;

/** `start` gives a `git diff-tree --stdin -z`. */
export function createTreeDiffer(start: () => ChildProcessWithoutNullStreams): TreeDiffer {
  let running: RunningDiffer | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let asked = 0;
  const ask = async (from: string, to: string): Promise<readonly string[] | null> => {
    if (running === null || running.isGone) running = new RunningDiffer(start());
    asked += 1;
    return running.ask(`${to} ${from}`, `asked-${asked}`);
  };
  return {
    records(from, to) {
      const answer = last.then(() => ask(from, to));
      last = answer.catch(() => {});
      return answer;
    },
  };
}

/** Whatever is no commit is printed again as it came, and all before it: so we know where an answer ends. */
class RunningDiffer {
  readonly #child: ChildProcessWithoutNullStreams;
  #output = "";
  #lastLine = "";
  #resolve: ((records: readonly string[] | null) => void) | null = null;
  #isGone = false;
  #idle: NodeJS.Timeout | null = null;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    child.stdout.setEncoding("latin1").on("data", (text: string) => this.#take(text));
    child.stderr.resume();
    child.stdin.on("error", () => {});
    child.on("error", () => this.#gone());
    child.on("close", () => this.#gone());
    this.#hold(false);
    (child.stderr as Socket).unref();
    (child.stdin as Socket).unref();
    LIVING.add(child);
  }

  /** Also when it was told to end, and has not yet. */
  get isGone(): boolean {
    return this.#isGone;
  }

  ask(question: string, end: string): Promise<readonly string[] | null> {
    if (this.#idle !== null) clearTimeout(this.#idle);
    if (this.#isGone) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#hold(true);
      this.#resolve = resolve;
      this.#lastLine = `${end}\n`;
      this.#child.stdin.write(`${question}\n${this.#lastLine}`);
    });
  }

  #take(text: string): void {
    this.#output += text;
    if (!this.#output.endsWith(this.#lastLine)) return;
    const records = this.#output.slice(0, -this.#lastLine.length).split("\0");
    if (records.pop() === "") this.#answer(records);
  }

  #answer(records: readonly string[] | null): void {
    this.#output = "";
    this.#hold(false);
    this.#resolve?.(records);
    this.#resolve = null;
    this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref();
  }

  #end(): void {
    this.#isGone = true;
    this.#child.stdin.end();
  }

  #gone(): void {
    this.#isGone = true;
    LIVING.delete(this.#child);
    if (this.#resolve !== null) this.#answer(null);
  }

  /** An open question keeps us alive, an idle git does not. */
  #hold(isAsked: boolean): void {
    const stdout = this.#child.stdout as Socket;
    for (const held of [this.#child, stdout]) {
      if (isAsked) held.ref();
      else held.unref();
    }
  }
}

const LIVING = new Set<ChildProcessWithoutNullStreams>();

process.on("exit", () => {
  for (const child of LIVING) child.kill("SIGKILL");
});
