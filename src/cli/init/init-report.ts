import { existsSync, mkdirSync, realpathSync } from "node:fs";
import { dirname, relative } from "node:path";
import { writeFileAtomically, type Project } from "../../compose.ts";
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

  /** Ours: written anew when that is asked for. */
  write(path: string, text: string, what: string): void {
    if (existsSync(path) && !this.#force) this.kept(path);
    else this.replace(path, text, what);
  }

  /** The operator's: never overwritten. */
  begin(path: string, text: string, what: string): void {
    if (existsSync(path)) this.kept(path);
    else this.replace(path, text, what);
  }

  replace(path: string, text: string | Buffer, what: string): void {
    mkdirSync(dirname(path), { recursive: true });
    writeFileAtomically(existsSync(path) ? realpathSync(path) : path, text);
    this.#wrote = true;
    this.say(`wrote  ${this.shown(path).padEnd(24)} ${what}`);
  }

  shown(path: string): string {
    return relative(this.#project.root, path);
  }
}
