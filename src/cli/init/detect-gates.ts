import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nodeGates, packageProblem } from "./node-gates.ts";

/** A command of the project that looks like a check, and what shows it. */
export interface FoundGate {
  readonly name: string;
  readonly command: string;
  readonly because: string;
}

export interface FoundGates {
  /** One of a name: the first that was found. */
  readonly chosen: readonly FoundGate[];
  /** Further ones of the same name, in a project of several parts. */
  readonly others: readonly FoundGate[];
  /** Why the scripts of `package.json` are not among them, and where; null when they were looked at. */
  readonly problem: string | null;
}

/** Reads a file of the project; null when it is not there. */
export type ReadFile = (name: string) => string | null;

/** What the project itself calls its checks. A Makefile comes first among those that call the same programs. */
export function detectGates(root: string, hasProgram: (name: string) => boolean): FoundGates {
  const read: ReadFile = (name) => {
    const path = join(root, name);
    return existsSync(path) ? readFileSync(path, "utf8") : null;
  };
  const has = (name: string): boolean => existsSync(join(root, name));
  const found = [
    ...nodeGates(read, has),
    ...makeGates(read),
    ...goGates(read),
    ...rustGates(read, hasProgram),
    ...pythonGates(read, has),
  ];
  const chosen = found.filter((gate, at) => found.findIndex(({ name }) => name === gate.name) === at);
  const others = found.filter((gate) => !chosen.includes(gate));
  return { chosen, others, problem: packageProblem(read) };
}

function makeGates(read: ReadFile): readonly FoundGate[] {
  for (const because of ["Makefile", "makefile", "GNUmakefile"]) {
    const text = read(because);
    if (text === null) continue;
    const hasTarget = (target: string): boolean => new RegExp(`^${target}[ \\t]*::?(?!=)`, "m").test(text);
    const tests = ["test", "check"].find(hasTarget);
    return [
      ...(tests === undefined ? [] : [{ name: "tests", command: `make ${tests}`, because }]),
      ...(hasTarget("lint") ? [{ name: "lint", command: "make lint", because }] : []),
    ];
  }
  return [];
}

function goGates(read: ReadFile): readonly FoundGate[] {
  if (!/^module /m.test(read("go.mod") ?? "")) return [];
  return [
    { name: "tests", command: "go test ./...", because: "go.mod" },
    { name: "vet", command: "go vet ./...", because: "go.mod" },
  ];
}

/** Clippy comes with Rust or not; without it cargo fails, so it is asked for only where it is. */
function rustGates(read: ReadFile, hasProgram: (name: string) => boolean): readonly FoundGate[] {
  if (!/^\[(?:package|workspace)\]/m.test(read("Cargo.toml") ?? "")) return [];
  const clippy = { name: "clippy", command: "cargo clippy --all-targets", because: "Cargo.toml" };
  return [
    { name: "tests", command: "cargo test", because: "Cargo.toml" },
    ...(hasProgram("cargo-clippy") ? [clippy] : []),
  ];
}

function pythonGates(read: ReadFile, has: (name: string) => boolean): readonly FoundGate[] {
  const project = read("pyproject.toml");
  const because = ["pytest.ini", "pyproject.toml", "setup.py"].find((name) => read(name)?.trim());
  if (because === undefined) return [];
  const runner = has("uv.lock") ? "uv run " : has("poetry.lock") ? "poetry run " : "";
  const configured = (tool: string, ...files: readonly string[]): string | undefined =>
    new RegExp(`^\\[tool\\.${tool}[\\].]`, "m").test(project ?? "") ? "pyproject.toml" : files.find(has);
  const ruff = configured("ruff", "ruff.toml", ".ruff.toml");
  const mypy = configured("mypy", "mypy.ini", ".mypy.ini");
  return [
    { name: "tests", command: runner === "" ? "python3 -m pytest" : `${runner}pytest`, because },
    ...(ruff === undefined ? [] : [{ name: "lint", command: `${runner}ruff check .`, because: ruff }]),
    ...(mypy === undefined ? [] : [{ name: "types", command: `${runner}mypy .`, because: mypy }]),
  ];
}
