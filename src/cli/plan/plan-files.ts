import { existsSync, lstatSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join, relative, resolve } from "node:path";
import { checkPlanFile, type Project, safePath, writeFileAtomically } from "../../compose.ts";
import { RalphError } from "../../core/ralph-error.ts";

type CheckedPlan = ReturnType<typeof checkPlanFile>;

export interface PutBack {
  /** Where the other version lies, relative to the root; null when there was none. */
  readonly aside: string | null;
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

  constructor(project: Project, prd: PrdPlace, mayReplace: boolean) {
    this.#project = project;
    this.prdPath = prd.shown;
    this.#prd = keepFile(prd.real);
    this.prd = this.#prd.bytes?.toString("utf8") ?? "";
    if (this.prd.trim() === "") {
      throw new RalphError("no-tasks", `${prd.shown} is empty`, { hint: "write down what is wanted" });
    }
    this.#plan = keepFile(safePath(project.ralphDir, "tasks.json"));
    this.planPath = relative(project.root, this.#plan.real);
    if (existsSync(this.#plan.real) && !mayReplace) {
      throw new RalphError("usage", `${this.planPath} is there already`, {
        hint: "make a new plan in its place with --force; the old one is kept beside it",
      });
    }
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
    const { root } = this.#project;
    const paths = [this.#prd.real, this.#plan.real, ...(this.#backup === null ? [] : [this.#backup])];
    return paths.map((path) => relative(root, path));
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

  /** Null when nobody changed the requirements; what somebody made of them, perhaps a person, is kept aside. */
  putBackPrd(transcript: string | null): PutBack | null {
    if (!this.#prd.isChanged()) return null;
    const aside = this.#setAside(this.#prd, transcript, "prd.md");
    this.#prd.putBack();
    return { aside };
  }

  check(): CheckedPlan {
    const bytes = this.#plan.now();
    if (bytes === null) return wrong(`${this.planPath} was not written`);
    if (!this.#plan.isChanged()) return wrong(`${this.planPath} is still the old plan; write the new one`);
    return checkPlanFile(bytes, this.planPath);
  }

  /** Everything as it was before; what the agent had written lies beside its transcript, if it wrote anything. */
  giveUp(transcript: string | null): string | null {
    const draft = this.#plan.isChanged() ? this.#setAside(this.#plan, transcript, "tasks.json") : null;
    this.#plan.putBack();
    if (this.#backup !== null) rmSync(this.#backup, { force: true });
    this.#backup = null;
    return draft;
  }

  #setAside(file: KeptFile, transcript: string | null, name: string): string | null {
    const bytes = file.now();
    if (bytes === null || transcript === null) return null;
    const { ralphDir, root } = this.#project;
    const path = join(ralphDir, "logs", `${basename(transcript, ".log")}.${name}`);
    writeFileAtomically(path, bytes);
    return relative(root, path);
  }
}

function wrong(mistake: string): CheckedPlan {
  return { is: "wrong", mistakes: [mistake] };
}

/** A file as it was before an agent could get at it; `bytes` is null when there was none. */
interface KeptFile {
  /** Where it really lies. */
  readonly real: string;
  readonly bytes: Buffer | null;
  /** As it is now. */
  now(): Buffer | null;
  isChanged(): boolean;
  putBack(): void;
}

function keepFile(real: string): KeptFile {
  const bytes = read(real);
  const now = (): Buffer | null => read(real);
  const isChanged = (): boolean => !isSame(bytes, now());
  return {
    real,
    bytes,
    now,
    isChanged,
    putBack() {
      if (!isChanged()) return;
      // Whatever stands in its place: a folder, a link to elsewhere.
      if (lstatSync(real, { throwIfNoEntry: false })?.isFile() !== true)
        rmSync(real, { recursive: true, force: true });
      if (bytes === null) rmSync(real, { force: true });
      else writeFileAtomically(real, bytes);
    },
  };
}

function isSame(one: Buffer | null, other: Buffer | null): boolean {
  return one === null || other === null ? one === other : one.equals(other);
}

/** Null when it is no file: no link is followed, since the agent may have made it. */
function read(path: string): Buffer | null {
  try {
    return lstatSync(path).isFile() ? readFileSync(path) : null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new RalphError("usage", `${path} cannot be read (${code})`, { cause: error });
  }
}

/** Where requirements are looked for, first in `.ralph/`, then at the root. */
const NAMES = ["prd.md", "PRD.md"];

/** The document with the requirements, as a person knows it; null when there is none in the usual places. */
export function findPrd({ root, ralphDir }: Project): string | null {
  const places = [ralphDir, root].flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return places.find((path) => existsSync(path)) ?? null;
}

interface PrdPlace {
  /** Links followed. */
  readonly real: string;
  /** Relative to the root. */
  readonly shown: string;
}

/** The document that was asked for, or the usual one. */
export function requirePrd(project: Project, cwd: string, asked: string | undefined): PrdPlace {
  const path = asked === undefined ? findPrd(project) : placeOf(project, cwd, asked);
  if (path === null) {
    throw new RalphError(
      "no-tasks",
      asked === undefined ? "there is no prd.md to make a plan of" : `${asked} does not exist`,
      { hint: "write down what is wanted; ralph init --source prd gives you a template" },
    );
  }
  if (!statSync(path).isFile())
    throw new RalphError("usage", `${relative(project.root, path)} is not a file`);
  return { real: realpathSync(path), shown: relative(project.root, path) };
}

/** A bare name is also looked for in `.ralph/`. */
function placeOf({ ralphDir }: Project, cwd: string, asked: string): string | null {
  const places = [resolve(cwd, asked), ...(asked.includes("/") ? [] : [join(ralphDir, asked)])];
  return places.find((path) => existsSync(path)) ?? null;
}
