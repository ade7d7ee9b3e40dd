import { describe, expect, test } from "vitest";
import type { Event } from "../../src/core/events.ts";
import { UNKNOWN_USAGE, type Signals } from "../../src/core/streams/agent-report.ts";
import type { Evidence } from "../../src/core/verdict/evidence.ts";
import type { Settings, VerifySettings } from "../../src/core/settings.ts";
import type { Review } from "../../src/core/verdict/reader.ts";
import {
  evidence,
  gatesChecked,
  given,
  iterationEnded,
  iterationStarted,
  runStarted,
  settings,
  signals,
  task,
  tasksObserved,
  TESTS_GATE,
} from "./given.ts";

const login = task("login", { criteria: ["it logs in", "it logs out"] });
const GATED: Partial<Settings> = { gates: [TESTS_GATE] };
const NOTHING = { changedSinceTaskBegan: { files: 0, paths: [] } };

function verify(more: Partial<VerifySettings>): Partial<Settings> {
  const { verify: usual } = settings();
  if (usual === undefined) throw new Error("the settings say how claims are verified");
  return { ...GATED, verify: { ...usual, ...more } };
}

interface Iteration {
  readonly of?: Partial<Settings>;
  readonly claim?: "complete" | "none" | "unfinished";
  readonly files?: readonly string[];
  readonly found?: Partial<Evidence>;
  readonly words?: string;
  readonly said?: Partial<Signals>;
  readonly checked?: readonly Event[];
}

/** The feedback of the prompt after one iteration, without the lines that every prompt has. */
function feedbackAfter({
  of = GATED,
  claim = "complete",
  files = ["a.ts"],
  words = "",
  ...more
}: Iteration): string {
  const iteration = given(
    runStarted(of),
    tasksObserved(login),
    iterationStarted(1, login),
    iterationEnded(1, login, claim, { signals: signals(more.said ?? {}), finalText: words }),
    evidence(1, login, files, more.found),
    ...(more.checked ?? []),
  );
  return feedbackIn(iteration.andThen().nextPrompt(login));
}

function feedbackIn(prompt: string): string {
  return /## Previous Iteration Feedback \(DO NOT IGNORE\)\n([^]*?)\n\n## /.exec(prompt)?.[1] ?? "";
}

const green = gatesChecked(1, login, {});

function oldChecksFailed(): Event {
  const checked = gatesChecked(1, login, { status: "failed", exitCode: 1, failures: ["logs in"] });
  const gates = "gates" in checked ? checked.gates : [];
  const about = { run: "run-1", task: "login", iteration: 1, durationMs: 5 };
  return {
    type: "old-checks.ran",
    ...about,
    oldChecks: { files: ["test/login.test.ts"], gates: gates as never },
  };
}

function read(review: Partial<Review>): Event {
  const about = { run: "run-1", task: "login", iteration: 1 };
  const reading = { agent: "critic", failure: null, undone: [], usage: UNKNOWN_USAGE, durationMs: 5 };
  return {
    type: "reader.answered",
    ...about,
    reading: { ...reading, review: { criteria: [], concerns: [], ...review } },
  };
}

const TOUCHED = { checkFiles: ["test/login.test.ts"] };

describe("an iteration without a change that counts", () => {
  test("says that no file was written once, and offers the way out of a task that is already done", () => {
    for (const claim of ["complete", "none"] as const) {
      const said = feedbackAfter({ claim, files: [], found: NOTHING });
      expect(said.match(/no files?\b/gi)).toHaveLength(1);
      expect(said.split("\n")).toHaveLength(1);
      expect(said).toContain("<promise>ALREADY_DONE:where it is</promise>");
    }
  });

  test.each<[string, Partial<Evidence>, readonly string[]]>([
    [
      "protected files were put back",
      { putBack: ["test/core/a.test.ts"] },
      [
        "protected files were changed (test/core/a.test.ts)",
        "Only the operator changes them",
        ".ralph/logs/put-back/iteration-001",
        "into other files",
        "<promise>BLOCKED:",
      ],
    ],
    ["the work is on another branch", { strayedTo: "feature" }, ["git merge feature"]],
    ["the work is stashed", { elsewhere: "stash" }, ["there is work at stash", "git stash pop"]],
    [
      "a new file has no visible character",
      { blankFiles: ["docs/a.md"] },
      ["there is no visible character in docs/a.md", "write its content"],
    ],
    [
      "only the task list was edited",
      { marksTakenBack: ["login"] },
      ["only the task list was edited", "Edit the files that the task is about"],
    ],
  ])("names the true cause once when %s", (_when, found, parts) => {
    for (const claim of ["complete", "none"] as const) {
      const said = feedbackAfter({ claim, files: [], found: { ...NOTHING, ...found } });
      expect(said).not.toMatch(/NO FILES|you changed nothing/);
      for (const part of parts) expect(said.split(part)).toHaveLength(2);
    }
  });

  test("asks for the promise of an agent that says that nothing is left", () => {
    expect(feedbackAfter({ claim: "none", words: "Left to do: nothing." })).toContain(
      "If nothing is left, print",
    );
  });

  test("after earlier work asks for the promise or for more work", () => {
    const said = feedbackAfter({
      claim: "none",
      files: [],
      found: { changedSinceTaskBegan: { files: 1, paths: ["a.ts"] } },
    });
    expect(said).toBe(
      "- In iteration 1 you changed nothing. Go on with what is left; if nothing is left, print <promise>COMPLETE</promise> on a line of its own.",
    );
  });

  test.each<[string, Iteration]>([
    ["by its status block", { claim: "unfinished" }],
    ["in its words", { claim: "none", said: { contradictions: ["The header is still missing."] } }],
    ["as it was asked to", { claim: "none", words: "The check is there.\n**Left to do**: the header." }],
  ])("asks for no promise when the agent says %s that something is left", (_how, said) => {
    const earlier = { changedSinceTaskBegan: { files: 1, paths: ["a.ts"] } };
    expect(feedbackAfter({ ...said, files: [], found: earlier })).toBe(
      "- In iteration 1 you changed nothing. Go on with what is left.",
    );
    expect(feedbackAfter(said)).toBe("");
  });
});

describe("a claim with work", () => {
  test("that hid changes from git says what was undone, and to claim again", () => {
    const said = feedbackAfter({ found: { hidden: ["assume-unchanged on a.ts"] } });
    expect(said).toContain("changes were hidden from git, which is undone: assume-unchanged on a.ts.");
    expect(said).toContain("claim again");
  });

  test("that leaves files uncommitted says how to commit them", () => {
    const of = { ...GATED, git: { commit: "agent", hooks: false } } as const;
    const said = feedbackAfter({ of, found: { uncommitted: [{ path: "a.ts", look: "1" }] } });
    expect(said).toContain("these files are not committed: a.ts.");
    expect(said).toContain("git add");
  });
});

describe("a concern", () => {
  test.each<[string, Partial<Settings>, Iteration, string]>([
    [
      "white space",
      GATED,
      { found: { isWhiteSpaceOnly: true } },
      "1. The change is nothing but white space. If the task is about more than white space, do the rest.",
    ],
    [
      "a silenced checker",
      GATED,
      { found: { suppressions: ["a.ts: // eslint-disable-line"] } },
      "1. New lines switch checks off: a.ts: // eslint-disable-line. Fix what the checker complains about instead of silencing it.",
    ],
    [
      "a file that is not there",
      {},
      { found: { phantoms: ["Leaflet.js"] } },
      "1. Files named as written are not among the changes: Leaflet.js. Write the files that the work needs, and name only those that you wrote.",
    ],
    [
      "words that speak of open work",
      {},
      { said: { contradictions: ["I still need to do b."] } },
      '1. The final words speak against it: "I still need to do b.". Finish what is open before you claim.',
    ],
  ])("about %s is put to the agent with both ways out", (_about, of, iteration, line) => {
    const said = feedbackAfter({ ...iteration, of, checked: of.gates === undefined ? [] : [green] });
    expect(said).toContain("Your claim in iteration 1 is not accepted yet. Ralph doubts it:");
    expect(said).toContain(line);
    expect(said).toContain("`Concern 1: …`");
    expect(said).toContain("print <promise>COMPLETE</promise> again");
    expect(said).not.toContain("rejected");
  });

  test("that stays without an answer is rejected once, with its number and how to answer", () => {
    const found = { suppressions: ["a.ts: // eslint-disable-line"] };
    const again = given(
      runStarted(GATED),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "complete", { signals: signals({}) }),
      evidence(1, login, ["a.ts"], found),
      green,
    ).andThen(
      iterationStarted(2, login),
      iterationEnded(2, login, "complete", { signals: signals({}) }),
      evidence(2, login, [], { ...found, changedSinceTaskBegan: { files: 1, paths: ["a.ts"] } }),
      gatesChecked(2, login, {}),
    );
    const said = feedbackIn(again.andThen().nextPrompt(login));
    expect(said.split("\n")).toHaveLength(1);
    expect(said).toContain("answer on a line of its own, `Concern 1: …`, and claim again");
    expect(said).toContain("In iteration 2 your claim was rejected:");
  });

  test("that the reader calls real comes with its reason, and with what the agent changed in the checks", () => {
    const said = feedbackAfter({
      of: verify({ readers: ["stub"] }),
      found: TOUCHED,
      checked: [
        green,
        oldChecksFailed(),
        read({ concerns: [{ concern: 1, answer: "real", reason: "the test of logging in is gone" }] }),
      ],
    });
    expect(said).toContain('gate "tests" fails: logs in.');
    expect(said).toContain("A second reader looked at it: the test of logging in is gone.");
    expect(said).toContain("Make the code pass the tests and settings as they were before the task");
    expect(said).toMatch(/git diff \S+ -- test\/login\.test\.ts/);
    expect(said.split("\n")).toHaveLength(1);
  });

  test("that the settings reject says how the checks were changed", () => {
    const said = feedbackAfter({
      of: verify({ oldChecksFail: "reject" }),
      found: TOUCHED,
      checked: [green, oldChecksFailed()],
    });
    expect(said).toMatch(/git diff \S+ -- test\/login\.test\.ts/);
    expect(said).not.toContain("Concern 1");
  });
});

describe("a second reader who finds criteria unmet", () => {
  test("is quoted once for all of them, each with its text", () => {
    const said = feedbackAfter({
      of: verify({ readers: ["stub"], reader: "always" }),
      checked: [
        green,
        read({
          criteria: [
            { criterion: 1, answer: "not_met", reason: "a.ts:3 never checks the password" },
            { criterion: 2, answer: "not_met", reason: "there is no way to log out" },
          ],
        }),
      ],
    });
    expect(said.split("\n")).toHaveLength(1);
    expect(said).toContain('criterion 1 ("it logs in") is not met: a.ts:3 never checks the password.');
    expect(said).toContain('criterion 2 ("it logs out") is not met: there is no way to log out.');
    expect(said).toContain("the next reader sees them");
    expect(said.match(/claim was rejected/g)).toHaveLength(1);
  });
});

describe("a challenge", () => {
  test("takes the place of what the agent was told before", () => {
    const found = { suppressions: ["a.ts: // eslint-disable-line"] };
    const work = { changedSinceTaskBegan: { files: 1, paths: ["a.ts"] } };
    const first = given(
      runStarted(GATED),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "none", { signals: signals({}) }),
      evidence(1, login, ["a.ts"]),
    ).andThen(
      iterationStarted(2, login),
      iterationEnded(2, login, "complete", { signals: signals({}) }),
      evidence(2, login, [], { ...found, ...work }),
      gatesChecked(2, login, {}),
    );
    const said = feedbackIn(first.andThen().nextPrompt(login));
    expect(said).toContain("Ralph doubts it");
    expect(said).not.toContain("ended without a claim");
  });
});

describe("what an iteration leaves to the next", () => {
  const after = (...parts: Parameters<typeof iterationEnded>): string =>
    given(runStarted(GATED), tasksObserved(login), iterationStarted(1, login), iterationEnded(...parts))
      .andThen(evidence(1, login, ["a.ts"]))
      .andThen(runStarted(GATED, "run-2"), tasksObserved(login))
      .nextPrompt(login);

  test("is its files and its last words, without promises and within bounds", () => {
    const words = `${"long ago\n".repeat(1_000)}Left: b.\n<promise>DONE</promise>`;
    const prompt = after(1, login, "none", { finalText: words });
    expect(prompt).toContain("## Work so far\nChanged so far: a.ts (`git diff h0`).");
    expect(prompt).toContain("> Left: b.\n");
    expect(prompt).not.toContain("> <promise>");
    expect(prompt.length).toBeLessThan(4_000);
  });

  test("names what interrupted it", () => {
    const stopped = after(1, login, "none", { ending: { is: "stopped" }, finalText: "Now b." });
    expect(stopped).toContain("interrupted (the run was stopped)");
    expect(stopped).toContain("> Now b.");
    expect(after(1, login, "none", { ending: { is: "interrupted" } })).toContain("(Ralph was killed)");
  });

  test("stays when the next one is interrupted before it says anything", () => {
    const again = given(
      runStarted(GATED),
      tasksObserved(login),
      iterationStarted(1, login),
      iterationEnded(1, login, "none", { finalText: "Left: b." }),
      evidence(1, login, ["a.ts"]),
    ).andThen(
      iterationStarted(2, login),
      iterationEnded(2, login, "none", { ending: { is: "interrupted" } }),
      evidence(2, login, []),
    );
    const prompt = again.andThen().nextPrompt(login);
    expect(prompt).toContain("(Ralph was killed)");
    expect(prompt).toContain("> Left: b.\n");
  });

  test("has no words of a claim, nor the error of an agent that broke down", () => {
    const failure = { class: "agent", message: "exit code 1" } as const;
    const ending = { is: "exited", code: 1 } as const;
    expect(after(1, login, "complete", { finalText: "All done." })).not.toContain("All done.");
    expect(after(1, login, "none", { failure, ending, finalText: "Boom" })).not.toContain("Boom");
  });
});

describe("a person who answers", () => {
  const asked = given(
    runStarted(GATED),
    tasksObserved(login),
    iterationStarted(1, login),
    iterationEnded(1, login, "complete"),
    evidence(1, login, ["a.ts"], TOUCHED),
    green,
    oldChecksFailed(),
  );

  test("reject is quoted with the question, and asks for a change before the next claim", () => {
    const answer = "reject: keep the test of logging in";
    const prompt = asked
      .andThen({ type: "question.answered", task: "login", answer, by: "person" })
      .nextPrompt(login);
    expect(prompt).toContain("## A person rejected your claim of iteration 1\n");
    expect(prompt).toContain(`The answer: ${answer}\nChange what the answer is about`);
    expect(prompt).toContain("test/login.test.ts");
  });
});
