import { checkedTasks } from "../checked-tasks.ts";
import type { Marked, Marking, TaskFormat } from "../task-format.ts";
import { scanRalphex, type RalphexBox, type RalphexTask } from "./scan-ralphex.ts";

/** Plans of ralphex: Markdown with `### Task 1: …` and boxes below. Only the bytes in the boxes are ever written. */
export const RALPHEX: TaskFormat = {
  kind: "ralphex",
  read: (file, path) => {
    const { tasks, checks } = scanRalphex(file);
    return { tasks: checkedTasks(tasks, path), demands: { checks, branch: null } };
  },
  mark: (file, _path, marking) => (marking.isDone ? ticked(file, marking) : unticked(file, marking)),
};

function ticked(file: Buffer, { isWanted }: Marking): Marked {
  const wanted = scanRalphex(file).tasks.filter(({ task }) => isWanted(task.id) && !task.done);
  return withBoxes(file, wanted, "x", (_one, box) => !box.done);
}

/** Single boxes that were ticked since the last look go back too; only whole tasks are named. */
function unticked(file: Buffer, { isWanted, before }: Marking): Marked {
  const open = before === null ? null : openBoxes(before);
  const wanted = scanRalphex(file).tasks.filter(({ task }) => isWanted(task.id));
  const isNew = ({ task }: RalphexTask, box: RalphexBox): boolean => open?.has(boxKey(task.id, box)) === true;
  const marked = withBoxes(
    file,
    wanted,
    " ",
    (one, box) => box.done && (isNew(one, box) || (one.task.done && !hasNew(one, isNew))),
  );
  return { file: marked.file, changed: wanted.filter(({ task }) => task.done).map(({ task }) => task.id) };
}

function hasNew(one: RalphexTask, isNew: (one: RalphexTask, box: RalphexBox) => boolean): boolean {
  return one.boxes.some((box) => isNew(one, box));
}

function withBoxes(
  file: Buffer,
  tasks: readonly RalphexTask[],
  mark: "x" | " ",
  isWanted: (one: RalphexTask, box: RalphexBox) => boolean,
): Marked {
  const edited = Buffer.from(file);
  for (const one of tasks) {
    for (const box of one.boxes) if (isWanted(one, box)) edited.write(mark, box.offset, "latin1");
  }
  return { file: edited, changed: tasks.map(({ task }) => task.id) };
}

function openBoxes(file: Buffer): ReadonlySet<string> {
  const boxes = scanRalphex(file).tasks.flatMap(({ task, boxes: own }) =>
    own.filter(({ done }) => !done).map((box) => boxKey(task.id, box)),
  );
  return new Set(boxes);
}

function boxKey(task: string, { name }: RalphexBox): string {
  return `${task}\n${name}`;
}
