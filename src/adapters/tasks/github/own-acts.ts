import type { Issue } from "./issue-task.ts";
import type { Issues } from "./read-issues.ts";

/** What we did to an issue. */
export type Act = "closed" | "opened" | "unlabelled";

/** Our own acts, until GitHub's lists show them: they lag behind, and a mark must not seem to be taken back. */
export class OwnActs {
  readonly #acts = new Map<number, { readonly issue: Issue; readonly is: Act }>();

  add(issue: Issue, is: Act): void {
    this.#acts.set(issue.number, { issue, is });
  }

  /** The lists as they will be; what they show already is forgotten here. */
  appliedTo({ open, closed }: Issues): Issues {
    const isIn = (list: readonly Issue[], number: number): boolean =>
      list.some((one) => one.number === number);
    for (const [number, { is }] of this.#acts) {
      const isShown =
        is === "unlabelled" ? !isIn(open, number) : isIn(is === "closed" ? closed : open, number);
      if (isShown) this.#acts.delete(number);
    }
    const others = (list: readonly Issue[]): readonly Issue[] =>
      list.filter(({ number }) => !this.#acts.has(number));
    return {
      open: [...others(open), ...this.#those("opened")],
      closed: [...others(closed), ...this.#those("closed")],
    };
  }

  #those(act: Act): readonly Issue[] {
    return [...this.#acts.values()].filter(({ is }) => is === act).map(({ issue }) => issue);
  }
}
