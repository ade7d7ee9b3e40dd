import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, sep } from "node:path";
import { safePath, writeFileAtomically, type Project } from "../../compose.ts";
import { isoTime } from "../../core/time.ts";
import type { CliContext } from "../commands.ts";

/** Writes files and says so, a line each. */
export class InitReport {
  readonly #project: Project;
  readonly #context: CliContext;
  readonly #force: boolean;
  #wrote = false;

  constructor(project: Project, context: CliContext, force: boolean) {
    this.#project = project;
    this.#context = context;
    this.#force = force;
  }

  get hasWritten(): boolean {
    return this.#wrote;
  }

  say(line: string): void {
    this.#context.stdout.write(`${line}\n`);
  }

  found(path: string): void {
    this.say(`found  ${path}`);
  }

  kept(path: string): void {
    this.say(`kept   ${this.shown(path)}`);
  }

  /** Ours: written anew when that is asked for; what stood there may have been edited, and is kept. */
  write(path: string, text: string, what: string): void {
    if (!existsSync(path)) this.replace(path, text, what);
    else if (!this.#force || readFileSync(this.#inside(path), "utf8") === text) this.kept(path);
    else {
      const time = isoTime(Date.now()).replaceAll(":", "-");
      const old = join(this.#project.ralphDir, "logs", `${basename(path)}.before-${time}`);
      this.replace(old, readFileSync(this.#inside(path)), `what ${basename(path)} was until now`);
      this.replace(path, text, what);
    }
  }

  /** The operator's: never overwritten. */
  begin(path: string, text: string, what: string): void {
    if (existsSync(path)) this.kept(path);
    else this.replace(path, text, what);
  }

  replace(path: string, text: string | Buffer, what: string): void {
    const real = this.#inside(path);
    mkdirSync(dirname(real), { recursive: true });
    writeFileAtomically(real, text);
    this.#wrote = true;
    this.say(`wrote  ${this.shown(path).padEnd(24)} ${what}`);
  }

  /** Where it really is: a link that leads outside is refused. */
  #inside(path: string): string {
    const { root, ralphDir } = this.#project;
    const place = path.startsWith(ralphDir + sep) ? ralphDir : root;
    return safePath(place, relative(place, path));
  }

  shown(path: string): string {
    return relative(this.#project.root, path);
  }
}
