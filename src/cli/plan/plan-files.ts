import type { Project } from "../../app/project.ts";
import { checkPlanFile } from "../../adapters/tasks/stories-format.ts";
import { safePath } from "../../adapters/process/safe-path.ts";
import { writeFileAtomically } from "../../adapters/process/atomic-file.ts";
import { existsSync, lstatSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { RalphError } from "../../core/errors.ts";

/** A file as it was before an agent could get at it; `bytes` is null when there was none. */
interface KeptFile {
  /** Where it really lies. */
  readonly real: string;
  readonly bytes: Buffer | null;
}

/** The two files that planning is about: requirements that stay as they are, and a plan that is new or as it was. */
export class PlanFiles {
  readonly prdPath: string;
  readonly planPath: string;
  readonly prd: string;
  readonly #project: Project;
  readonly #prd: KeptFile;
  readonly #plan: KeptFile;
  #backup: string | null = null;

  constructor(project: Project, prd: string, mayReplace: boolean) {
    this.#project = project;
    this.prdPath = relative(project.root, prd);
    this.#prd = keep(realpathSync(prd));
    this.prd = this.#prd.bytes?.toString("utf8") ?? "";
    if (this.prd.trim() === "")
      throw new RalphError("no-tasks", `${this.prdPath} is empty`, { hint: "write down what is wanted" });
    this.#plan = keep(safePath(project.ralphDir, "tasks.json"));
    this.planPath = relative(project.root, this.#plan.real);
    if (existsSync(this.#plan.real) && !mayReplace)
      throw new RalphError("usage", `${this.planPath} is there already`, {
        hint: "make a new plan in its place with --force; the old one is kept beside it",
      });
  }

  get hasOldPlan(): boolean {
    return this.#plan.bytes !== null;
  }

  /** What the old plan is kept as, relative to the root. */
  get backup(): string | null {
    return this.#backup === null ? null : relative(this.#project.root, this.#backup);
  }

  /** Relative to the root: what an agent may write, and what is put back by itself. */
  get own(): readonly string[] {
    const paths = [this.#prd.real, this.#plan.real, this.#backup ?? []].flat();
    return paths.map((path) => relative(this.#project.root, path));
  }

  /** Before an agent starts: even a plan that nobody committed is not lost when we are killed. */
  keepOld(): void {
    const { bytes, real } = this.#plan;
    if (bytes === null) return;
    let path = `${real}.bak`;
    for (let number = 2; existsSync(path); number += 1) path = `${real}.bak-${number}`;
    writeFileSync(path, bytes, { flag: "wx" });
    this.#backup = path;
  }

  /** Null when the requirements did not change; what the agent, or a person, made of them is kept aside. */
  putBackPrd(transcript: string | null): string | null {
    if (!isChanged(this.#prd)) return null;
    const aside = this.#setAside(this.#prd, transcript, "prd.md");
    putBack(this.#prd);
    const kept = aside === null ? "" : `; the other version is kept: ${aside}`;
    return `${this.prdPath} had changed and was put back${kept}`;
  }

  check(): ReturnType<typeof checkPlanFile> {
    const { planPath } = this;
    const bytes = read(this.#plan.real);
    if (bytes === null) return { is: "wrong", mistakes: [`${planPath} was not written`] };
    if (isChanged(this.#plan)) return checkPlanFile(bytes, planPath);
    return { is: "wrong", mistakes: [`${planPath} is still the old plan; write the new one`] };
  }

  /** Everything as it was before; what the agent had written lies beside its transcript, if it wrote anything. */
  giveUp(transcript: string | null): string | null {
    const draft = isChanged(this.#plan) ? this.#setAside(this.#plan, transcript, "tasks.json") : null;
    putBack(this.#plan);
    if (this.#backup !== null) rmSync(this.#backup, { force: true });
    this.#backup = null;
    return draft;
  }

  #setAside({ real }: KeptFile, transcript: string | null, name: string): string | null {
    const bytes = read(real);
    if (bytes === null || transcript === null) return null;
    const { ralphDir, root } = this.#project;
    const path = join(ralphDir, "logs", `${basename(transcript, ".log")}.${name}`);
    writeFileAtomically(path, bytes);
    return relative(root, path);
  }
}

function keep(real: string): KeptFile {
  return { real, bytes: read(real) };
}

function isChanged({ real, bytes }: KeptFile): boolean {
  const now = read(real);
  return now === null || bytes === null ? now !== bytes : !now.equals(bytes);
}

function putBack(file: KeptFile): void {
  const { real, bytes } = file;
  if (!isChanged(file)) return;
  // Whatever stands in its place: a folder, a link to elsewhere.
  if (bytes === null || read(real) === null) rmSync(real, { recursive: true, force: true });
  if (bytes !== null) writeFileAtomically(real, bytes);
}

/** Null when it is no file: no link is followed, since the agent may have made it. */
function read(path: string): Buffer | null {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? readFileSync(path) : null;
}

/** The document with the requirements, first in `.ralph/`, then at the root; null when there is none there. */
export function findPrd({ root, ralphDir }: Project): string | null {
  const places = [ralphDir, root].flatMap((folder) => ["prd.md", "PRD.md"].map((name) => join(folder, name)));
  return places.find((path) => existsSync(path)) ?? null;
}

/** The document that was asked for, or the usual one. A bare name is also looked for in `.ralph/`. */
export function requirePrd(project: Project, cwd: string, asked: string | undefined): string {
  const { root, ralphDir } = project;
  const places = asked === undefined ? [] : [resolve(cwd, asked), join(ralphDir, asked)];
  const path = asked === undefined ? findPrd(project) : places.find((place) => existsSync(place));
  if (path == null)
    throw new RalphError(
      "no-tasks",
      asked === undefined ? "there is no prd.md to make a plan of" : `${asked} does not exist`,
      { hint: "write down what is wanted; ralph init --source prd gives you a template" },
    );
  if (!statSync(path).isFile()) throw new RalphError("usage", `${relative(root, path)} is not a file`);
  return path;
}
