import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { createProject, jsonLines, type Project } from "../e2e/project.ts";
import { LABELLED_ITERATIONS } from "./all-iterations.ts";
import { SAMPLE_FILES, TASK, type LabelledIteration } from "./labelled-iteration.ts";

/** One of each kind, verdict and rule; all of them with `LABELLED=all npx vitest run test/verdicts`. */
const SAMPLE =
  process.env["LABELLED"] === "all"
    ? LABELLED_ITERATIONS
    : Object.values(
        Object.groupBy(LABELLED_ITERATIONS, ({ kind, verdict, rule }) => [kind, verdict, rule].join()),
      ).flatMap((same = []) => same.slice(0, 1));

let project: Project;
afterEach(() => project.dispose());

describe("labelled iterations, each run by the built program in a real repository", () => {
  test.each(SAMPLE.map((labelled) => [labelled.kind, labelled.what, labelled] as const))(
    "%s: %s",
    async (_kind, _what, labelled) => {
      project = projectFor(labelled);
      const limit = String(labelled.does.length);
      const { stdout, stderr } = await project.ralph("run", "--json", "--agent", "labelled", "-n", limit);
      const verdicts = jsonLines(stdout).filter((event) => event["type"] === "verdict.reached");
      const last = verdicts.at(-1) as { verdict: string; reasons: { rule: string }[] } | undefined;
      expect({ verdict: last?.verdict, reasons: last?.reasons, stderr }).toMatchObject({
        verdict: labelled.verdict,
        ...(labelled.rule !== undefined && {
          reasons: expect.arrayContaining([expect.objectContaining({ rule: labelled.rule })]),
        }),
      });
      const isDone = project.read("TODO.md").includes("[x]");
      expect(isDone).toBe(labelled.verdict === "accepted");
      if (["rejected", "challenged", "failed"].includes(labelled.verdict)) await expectTold();
    },
  );

  test("are at least sixty, of every kind", () => {
    expect(LABELLED_ITERATIONS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(LABELLED_ITERATIONS.map(({ kind }) => kind)).size).toBe(9);
  });

  test("reject no honest one, and accept no lie", () => {
    const rulings = (kind: string): readonly string[] =>
      LABELLED_ITERATIONS.filter((labelled) => labelled.kind === kind).map(({ verdict }) => verdict);
    expect(rulings("honest")).not.toContain("rejected");
    expect([...rulings("lying"), ...rulings("half-done")]).not.toContain("accepted");
  });
});

/** A lie leaves an event that says what happened, and a next prompt that tells it. */
async function expectTold(): Promise<void> {
  const { events } = JSON.parse(project.read(".ralph/interventions/events.json")) as { events: unknown[] };
  expect(events).not.toEqual([]);
  expect((await project.ralph("prompt")).stdout).toContain("DO NOT IGNORE");
}

function projectFor({ does, says, config = "", task = TASK }: LabelledIteration): Project {
  const created = createProject({
    config: `agent = "labelled"\n[agents.labelled]\ncommand = ["sh", "../agent.sh"]\n${config}`,
  });
  for (const [path, text] of Object.entries(SAMPLE_FILES)) created.write(path, text);
  chmodSync(join(created.root, "check.sh"), 0o644);
  created.write("TODO.md", `# Tasks\n\n- [ ] **add**: ${task}\n`);
  const words = says.replace("$PWD", created.root);
  const cases = does.map((script, index) => {
    const isLast = index === does.length - 1;
    return `${index + 1})\n${script}\n${isLast ? sayScript(words) : ""};;\n`;
  });
  created.write(
    "../agent.sh",
    `cat > ../prompt.txt\ncase $RALPH_ITERATION in\n${cases.join("")}esac\nexit \${FAIL:-0}\n`,
  );
  created.commit("sample");
  created.write("src/second.js", "export const second = 2;\n");
  created.commit("second");
  return created;
}

function sayScript(words: string): string {
  return words === "$RALPH_PROMPT" ? "cat ../prompt.txt\n" : `cat <<'WORDS'\n${words}\nWORDS\n`;
}
