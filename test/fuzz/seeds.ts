import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");
const SEED_LENGTH_MAX = 40_000;

/** The texts of these files of the repository, the huge ones cut off. */
export function seedsIn(...patterns: readonly string[]): readonly string[] {
  const paths = patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).toSorted();
  if (paths.length === 0) throw new Error(`no file is like ${patterns.join(" or ")}`);
  return paths.map((path) => readFileSync(join(ROOT, path), "utf8").slice(0, SEED_LENGTH_MAX));
}

export const CHECKLIST = `# Tasks

- [ ] **one**: the first
  - detail
- [x] **two**: done
1. [ ] numbered
\`\`\`
- [ ] in a fence
\`\`\`
<!-- - [ ] in a comment -->
* [ ] starred
`;

export const ROADMAP = `# Roadmap

## Phase 1

- [ ] **login**: a page
  - ralph: true
  - timeout: 45min
  - depends: logout
  - criteria: it works
- [ ] **logout**: another
  - max_iterations: 5
- [x] **done**: long ago

## Optional

- [ ] **nice**: to have
`;

export const TASKS_JSON = JSON.stringify(
  {
    project: "sample",
    branchName: "ralph/sample",
    verificationCommands: ["true"],
    userStories: [
      { id: "US-1", title: "one", acceptanceCriteria: ["a", "b"], priority: 1, passes: false, notes: "" },
      { id: "US-2", title: "two", acceptanceCriteria: [], priority: 2, passes: true, dependsOn: ["US-1"] },
      { id: "US-3", title: "drei ü", priority: 3, passes: false, reviewStatus: null, reviewCount: 0 },
    ],
  },
  null,
  2,
);

export const TOML = `agent = "stub"
[run]
max_iterations = 5
idle_timeout = "90s"
[[gates]]
name = "check"
command = "true"
env = { A = "b" }
expect = { exit_code = 0, output_contains = "x" }
[agents.stub]
command = ["sh", "-c", "true"]
env = { STUB_TOKEN = "12345678" }
[prices.m]
input_per_mtok = 1.5
output_per_mtok = 2
`;

export const YAML = `ralph:
  enabled: true
  max_iterations: 5
  gates: &all
    - name: check
      command: "true"
  other: *all
  text: |
    line
  list: [a, {b: c}, "d"]
`;

export const CONFIG_JSON = JSON.stringify(
  { agent: "stub", run: { max_iterations: 5, keep_going: true }, agents: { stub: { command: ["sh"] } } },
  null,
  2,
);

export const HOOK_INPUT = JSON.stringify({
  session_id: "s",
  transcript_path: "/nonexistent/transcript.jsonl",
  cwd: "/nonexistent",
  hook_event_name: "Stop",
  stop_hook_active: false,
  last_assistant_message: "<promise>BLOCKED:no key</promise>",
  tool_input: { file_path: "a.ts" },
});

export const REVIEW = `I have read it.
<review>
{"criteria": [{"criterion": 1, "answer": "met", "reason": "a.ts:1"}], "concerns": [{"concern": 1, "answer": "real"}]}
</review>
`;
