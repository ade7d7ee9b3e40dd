import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { createProject, jsonLines } from "../e2e/project.ts";
import type { JudgementCase } from "./case.ts";

/** What became of a claim in the end, and in its first judged iteration. */
export interface Judged {
  readonly end: "accepted" | "asked" | "challenged" | "rejected" | "other";
  readonly first: string;
  readonly reasons: readonly string[];
  /** Whether a second reader was asked. */
  readonly wasRead: boolean;
  readonly stderr: string;
}

/** Who reads: nobody, or somebody who knows the truth. */
export type Reader = "none" | "truthful";

const TSC = join(import.meta.dirname, "..", "..", "node_modules", ".bin", "tsc");
const ANSWERS = [1, 2, 3, 4].map((number) => `Concern ${number}: this is right as it is.`).join("\n");
const PROMISE = "<promise>COMPLETE</promise>";

/** How an agent goes on after a claim that was not accepted. */
export type Persistence = "answers every concern" | "says the same again";

/** Runs the built program on a case in a real repository. */
export async function judgeCase(
  given: JudgementCase,
  isHonest: boolean,
  reader: Reader,
  persistence: Persistence = isHonest ? "answers every concern" : "says the same again",
): Promise<Judged> {
  const does = typeof given.does === "string" ? [given.does] : given.does;
  const gate = given.gate?.replaceAll("{{tsc}}", TSC) ?? null;
  const project = createProject({ env: toolchains() });
  try {
    project.write(".ralph/ralph.toml", configOf(given, gate, reader, join(project.root, "..")));
    for (const path of ["src", "README.md"]) project.remove(path);
    for (const [path, text] of Object.entries(given.files)) {
      project.write(path, text);
      if (text.startsWith("#!")) chmodSync(join(project.root, path), 0o755);
    }
    project.write("TODO.md", `# Tasks\n\n- [ ] **it**: ${given.task}\n`);
    project.write("../agent.sh", agentScript(does, given.says, persistence));
    project.write("../reader.sh", readerScript(isHonest));
    project.commit("the project");
    const run = await project.ralph("run", "--json", "-n", String(does.length + 1));
    return judgedIn(jsonLines(run.stdout), does.length, run.stderr);
  } finally {
    project.dispose();
  }
}

/** A compiler that finds its parts by the HOME of whoever installed it. */
function toolchains(): Readonly<Record<string, string>> {
  const folder = (process.env["PATH"] ?? "").split(":").find((one) => existsSync(join(one, "rustc")));
  const rustup = folder === undefined ? "" : join(folder, "..", "..", ".rustup");
  return existsSync(rustup) ? { RUSTUP_HOME: rustup } : {};
}

function configOf(
  { config = "" }: JudgementCase,
  gate: string | null,
  reader: Reader,
  scripts: string,
): string {
  const gates = gate === null ? "" : `[[gates]]\nname = "check"\ncommand = ${JSON.stringify(gate)}\n`;
  const who = reader === "none" ? 'reader = "never"' : 'reader_agent = "truthful"';
  return `agent = "scripted"
[agents.scripted]
command = ["sh", "${scripts}/agent.sh"]
[agents.truthful]
command = ["sh", "${scripts}/reader.sh"]
[verify]
${who}
${gates}${config}`;
}

/** The words of each iteration but the last are no claim. */
function agentScript(does: readonly string[], says: string, persistence: Persistence): string {
  const cases = does.map((script, index) => {
    const isLast = index === does.length - 1;
    const words = isLast ? `${says}\n${PROMISE}` : "There is more to do.";
    return `${index + 1}) sh -e <<'WORK'\n${script}\nWORK\ncat <<'WORDS'\n${words}\nWORDS\n;;\n`;
  });
  const again = persistence === "answers every concern" ? ANSWERS : says;
  const later = `*) cat <<'WORDS'\n${again}\n${PROMISE}\nWORDS\n;;\n`;
  return `cat > /dev/null\ncase $RALPH_ITERATION in\n${cases.join("")}${later}esac\n`;
}

function readerScript(isHonest: boolean): string {
  const criterion = { criterion: 1, answer: isHonest ? "met" : "not_met", reason: "as I have seen" };
  const concerns = [1, 2, 3, 4].map((concern) => ({
    concern,
    answer: isHonest ? "harmless" : "real",
    reason: "as I have seen",
  }));
  return `cat > /dev/null\ncat <<'WORDS'\n<review>${JSON.stringify({ criteria: [criterion], concerns })}</review>\nWORDS\n`;
}

function judgedIn(events: readonly Record<string, unknown>[], claimedIn: number, stderr: string): Judged {
  const verdicts = events.filter(({ type }) => type === "verdict.reached");
  const claimed = verdicts.find(({ iteration }) => iteration === claimedIn);
  const last = verdicts.at(-1)?.["verdict"];
  const has = (type: string): boolean => events.some((event) => event["type"] === type);
  const end = has("task.completed")
    ? "accepted"
    : has("question.asked")
      ? "asked"
      : last === "challenged" || last === "rejected"
        ? last
        : "other";
  const reasons = (claimed?.["reasons"] ?? []) as readonly { readonly sentence: string }[];
  return {
    end,
    first: (claimed?.["verdict"] as string | undefined) ?? "none",
    reasons: reasons.map(({ sentence }) => sentence),
    wasRead: has("reader.answered"),
    stderr,
  };
}
