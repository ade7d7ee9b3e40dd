import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { RALPH, until, type Project } from "./project.ts";

/** The program in a real terminal. */
export interface Terminal {
  /** What is on the screen now. */
  screen(): string;
  /** The same with the escapes of its colours. */
  coloured(): string;
  /** Waits until the screen has all of this on it; answers the screen. */
  shows(...texts: readonly string[]): Promise<string>;
  /** Keys by the names that tmux gives them, or a text. */
  type(...keys: readonly string[]): void;
  resize(columns: number, rows: number): void;
  /** Of the program. */
  readonly pid: number;
  /** Waits until the program is gone; answers the exit code and what is then on the screen. */
  ended(): Promise<{ readonly code: number; readonly screen: string }>;
  /** Whether the program has the screen to itself, as an editor has. */
  isAlternate(): boolean;
  close(): void;
}

export interface TerminalOptions {
  readonly columns?: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
}

const PATIENCE_MS = 25_000;
let count = 0;

export function openTerminal(
  project: Project,
  args: readonly string[],
  options: TerminalOptions = {},
): Terminal {
  count += 1;
  const { columns = 80, rows = 24 } = options;
  const socket = join(project.root, "..", `terminal-${count}`);
  const env = { ...project.env, LC_ALL: "C.UTF-8", TERM: "xterm-256color", SHELL: "/bin/sh" };
  const tmux = (...words: readonly string[]): string =>
    execFileSync("tmux", ["-u", "-S", socket, "-f", "/dev/null", ...words], {
      env,
      cwd: project.root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
    });
  const variables = Object.entries(options.env ?? {}).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  const term = options.env?.["TERM"];
  const pidFile = `${socket}.pid`;
  const program = [
    // tmux has a name of its own for the terminal.
    ...(term === undefined ? [] : [`export TERM=${term}`]),
    `sh -c 'echo $$ > ${pidFile}; exec "$@"' sh ${[RALPH, ...args].map(quoted).join(" ")}`,
    'echo "left with $?."',
    // The screen stays to be looked at.
    "exec sleep 600",
  ].join("; ");
  const size = ["-x", String(columns), "-y", String(rows)];
  tmux("new-session", "-d", ...size, ...variables, program);
  const told = (format: string): string => tmux("display-message", "-p", format).trim();
  const terminal: Terminal = {
    screen: () => tmux("capture-pane", "-p"),
    coloured: () => tmux("capture-pane", "-p", "-e"),
    async shows(...texts) {
      let screen = "";
      try {
        await until(
          "it is there",
          () => {
            screen = terminal.screen();
            return texts.every((text) => screen.includes(text));
          },
          PATIENCE_MS,
        );
      } catch {
        const missing = texts.filter((text) => !screen.includes(text));
        throw new Error(`the screen does not show ${missing.join(" and ")}, but\n${screen}`);
      }
      return screen;
    },
    type: (...keys) => void tmux("send-keys", ...keys),
    resize: (newColumns, newRows) =>
      void tmux("resize-window", "-x", String(newColumns), "-y", String(newRows)),
    get pid() {
      return Number(readFileSync(pidFile, "utf8"));
    },
    async ended() {
      const screen = await terminal.shows("left with ");
      return { code: Number(/left with (\d+)\./.exec(screen)?.[1]), screen };
    },
    isAlternate: () => told("#{alternate_on}") === "1",
    close: () => void tmux("kill-server"),
  };
  return terminal;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
