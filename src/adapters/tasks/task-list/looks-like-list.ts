/** Whether a YAML or JSON file seems to be a list of tasks, without the effort of reading it. */
export function looksLikeList(file: Buffer): boolean {
  const text = file.toString("latin1", 0, LOOK_MAX);
  return LIST.test(text) && TITLE.test(text);
}

const LOOK_MAX = 100_000;

/** `tasks:` with a list, not with more keys: those of a Taskfile are commands. */
const LIST = /(?:^|[\s{,])["']?tasks["']?[ \t]*:[ \t]*(?:\[|(?:(?:#[^\r\n]*)?\r?\n[ \t]*)+(?:-[ \t]|\[))/;
const TITLE = /["']?(?:title|name)["']?[ \t]*:/;
