import type { DemoStep } from "../../src/core/demo/demo-script.ts";

/** The repository that a page is played in: its files, and what was typed before the page begins. */
export interface Scene {
  readonly files: Readonly<Record<string, string>>;
  readonly typed?: readonly string[];
}

type Script = Readonly<Record<string, readonly (readonly DemoStep[])[]>>;

const DEMO = 'agent = "demo"\n\n[agents.demo]\nscript = ".ralph/script.json"\n';
const DONE: DemoStep = { promise: "COMPLETE" };

function demo(tasks: readonly string[], script: Script, gate?: string): Scene["files"] {
  const gates = gate === undefined ? "" : `\n[[gates]]\nname = "tests"\ncommand = "${gate}"\n`;
  return {
    "TODO.md": tasks.map((task) => `- [ ] ${task}\n`).join(""),
    ".ralph/ralph.toml": `${DEMO}${gates}`,
    ".ralph/script.json": JSON.stringify({ tasks: script }),
  };
}

function costs(dollars: number): DemoStep {
  return { usage: { cost_usd: dollars } };
}

function writes(path: string, text = "x\n"): DemoStep {
  return { write: { path, text } };
}

const CHARTS = `if test -e ~/analytics.key; then echo x > charts.js && echo "<promise>COMPLETE</promise>"
else echo "<promise>BLOCKED:no credentials for the analytics service</promise>"; fi`;

/** Two are done after a rejection, one is done at once, one asks, one is blocked. */
const NIGHT = demo(
  [
    "**auth-001**: Issue access tokens",
    "**auth-002**: Refuse expired tokens",
    "**ui-004**: Live updates of the board",
    "**ui-022**: Analytics dashboard",
    "**docs-006**: Describe the API",
  ],
  {
    "auth-001": [[costs(0.5), writes("src/token.js"), DONE]],
    "auth-002": [
      [costs(0.3), writes("broken"), writes("src/expiry.js"), DONE],
      [costs(0.2), { remove: "broken" }, DONE],
    ],
    "ui-004": [
      [costs(0.1), { decide: "WebSockets or polling? | sockets | polling" }],
      [costs(0.2), writes("src/live.js"), DONE],
    ],
    "ui-022": [[costs(0.1), { shell: CHARTS }]],
    "docs-006": [
      [costs(0.4), { say: "I described the API in docs/api.md." }, DONE],
      [costs(0.2), writes("docs/api.md"), DONE],
    ],
  },
  "test ! -e broken",
);

const REJECTED_GATE = "cat broken 2>/dev/null && exit 1 || true";

export const SCENES: Readonly<Record<string, Scene>> = {
  "with-tests": { files: { Makefile: "test:\n\t@true\n" } },
  "night-over": { files: NIGHT, typed: ["ralph run --keep-going"] },
  money: {
    files: demo(["**login**: make the login page", "**colour**: choose a colour"], {
      login: [[costs(1.2), writes("login.html"), { say: "Half of it is there." }]],
    }),
  },
  stuck: {
    files: demo(["**report**: make the report"], {
      report: [[{ say: "I would start by reading the data." }]],
    }),
  },
  slow: {
    files: demo(["**ui-022**: Analytics dashboard"], { "ui-022": [[{ say: "I read." }, { hang: true }]] }),
  },
  rejected: {
    files: {
      ...demo(
        ["**auth-002**: Refuse expired tokens\n  - a token older than an hour is refused"],
        { "auth-002": [[writes("broken", "1 test failed: expiry\n"), DONE]] },
        REJECTED_GATE,
      ),
    },
    typed: ["ralph run -n 1"],
  },
  "own-agent": {
    files: {
      "TODO.md": "- [ ] **one**: Write a greeting\n",
      ".ralph/ralph.toml": 'agent = "mine"\n\n[agents.mine]\ncommand = ["sh", "tools/agent.sh"]\n',
      "tools/agent.sh": `prompt=$(cat)                             # the whole prompt, on stdin
echo "Hello" > greeting.txt               # the work: files in the current folder
echo "I wrote greeting.txt for $RALPH_TASK_ID."
echo "<promise>COMPLETE</promise>"        # the claim, on a line of its own
`,
    },
  },
};
