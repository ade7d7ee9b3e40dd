// Repositories of people who have never heard of ralph, and what they type first.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { pathWithoutAgents } from "../fixtures/path-without-agents.ts";

export interface Kind {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  /** The gate that `ralph init` must find. */
  readonly gate: string;
}

export const KINDS: readonly Kind[] = [
  {
    name: "Node",
    files: {
      "package.json": '{ "name": "shop", "scripts": { "test": "node --test" } }\n',
      "sum.test.mjs":
        'import test from "node:test";\nimport assert from "node:assert";\ntest("sums", () => assert.equal(1 + 1, 2));\n',
    },
    gate: "npm test",
  },
  {
    name: "Python",
    files: {
      "pyproject.toml": '[project]\nname = "shop"\nversion = "0.1"\n',
      "test_shop.py": "def test_sums():\n    assert 1 + 1 == 2\n",
    },
    gate: "python3 -m pytest",
  },
  {
    name: "Go",
    files: {
      "go.mod": "module example.com/shop\n\ngo 1.18\n",
      "shop.go": "package shop\n\nfunc Sum(a, b int) int { return a + b }\n",
      "shop_test.go":
        'package shop\n\nimport "testing"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 1) != 2 {\n\t\tt.Fatal("no sum")\n\t}\n}\n',
    },
    gate: "go test ./...",
  },
];

/** What happened from nothing to an accepted task; `wrong` is empty when all was well. */
export interface FirstUse {
  readonly wrong: readonly string[];
  readonly seconds: number;
}

/** `ralph init`, `ralph run "goal" --check "…"`, and a look at what came of it. `program` is the installed one. */
export function useFirst(program: string, node: string, { files, gate }: Kind): FirstUse {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "ralph-first-use-")));
  const started = performance.now();
  try {
    const root = join(folder, "repository");
    const env = {
      PATH: [dirname(node), pathWithoutAgents(join(folder, "programs"))].join(delimiter),
      HOME: join(folder, "home"),
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
    };
    mkdirSync(env.HOME);
    makeRepository(root, files, env);
    const ralph = (...args: readonly string[]): Said => say(program, args, root, env);
    const init = ralph("init");
    const run = ralph("run", "put the shop on the list", "--check", "grep -q shop DEMO.md");
    const why = ralph("why");
    const wrong = [
      ...expected("init", init, 0, `tests: ${gate}`),
      ...expected("run", run, 0, "✔ accepted"),
      ...expected("why", why, 0, "every task is done"),
    ];
    return { wrong, seconds: (performance.now() - started) / 1_000 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function makeRepository(root: string, files: Kind["files"], env: NodeJS.ProcessEnv): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const author = ["-c", "user.name=You", "-c", "user.email=you@example.com"];
  for (const args of [
    ["init", "--quiet", "--initial-branch=main"],
    ["add", "--all"],
    [...author, "commit", "--quiet", "-m", "start"],
  ])
    execFileSync("git", args, { cwd: root, env });
}

interface Said {
  readonly code: number | null;
  readonly words: string;
}

function say(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Said {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, env, encoding: "utf8" });
  return { code: status, words: `${stdout}${stderr}` };
}

function expected(what: string, { code, words }: Said, wanted: number, text: string): readonly string[] {
  if (code === wanted && words.includes(text)) return [];
  return [`ralph ${what} ended with ${code} and said:\n${words}`];
}
