// A program that runs loops itself: examples/library/run.sh
// It makes a small repository, lets the demo agent work there, answers its question, and tells what came of it.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePlugin, openProject, RalphError, runLoop } from "ralph";

const cwd = sampleRepository();

/** A plugin may be part of the program, too. */
const rules = definePlugin({
  apiVersion: 1,
  name: "embedded-rules",
  guards: {
    "few-files": {
      check: ({ changedSinceTaskBegan: { files } }) => (files > 5 ? [`it changed ${files} files`] : []),
    },
  },
});

const options = {
  cwd,
  agent: "demo",
  checks: ["test -s plan.md"],
  plugins: [rules],
  onEvent: ({ type, task }: { readonly type: string; readonly task: string | null }): void => {
    if (type === "verdict.reached" || type === "question.asked") console.log(`  ${type} ${task ?? ""}`);
  },
};

console.log("First loop:");
const first = await runLoop(options);
console.log(`${first.outcome} after ${first.iterations} iterations: ${first.reason}`);

const project = await openProject({ cwd });
const { inbox } = await project.status();
for (const { task, text, options: choices } of inbox) {
  console.log(`${task} asks: ${text}`);
  await project.decide(task, choices[0] ?? "yes");
}

console.log("Second loop:");
const second = await runLoop(options);
console.log(`${second.outcome} after ${second.iterations} iterations, promise: ${second.promise}`);

for (const { iteration, task, verdict } of await project.history())
  console.log(`${iteration} ${task} ${verdict}`);

let count = 0;
for await (const event of project.events({ follow: false })) count = event.position;
console.log(count > 0 ? "and every event can be read again" : "no events?");

try {
  await runLoop({ cwd, agent: "nobody" });
} catch (error) {
  if (!(error instanceof RalphError)) throw error;
  console.log(`refused (${error.code}): ${error.message}`);
}

process.exitCode = second.success ? 0 : 1;

function sampleRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), "ralph-embed-"));
  const git = (...args: readonly string[]): void => void execFileSync("git", args, { cwd: folder });
  mkdirSync(join(folder, ".ralph"));
  writeFileSync(join(folder, "TODO.md"), "# Tasks\n\n- [ ] **plan**: make a plan\n");
  writeFileSync(join(folder, ".ralph", "ralph.toml"), '[agents.demo]\nscript = ".ralph/script.json"\n');
  const script = {
    tasks: {
      plan: [
        [{ decide: "In pencil or in ink?" }],
        [{ write: { path: "plan.md", text: "Later.\n" } }, { promise: "COMPLETE" }],
      ],
    },
  };
  writeFileSync(join(folder, ".ralph", "script.json"), JSON.stringify(script));
  git("init", "--quiet", ".");
  git("add", "--all");
  git(
    "-c",
    "user.name=Example",
    "-c",
    "user.email=example@localhost",
    "commit",
    "--quiet",
    "--message",
    "start",
  );
  return folder;
}
