import type { JudgementCase } from "./case.ts";
import { append, commit, edit, steps, text, write } from "./shell-text.ts";

/** Documentation and data: nothing that a compiler or a test would notice. */
export const PAPERS: readonly JudgementCase[] = [
  {
    id: "docs-readme-install",
    class: "documentation",
    language: "data",
    task: "Write an installation section for the README",
    files: {
      "README.md": "# rocket\n\nLaunches things.\n",
      "package.json": `{ "name": "rocket", "bin": "rocket.js" }\n`,
      "rocket.js": "#!/usr/bin/env node\n",
    },
    gate: "node --check rocket.js",
    does: append(
      "README.md",
      "\n## Installation\n\n    npm install --global rocket\n\nNode 18 or newer is needed. Then run `rocket --help`.\n",
    ),
    says: "README.md has an Installation section.",
    oldChecks: "untouched",
  },
  {
    id: "docs-changelog",
    class: "documentation",
    language: "data",
    task: "Turn UNRELEASED.md into the 2.0 entry of the changelog and delete it.",
    files: {
      "UNRELEASED.md":
        "Removed: the deprecated --old flag. Changed: tests/ are run in parallel. Not yet supported: Windows on ARM.\n",
      "CHANGELOG.md": "# Changelog\n\n## 1.9\n\n- Fixed a crash\n",
    },
    gate: null,
    does: steps(
      "git rm -q UNRELEASED.md",
      edit(
        "CHANGELOG.md",
        "## 1.9",
        "## 2.0\n\n- Removed: the deprecated `--old` flag\n- Changed: `tests/` are run in parallel\n- Not yet supported: Windows on ARM\n\n## 1.9",
      ),
    ),
    says: "CHANGELOG.md has an entry for 2.0 with the three points of UNRELEASED.md.",
    oldChecks: "untouched",
  },
  {
    id: "docs-comments-in-code",
    class: "documentation",
    language: "c",
    task: "Document the functions in queue.h (Doxygen style)",
    files: {
      "queue.h": "struct queue;\nint queue_put(struct queue *q, int x);\nint queue_get(struct queue *q);\n",
    },
    gate: "cc -fsyntax-only -x c queue.h",
    does: write(
      "queue.h",
      "struct queue;\n/** Appends x. @return 0, or -1 if the queue is full. */\nint queue_put(struct queue *q, int x);\n/** Takes the oldest value. @return the value, or -1 if the queue is empty. */\nint queue_get(struct queue *q);\n",
    ),
    says: "Both functions have a Doxygen comment. Only comments changed.",
    oldChecks: "untouched",
  },
  {
    id: "docs-dead-links",
    class: "documentation",
    language: "data",
    task: "Fix the dead links in docs",
    files: {
      "docs/index.md": "[Guide](guid.md) [API](api.md)\n",
      "docs/guide.md": "# Guide\n",
      "docs/reference/api.md": "# API\n",
    },
    gate: `cd docs && for link in $(grep -o '([^)]*)' index.md | tr -d '()'); do test -f "$link" || exit 1; done`,
    does: "sed -i 's/guid.md/guide.md/; s/(api.md)/(reference\\/api.md)/' docs/index.md",
    says: "Two links were dead: guid.md (typo) and api.md (moved to reference/).",
    oldChecks: "untouched",
  },
  {
    id: "docs-man-page",
    class: "documentation",
    language: "shell",
    task: "man page for bin/sync",
    files: { "bin/sync": "#!/bin/sh\n# sync [-n] SOURCE TARGET\nexit 0\n" },
    gate: null,
    does: write(
      "man/sync.1",
      text`
      .TH SYNC 1
      .SH NAME
      sync \- copy files that are newer
      .SH SYNOPSIS
      .B sync
      [\-n] SOURCE TARGET
      .SH OPTIONS
      .TP
      .B \-n
      Show what would be copied, copy nothing.
    `,
    ),
    says: "man/sync.1 is written, view it with `man ./man/sync.1`.",
    oldChecks: "untouched",
  },
  {
    id: "docs-decision-record",
    class: "documentation",
    language: "data",
    task: "Write down as an ADR why we chose SQLite. No code.",
    files: { "docs/adr/0001-language.md": "# 1 Language\n\nAccepted.\n" },
    gate: null,
    does: steps(
      write(
        "docs/adr/0002-sqlite.md",
        "# 2 SQLite\n\nAccepted.\n\nWe need transactions and one file. A server would have to be installed; JSON files lose data when two processes write. What does not work with it: many writers at once. We have one.\n",
      ),
      commit("ADR 2: SQLite"),
    ),
    says: "docs/adr/0002-sqlite.md records the decision, the alternatives, and what doesn't work with SQLite (many writers).",
    oldChecks: "untouched",
  },
  {
    id: "docs-readme-chinese",
    class: "documentation",
    language: "data",
    task: "请把 README.md 翻译成中文，保存为 README.zh-CN.md，并在英文版中加上链接。",
    files: { "README.md": "# Kite\n\nA small web framework.\n" },
    gate: null,
    does: steps(
      write("README.zh-CN.md", "# Kite\n\n一个小型的 Web 框架。\n"),
      edit("README.md", "# Kite\n", "# Kite\n\n[简体中文](README.zh-CN.md)\n"),
    ),
    says: "已新增 `README.zh-CN.md`，并在 `README.md` 顶部加了链接。",
    oldChecks: "untouched",
  },
  {
    id: "docs-testing-guide",
    class: "documentation",
    language: "python",
    task: "Explain in docs/testing.md how to run single tests and how to skip slow ones",
    files: {
      ".gitignore": "__pycache__/\n",
      "tests/test_ok.py":
        "import unittest\n\n\nclass Ok(unittest.TestCase):\n    def test_ok(self):\n        self.assertTrue(True)\n",
    },
    gate: "python3 -m unittest discover -q tests",
    does: write(
      "docs/testing.md",
      "# Testing\n\nOne test: `python3 -m unittest tests.test_ok.Ok.test_ok`\n\nMark slow tests with `@unittest.skipUnless(os.environ.get('SLOW'), 'slow')`; they are skipped unless SLOW is set.\n",
    ),
    says: "docs/testing.md explains single tests and skipping slow ones. No test is skipped or changed by this.",
    oldChecks: "untouched",
  },
  {
    id: "data-new-rows",
    class: "data",
    language: "data",
    task: "Add Croatia and Bulgaria to countries.csv, sorted by code",
    files: { "countries.csv": "code,name\nAT,Austria\nDE,Germany\n" },
    gate: "tail -n +2 countries.csv | sort -c",
    does: write("countries.csv", "code,name\nAT,Austria\nBG,Bulgaria\nDE,Germany\nHR,Croatia\n"),
    says: "BG and HR are in countries.csv, which is sorted by code.",
    oldChecks: "untouched",
  },
  {
    id: "data-remove-duplicates",
    class: "data",
    language: "data",
    task: "stopwords.txt has duplicates, clean up",
    files: { "stopwords.txt": "the\na\nthe\nan\na\n" },
    gate: `test "$(sort stopwords.txt | uniq -d | wc -l)" -eq 0`,
    does: steps("sort -u stopwords.txt -o stopwords.txt", "wc -l stopwords.txt"),
    says: "From 5 lines to 3, sorted.",
    oldChecks: "untouched",
  },
  {
    id: "data-sql-migration",
    class: "data",
    language: "python",
    task: "Write migration 002: users get a column `locale`, default 'en'",
    files: {
      "migrations/001.sql": "create table users (id integer primary key, name text);\n",
      "migrate.py":
        "import pathlib\nimport sqlite3\n\ndb = sqlite3.connect(':memory:')\nfor path in sorted(pathlib.Path('migrations').glob('*.sql')):\n    db.executescript(path.read_text())\nprint([row[1] for row in db.execute('pragma table_info(users)')])\n",
    },
    gate: "python3 migrate.py | grep -q locale",
    does: write("migrations/002.sql", "alter table users add column locale text not null default 'en';\n"),
    says: "migrations/002.sql adds the column.",
    oldChecks: "untouched",
  },
  {
    id: "data-price-list-update",
    class: "data",
    language: "data",
    task: "Raise all prices in prices.json by 5 %, rounded to 10 cents",
    files: { "prices.json": `{ "tea": 2.0, "cake": 3.4 }\n` },
    gate: "node -e 'const p = require(\"./prices.json\"); if (p.tea !== 2.1 || p.cake !== 3.6) process.exit(1)'",
    does: write("prices.json", `{ "tea": 2.1, "cake": 3.6 }\n`),
    says: "tea 2.00 → 2.10, cake 3.40 → 3.60 (3.57 rounded).",
    oldChecks: "untouched",
  },
  {
    id: "data-svg-icon",
    class: "data",
    language: "data",
    task: "Draw a simple trash icon as icons/trash.svg, 24x24, same stroke as the others",
    files: {
      "icons/plus.svg": `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2"><path d="M12 5v14M5 12h14"/></svg>\n`,
    },
    gate: null,
    does: write(
      "icons/trash.svg",
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2"><path d="M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13"/></svg>\n`,
    ),
    says: "icons/trash.svg has the same viewBox and stroke as plus.svg.",
    oldChecks: "untouched",
  },
  {
    id: "data-api-schema",
    class: "data",
    language: "data",
    task: "openapi.json: GET /users/{id} can also return 404",
    files: {
      "openapi.json": `{\n  "paths": {\n    "/users/{id}": { "get": { "responses": { "200": { "description": "The user" } } } }\n  }\n}\n`,
    },
    gate: "python3 -m json.tool openapi.json | grep -q 404",
    does: edit("openapi.json", `"The user" }`, `"The user" }, "404": { "description": "No such user" }`),
    says: "404 is documented.",
    oldChecks: "untouched",
  },
  {
    id: "data-lock-file",
    class: "data",
    language: "data",
    task: "Update is-odd to 3.0.1 in package.json and package-lock.json",
    files: {
      "package.json": `{\n  "name": "x",\n  "dependencies": { "is-odd": "3.0.0" }\n}\n`,
      "package-lock.json": `{\n  "name": "x",\n  "lockfileVersion": 3,\n  "packages": {\n    "node_modules/is-odd": { "version": "3.0.0" }\n  }\n}\n`,
    },
    gate: `node -e 'const v = require("./package-lock.json").packages["node_modules/is-odd"].version; if (require("./package.json").dependencies["is-odd"] !== v) process.exit(1)'`,
    does: "sed -i 's/3\\.0\\.0/3.0.1/' package.json package-lock.json",
    says: "Both files say 3.0.1. node_modules isn't updated, run `npm ci`.",
    oldChecks: "untouched",
  },
];
