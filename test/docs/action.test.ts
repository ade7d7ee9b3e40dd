import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";

const read = (path: string): string => readFileSync(join(import.meta.dirname, "..", "..", path), "utf8");

interface Action {
  readonly inputs: Readonly<Record<string, { readonly description: string; readonly default?: string }>>;
  readonly runs: { readonly steps: readonly { readonly env?: Readonly<Record<string, string>> }[] };
}

test("action.yml: every input is used, and every variable that its script reads is set", () => {
  const text = read("action.yml");
  const action = parse(text) as Action;
  for (const [name, { description }] of Object.entries(action.inputs)) {
    expect(text).toContain(`\${{ inputs.${name} }}`);
    expect(description).not.toBe("");
  }
  const set = action.runs.steps.flatMap(({ env = {} }) => Object.keys(env));
  const used = read("scripts/action.sh").match(/RALPH_ACTION_\w+/g) ?? [];
  expect([...new Set(used)].toSorted()).toEqual(set.toSorted());
});

test("the workflows of the guide are YAML, and give the action only what it takes", () => {
  const { inputs } = parse(read("action.yml")) as Action;
  const guide = read("docs/guide/ci.md");
  const workflows = [...guide.matchAll(/```yaml\n(.*?)```/gs)].map(
    ([, text = ""]) => parse(text) as Workflow,
  );
  expect(workflows).toHaveLength(2);
  const steps = workflows.flatMap(({ jobs }) => Object.values(jobs).flatMap((job) => job.steps));
  const ours = steps.filter(({ uses }) => uses?.startsWith("OWNER/ralph@"));
  expect(ours).toHaveLength(2);
  for (const step of ours)
    for (const name of Object.keys(step.with ?? {})) expect(Object.keys(inputs)).toContain(name);
  for (const name of Object.keys(inputs)) expect(guide).toContain(`| \`${name}\``);
});

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly { readonly uses?: string; readonly with?: object }[] }>
  >;
}
