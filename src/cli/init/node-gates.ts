import { JsonError, readJson } from "../../compose.ts";
import type { FoundGate, ReadFile } from "./detect-gates.ts";

type Manager = "npm" | "pnpm" | "yarn" | "bun";

const LOCKS: readonly (readonly [file: string, manager: Manager])[] = [
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
];

/** Scripts by the name that their gate gets; of several the first that is there. */
const SCRIPTS: readonly (readonly [gate: string, scripts: readonly string[]])[] = [
  ["tests", ["test"]],
  ["lint", ["lint"]],
  ["types", ["typecheck", "type-check", "types", "check-types", "check:types", "tsc"]],
];

/** The scripts of `package.json`, called by the package manager that the project uses. */
export function nodeGates(read: ReadFile, has: (name: string) => boolean): readonly FoundGate[] {
  const text = read("package.json");
  if (text === null) return [];
  const { scripts, packageManager } = contentOf(text);
  const manager = /^(npm|pnpm|yarn|bun)@/.exec(packageManager)?.[1] ?? LOCKS.find(([file]) => has(file))?.[1];
  return SCRIPTS.flatMap(([name, names]) => {
    const script = names.find((one) => isCheck(scripts[one]));
    return script === undefined
      ? []
      : [{ name, command: commandFor(manager ?? "npm", script), because: "package.json" }];
  });
}

/** What keeps `package.json` from being read, and where. */
export function packageProblem(read: ReadFile): string | null {
  const bytes = Buffer.from(read("package.json") ?? "{}");
  try {
    readJson(bytes);
    return null;
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const line = bytes.toString("latin1", 0, error.offset).split("\n").length;
    return `package.json:${line} cannot be read: this is not JSON, ${error.message}`;
  }
}

/** What npm writes into a new file fails always, and what watches never ends. */
function isCheck(script: unknown): boolean {
  return (
    typeof script === "string" &&
    script.trim() !== "" &&
    !script.includes("Error: no test specified") &&
    !/(?:^|\s)--?watch(?:All)?(?:\s|=true|$)/.test(script)
  );
}

/** `bun test` is another program than the script. */
function commandFor(manager: string, script: string): string {
  return script === "test" && manager !== "bun" ? `${manager} test` : `${manager} run ${script}`;
}

function contentOf(text: string): { scripts: Readonly<Record<string, unknown>>; packageManager: string } {
  try {
    const value = JSON.parse(text.replace(/^\uFEFF/, "")) as {
      scripts?: unknown;
      packageManager?: unknown;
    } | null;
    const { scripts, packageManager } = value ?? {};
    return {
      scripts: typeof scripts === "object" && scripts !== null ? { ...scripts } : {},
      packageManager: typeof packageManager === "string" ? packageManager : "",
    };
  } catch {
    return { scripts: {}, packageManager: "" }; // which is told as its problem
  }
}
