import type { Reply } from "./reply.ts";
import { call, shell, text, write } from "./reply.ts";
import type { Scenario, Situation } from "./scenarios.ts";

/** What a model does that is not quite the usual, and what must come of it. */
interface OddModel {
  readonly does: Scenario;
  /** Of each iteration in turn. */
  readonly verdicts: readonly string[];
  /** Paths in the last commit. */
  readonly leaves: readonly string[];
}

const DONE = "Done.\n\n<promise>COMPLETE</promise>";

/** Without repetitions, which one of them takes for a loop. */
const LONG = Array.from({ length: 4_000 }, (_, at) => `Step ${at} took ${(at * 7919) % 997} lines.`).join(
  "\n",
);

/** Does one thing after the other, then says so. */
function steps(...replies: readonly Reply[]): Scenario {
  return ({ step }) => replies[step] ?? text(DONE);
}

/** Ends its first iteration in another way, and its second with the work. */
function onceThen(first: Reply, name: string): Scenario {
  return (at) => (isAgain(at) ? steps(write(name))(at) : first);
}

function isAgain({ userText }: Situation): boolean {
  return /\*\*Ralph Iteration\*\*: (?!1\/)/.test(userText);
}

const ok = (does: Scenario, ...leaves: readonly string[]): OddModel => ({
  does,
  verdicts: ["accepted"],
  leaves,
});
const later = (first: Reply, verdict: string, name: string): OddModel => ({
  does: onceThen(first, name),
  verdicts: [verdict, "accepted"],
  leaves: [name],
});

/** By the mark that the title of the task has. */
export const ODD_MODELS: Readonly<Record<string, OddModel>> = {
  "two-at-once": ok(
    steps({
      is: "actions",
      say: "Both.",
      actions: [
        { does: "write", path: "first.txt", content: "1\n" },
        { does: "write", path: "second.txt", content: "2\n" },
      ],
    }),
    "first.txt",
    "second.txt",
  ),
  "odd-name": ok(steps(write("it's wörth it.txt")), "it's wörth it.txt"),
  "big-output": ok(
    steps(shell("yes 'a line of output' | head -n 100000"), write("after-output.txt")),
    "after-output.txt",
  ),
  "failing-command": ok(
    steps(shell("echo oh no >&2; exit 3"), write("after-failure.txt")),
    "after-failure.txt",
  ),
  "unknown-tool": ok(steps(call("no_such_tool", { a: 1 }), write("after-unknown.txt")), "after-unknown.txt"),
  "two-commits": ok(
    steps(shell("for i in 1 2; do echo $i > part-$i.txt; git add -A; git commit -qm part; done")),
    "part-1.txt",
    "part-2.txt",
  ),
  link: ok(steps(shell("ln -s README.md linked; printf '\\0\\1' > binary.bin")), "linked", "binary.bin"),
  "long-answer": ok(({ step }) => (step === 0 ? write("long.txt") : text(`${LONG}\n${DONE}`)), "long.txt"),
  escapes: ok(
    ({ step }) => (step === 0 ? write("escapes.txt") : text(`\u001b[31mRed\u001b[0m \u0007 🎉 ${DONE}`)),
    "escapes.txt",
  ),
  renamed: ok(
    steps(write("old-name.txt"), shell("git add -A && git mv old-name.txt new-name.txt")),
    "new-name.txt",
  ),
  "side-branch": ok(
    steps(
      shell(
        "git checkout -qb side && echo 1 > side.txt && git add -A && git commit -qm side && git checkout -q - && git merge -q side",
      ),
    ),
    "side.txt",
  ),
  stashed: ok(
    steps(shell("echo 1 > stashed.txt && git add -A && git stash -q && git stash pop -q")),
    "stashed.txt",
  ),
  "deep-folder": ok(steps(shell("mkdir -p a/b/c && echo 1 > a/b/c/deep.txt")), "a/b/c/deep.txt"),
  "ticks-all": ok(steps(shell("sed -i 's/\\[ \\]/[x]/' TODO.md; echo 1 > ticked.txt")), "ticked.txt"),
  "status-block": ok(
    ({ step }) =>
      step === 0
        ? write("block.txt")
        : text("Done.\n\n---RALPH_STATUS---\nSTATUS: COMPLETE\nEXIT_SIGNAL: true\n---END_RALPH_STATUS---"),
    "block.txt",
  ),
  "slow-command": ok(steps(shell("sleep 3"), write("after-sleep.txt")), "after-sleep.txt"),
  "other-promise": later(text("Done.\n\n<promise>FINISHED</promise>"), "continue", "after-other-promise.txt"),
  "promise-in-a-sentence": later(
    text("I would print <promise>COMPLETE</promise> if it were done."),
    "continue",
    "after-sentence.txt",
  ),
  fenced: later(text(`As you asked:\n\n\`\`\`\n${DONE}\n\`\`\``), "continue", "after-fence.txt"),
  question: later(text("Shall I go on?"), "continue", "after-question.txt"),
  nothing: later(text(DONE), "rejected", "after-lie.txt"),
};

/** The model that the task's title names, as in `write it (#link)`. */
export const oddModel: Scenario = (at) => {
  const mark = /\(#([\w-]+)\)/.exec(at.userText)?.[1] ?? "";
  return ODD_MODELS[mark]?.does(at) ?? text(`There is no model called "${mark}".`);
};
