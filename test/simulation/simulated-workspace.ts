import type { ChangeSet, Evidence, Leftover } from "../../src/core/verdict/evidence.ts";
import type { CollectRequest, Workspace } from "../../src/engine/ports.ts";
import type { Checkout } from "./checkout.ts";
import { isCheckFile, layoutOf, markOf } from "./work-text.ts";
import { isSecret } from "./world.ts";

/** The workspace in a checkout; `step` is awaited around everything that takes time. */
export function simulatedWorkspace(checkout: Checkout, step: () => Promise<void>): Workspace {
  const after = async <T>(look: () => T): Promise<T> => {
    await step();
    return look();
  };
  return {
    snapshot: () => after(() => ({ head: checkout.head, branch: checkout.branch })),
    hasWritten: ({ from, ignore }) =>
      after(
        () => checkout.head !== from.head || checkout.uncommitted().some((name) => !ignore.includes(name)),
      ),
    collect: async (request) => {
      const evidence = await after(() => collect(checkout, request));
      return after(() => evidence);
    },
    commitMark: ({ path }) =>
      after(() => {
        const before = checkout.head;
        checkout.commit((name) => name === path);
        return checkout.head === before || checkout.head === null
          ? null
          : { commit: checkout.head, parent: before };
      }),
    commitWork: ({ from, ignore }) =>
      after(() => {
        if (checkout.branch !== from.branch) return { is: "committed", head: from.head, left: [] };
        const isWork = (name: string): boolean => !ignore.includes(name) && !isSecret(name);
        if (checkout.head !== from.head && checkout.leftovers.get(checkout.head) !== from.head)
          return { is: "moved" };
        const before = checkout.head;
        checkout.commit(isWork);
        if (checkout.head !== before) checkout.leftovers.set(checkout.head, before);
        const left = checkout.uncommitted().filter((name) => !ignore.includes(name));
        return { is: "committed", head: checkout.head, left };
      }),
    lookAhead: () => {},
    beforeGates: () => after(() => 0),
    leftoversAfterGates: (before) => after(() => before),
    withOldChecks: async ({ base, paths }, use) => {
      await step();
      const results = await use({ root: checkout.root, prefix: ["with-old-checks", base ?? "0", ...paths] });
      await step();
      return results;
    },
    patch: () => after(() => ({ text: "", isCut: false })),
    dirtyPaths: () => after(() => checkout.uncommitted()),
    clearLeftovers: () => after(() => {}),
  };
}

function collect(checkout: Checkout, request: CollectRequest): Evidence {
  const isCounted = (name: string): boolean => !request.ignore.includes(name);
  const putBack = putBackProtected(checkout, request);
  if (request.commit === "ralph") checkout.commit((name) => isCounted(name) && !isSecret(name));
  const uncommitted = checkout
    .uncommitted()
    .filter(isCounted)
    .map((path) => ({ path, look: String(checkout.version(path)) }));
  const changes = (from: string | null, leftBefore: readonly Leftover[]): ChangeSet => {
    const known = new Map(leftBefore.map(({ path, look }) => [path, look]));
    const fresh = uncommitted.filter(({ path, look }) => known.get(path) !== look).map(({ path }) => path);
    const paths = [...new Set([...checkout.changedSince(from).filter(isCounted), ...fresh])];
    return { files: paths.length, paths };
  };
  const changed = changes(request.from.head, request.leftBefore);
  const inRow = changes(request.taskBase, request.leftBeforeTask);
  const standing = checkout.changedSince(request.earlier.from);
  const earlier = request.earlier.paths.filter((path) => standing.includes(path));
  const inTask = [...new Set([...inRow.paths, ...earlier])];
  const changedSinceTaskBegan = { files: inTask.length, paths: inTask };
  const written = new Set([
    ...changed.paths,
    ...changedSinceTaskBegan.paths,
    ...request.earlier.paths,
    ...putBack,
  ]);
  return {
    headBefore: request.from.head,
    headAfter: checkout.head,
    changed,
    changedSinceTaskBegan,
    uncommitted,
    leftByGates: [],
    leftOut: [],
    strayedTo: null,
    marksTakenBack: [],
    tasksRemoved: [],
    phantoms: phantomsOf(request, (path) => isCounted(path) && !written.has(path)),
    putBack,
    checkFiles: inTask.filter(isCheckFile),
    isWhiteSpaceOnly: inTask.length > 0 && inTask.every((path) => path === layoutOf(request.task)),
    suppressions: inTask.filter((path) =>
      ["hushed", "quiet"].includes(markOf(checkout.files.get(path)) ?? ""),
    ),
    refusal: null,
  };
}

/** As they were when the iteration began; answers the same when it is asked again after a crash. */
function putBackProtected(checkout: Checkout, request: CollectRequest): readonly string[] {
  const known = checkout.putBack.get(`${request.run} ${request.iteration}`) ?? [];
  const differing = [...checkout.changedSince(request.from.head), ...checkout.uncommitted()];
  const found = differing.filter((name) => request.isProtected(name) && !request.ignore.includes(name));
  const before = checkout.branches.files(request.from.head);
  for (const name of found) checkout.put(name, before.get(name));
  checkout.commit((name) => found.includes(name));
  const putBack = [...new Set([...known, ...found])];
  checkout.putBack.set(`${request.run} ${request.iteration}`, putBack);
  return putBack;
}

function phantomsOf({ cited, written }: CollectRequest, isPhantom: (path: string) => boolean): string[] {
  return cited.filter((path) => isPhantom(path) && !written.includes(path));
}
