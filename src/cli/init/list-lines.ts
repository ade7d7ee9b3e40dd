interface FoundList {
  readonly path: string;
  readonly kind: string;
  /** What it is, in words. */
  readonly is: string;
}

const LISTED_MAX = 5;

/** What the lists of tasks in a project are, and how to work on another one than the first. */
export function listLines(lists: readonly FoundList[]): readonly string[] {
  const [first, ...others] = lists;
  if (first === undefined) return [];
  const more = others.length - LISTED_MAX;
  return [
    first.kind === "prompt"
      ? `       ${first.is}: it stays as it is`
      : `       ${first.is}: ralph works on it where it lies, and marks there what is done`,
    ...others.slice(0, LISTED_MAX).map(({ path, is }) => `also   ${path}, ${is}: ralph run --source ${path}`),
    ...(more > 0 ? [`       and ${more} more`] : []),
  ];
}
