import { afterEach, describe, expect, test } from "vitest";
import { createProject, type Project } from "./project.ts";

let project: Project;
afterEach(() => project.dispose());

/** Four agents, one a stage; each does what its script says for the count of its calls. */
function pipeline(scripts: Readonly<Record<string, readonly string[]>>, more = ""): Project {
  const names = Object.keys(scripts);
  const sections = names.map(
    (name) => `[stages.${name}]
agent = "${name}-agent"

[agents.${name}-agent]
command = ["sh", ".ralph/agents/${name}.sh"]
`,
  );
  const created = createProject({
    tasks: ["sum"],
    config: `agent = "coder-agent"
${sections.join("\n")}
${more}`,
  });
  for (const [name, calls] of Object.entries(scripts)) {
    const cases = calls.map((script, index) => `${index + 1}) ${script} ;;`).join("\n");
    const count = `n=$(cat .git/${name}-calls 2>/dev/null || echo 0); n=$((n + 1)); echo $n > .git/${name}-calls`;
    created.write(
      `.ralph/agents/${name}.sh`,
      `cat > .git/${name}-prompt\n${count}\ncase $n in\n${cases}\nesac\n`,
    );
  }
  created.commit("agents");
  return created;
}

const CODER = [
  "echo 1 > sum.txt; echo '<promise>IMPLEMENTATION_COMPLETE</promise>'",
  "echo 2 > sum.txt; echo '<promise>IMPLEMENTATION_COMPLETE</promise>'",
];
const APPROVES = "echo 'REVIEW PASSED: it is right'; echo '<promise>REVIEW_COMPLETE</promise>'";
const REVIEWER = [APPROVES, APPROVES];
const TESTER = [
  "echo '<promise>CHANGES_REQUESTED:sum.txt says 1, it must say 2</promise>'",
  "echo 'All tests pass.'; echo '<promise>TESTS_COMPLETE</promise>'",
];
const QA = ["echo '<promise>QA_PASSED</promise>'"];

async function stagesOf(of: Project): Promise<readonly string[]> {
  const history = JSON.parse((await of.ralph("history", "--json")).stdout) as {
    stage: string;
    agent: string;
    verdict: string;
  }[];
  return history.map(({ stage, agent, verdict }) => `${stage} ${agent} ${verdict}`);
}

test("where each stage has an agent, the usual one need not be installed", async () => {
  project = pipeline({ coder: CODER, reviewer: [APPROVES] });
  project.write(
    ".ralph/ralph.toml",
    project.read(".ralph/ralph.toml").replace('agent = "coder-agent"\n', ""),
  );
  project.commit("no agent for all");
  const { code, stdout, stderr } = await project.ralph("run");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).not.toContain("claude");
});

describe("four stages with four agents", () => {
  test("a defect that the tester finds is repaired by the coder, and all accept it", async () => {
    project = pipeline({ coder: CODER, reviewer: REVIEWER, tester: TESTER, qa: QA });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(await stagesOf(project)).toEqual([
      "coder coder-agent accepted",
      "reviewer reviewer-agent accepted",
      "tester tester-agent continue",
      "coder coder-agent accepted",
      "reviewer reviewer-agent accepted",
      "tester tester-agent accepted",
      "qa qa-agent accepted",
    ]);
    expect(project.read("sum.txt")).toBe("2\n");
    expect(project.read(".git/coder-prompt")).toContain("sum.txt says 1, it must say 2");
    expect(project.read("TODO.md")).toContain("- [x] **sum**");
  });

  test("what a reviewer changes is put back, and its claim does not count", async () => {
    const meddles = `echo 3 > sum.txt; ${APPROVES}`;
    project = pipeline({ coder: CODER, reviewer: [meddles, APPROVES] });
    expect(await project.ralph("run")).toMatchObject({ code: 0 });
    expect(await stagesOf(project)).toEqual([
      "coder coder-agent accepted",
      "reviewer reviewer-agent rejected",
      "reviewer reviewer-agent accepted",
    ]);
    expect(project.read("sum.txt")).toBe("1\n");
    expect(project.read(".git/reviewer-prompt")).toContain("a reviewer changes no files");
  });

  test("after as many rounds as the cap allows a person is asked", async () => {
    const never = "echo '<promise>CHANGES_REQUESTED:not good enough</promise>'";
    const works = (value: number): string =>
      `echo ${value} > sum.txt; echo '<promise>IMPLEMENTATION_COMPLETE</promise>'`;
    project = pipeline({ coder: [works(1), works(2), works(3)], reviewer: [never, never, never] });
    expect(await project.ralph("run", "--review-cap", "1")).toMatchObject({ code: 3 });
    expect((await project.ralph("inbox")).stdout).toContain("has sent this back once, and still objects");
    expect(await stagesOf(project)).toHaveLength(4);
  });
});

test("a stage called review sees the diff, and what it sends back is changed or answered", async () => {
  const done = (word: string): string => `echo '<promise>${word}</promise>'`;
  const findings =
    "printf '<promise>CHANGES_REQUESTED:\\n1. it says 1\\n2. there is no test\\n</promise>\\n'; cp .git/review-prompt .git/first-review";
  project = pipeline({
    coder: [
      `echo 1 > sum.txt; ${done("IMPLEMENTATION_COMPLETE")}`,
      done("IMPLEMENTATION_COMPLETE"),
      `echo 'Finding 1: 1 is right.'; echo; echo 'Finding 2: nothing to test.'; ${done("IMPLEMENTATION_COMPLETE")}`,
    ],
    review: [findings, `echo 'REVIEW PASSED: I agree.'; ${done("STAGE_COMPLETE")}`],
  });
  const base = project.git("rev-parse", "HEAD");
  expect(await project.ralph("run")).toMatchObject({ code: 0 });
  expect(await stagesOf(project)).toEqual([
    "coder coder-agent accepted",
    "review review-agent continue",
    "coder coder-agent rejected",
    "coder coder-agent accepted",
    "review review-agent accepted",
  ]);
  expect(project.read(".git/first-review")).toContain("```diff\n--- sum.txt (added)\n");
  expect(project.read(".git/first-review")).toContain(`git diff --no-ext-diff ${base.slice(0, 12)} `);
  expect(project.read(".git/coder-prompt")).toContain("Finding 1: it says 1\nFinding 2: there is no test\n");
  expect(project.read(".git/review-prompt")).toContain(
    "Finding 2: there is no test\nThe answer: nothing to test.\n",
  );
  const [, , rejected] = await project.history();
  expect(rejected?.reasons.join()).toContain("findings 1, 2 have no answer");
});
