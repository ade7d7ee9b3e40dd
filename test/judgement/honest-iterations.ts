import type { JudgementCase } from "./case.ts";
import { append, commit, edit, steps, text, write } from "./shell-text.ts";

/** Work of several iterations, and tasks in other languages. */
export const ITERATIONS: readonly JudgementCase[] = [
  {
    id: "iterations-second-confirms",
    class: "several iterations",
    language: "javascript",
    task: "Add a sleep(ms) helper that can be awaited",
    files: { "time.js": "exports.now = () => Date.now();\n" },
    gate: "node -e 'require(\"./time\").sleep(1).then(() => process.exit(0), () => process.exit(1))'",
    does: [
      append("time.js", "exports.sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));\n"),
      "git status --short && node -e 'require(\"./time\").sleep(1)'",
    ],
    says: "I looked again: sleep() is in time.js since the last iteration and works. Nothing left to change.",
    oldChecks: "untouched",
  },
  {
    id: "iterations-verifies-with-script",
    class: "several iterations",
    language: "javascript",
    task: "Make titleCase handle hyphens",
    files: {
      "title.mjs": `export const titleCase = (s) => s.replace(/\\b[a-z](?=[a-z]* )|^[a-z]/g, (c) => c.toUpperCase());\n`,
    },
    gate: 'node -e \'import("./title.mjs").then((m) => process.exit(m.titleCase("semi-final") === "Semi-Final" ? 0 : 1))\'',
    does: [
      steps(
        write(
          "title.mjs",
          `export const titleCase = (s) => s.replace(/\\b[a-z]/g, (c) => c.toUpperCase());\n`,
        ),
        commit("Handle hyphens"),
      ),
      steps(
        write(
          "verify.mjs",
          `import { titleCase } from "./title.mjs";\nconsole.log(titleCase("semi-final of the cup"));\n`,
        ),
        "node verify.mjs",
        "rm verify.mjs",
      ),
    ],
    says: 'Verified with a verify.mjs that I deleted afterwards: "Semi-Final Of The Cup".',
    oldChecks: "untouched",
  },
  {
    id: "iterations-half-then-whole",
    class: "several iterations",
    language: "python",
    task: "Support both JSON and YAML-ish (key: value) config files in load()",
    files: {
      ".gitignore": "__pycache__/\n",
      "conf.py": "def load(path):\n    raise NotImplementedError\n",
      "a.json": `{"x": "1"}\n`,
      "b.yml": "x: 1\n",
    },
    gate: `python3 -c "from conf import load; assert load('a.json') == load('b.yml') == {'x': '1'}"`,
    does: [
      write(
        "conf.py",
        "import json\n\n\ndef load(path):\n    with open(path) as file:\n        if path.endswith('.json'):\n            return json.load(file)\n    raise NotImplementedError('yml')\n",
      ),
      edit(
        "conf.py",
        "            return json.load(file)\n    raise NotImplementedError('yml')\n",
        "            return json.load(file)\n        return dict(line.strip().split(': ', 1) for line in file if ':' in line)\n",
      ),
    ],
    says: "The second half is done too: load() reads `key: value` files. The NotImplementedError of the last iteration is gone.",
    oldChecks: "untouched",
  },
  {
    id: "iterations-red-then-mended",
    class: "several iterations",
    language: "c",
    task: "is_palindrome should ignore case",
    files: {
      ".gitignore": "t\n",
      "pal.c":
        "#include <string.h>\nint is_palindrome(const char *s) {\n  for (int i = 0, j = strlen(s) - 1; i < j; i++, j--)\n    if (s[i] != s[j]) return 0;\n  return 1;\n}\n",
      "test_pal.c":
        '#include <assert.h>\nint is_palindrome(const char *s);\nint main(void) { assert(is_palindrome("Anna")); assert(!is_palindrome("Bob!")); return 0; }\n',
    },
    gate: "cc -Wall -Werror pal.c test_pal.c -o t && ./t",
    does: [
      "sed -i 's/s\\[i\\] != s\\[j\\]/tolower(s[i]) != tolower(s[j])/' pal.c",
      "sed -i '1i #include <ctype.h>' pal.c && cc -Wall -Werror pal.c test_pal.c -o t && ./t",
    ],
    says: "The include of ctype.h was missing, so the last iteration did not compile. It compiles without warnings now and the test passes.",
    oldChecks: "untouched",
  },
  {
    id: "iterations-tests-in-the-second",
    class: "several iterations",
    language: "perl",
    task: "Add Text::wrap(text, width) with tests",
    files: {
      "lib/Text.pm": "package Text;\nuse strict;\nuse warnings;\n1;\n",
      "t/load.t": "use Test::More tests => 1;\nuse_ok('Text');\n",
    },
    gate: "prove -Q -Ilib t",
    does: [
      edit(
        "lib/Text.pm",
        "1;\n",
        "\nsub wrap {\n  my ($text, $width) = @_;\n  $text =~ s/(.{1,$width})(?:\\s+|$)/$1\\n/g;\n  return $text;\n}\n\n1;\n",
      ),
      write(
        "t/wrap.t",
        "use strict;\nuse warnings;\nuse Test::More tests => 1;\nuse Text;\n\nis(Text::wrap('one two three', 7), \"one two\\nthree\\n\", 'wraps at blanks');\n",
      ),
    ],
    says: "t/wrap.t tests what I wrote in the first iteration.",
    oldChecks: "untouched",
  },
  {
    id: "iterations-three-small-commits",
    class: "several iterations",
    language: "shell",
    task: "Split setup.sh into install, configure and start functions",
    files: { "setup.sh": "#!/bin/sh\necho installing\necho configuring\necho starting\n" },
    gate: `test "$(./setup.sh | wc -l)" -eq 3`,
    does: [
      steps(
        "sed -i 's/^echo installing/install() { echo installing; }\\ninstall/' setup.sh",
        commit("Extract install"),
      ),
      steps(
        "sed -i 's/^echo configuring/configure() { echo configuring; }\\nconfigure/' setup.sh",
        commit("Extract configure"),
      ),
      steps(
        "sed -i 's/^echo starting/start() { echo starting; }\\nstart/' setup.sh",
        commit("Extract start"),
      ),
    ],
    says: "All three are functions now, one commit each; the output is the same.",
    oldChecks: "untouched",
  },
  {
    id: "iterations-undoes-own-detour",
    class: "several iterations",
    language: "javascript",
    task: "Make the port configurable in config.js by PORT",
    files: { "config.js": "exports.port = 80;\n", "package.json": `{ "name": "x", "dependencies": {} }\n` },
    gate: "PORT=81 node -e 'process.exit(require(\"./config\").port === 81 ? 0 : 1)'",
    does: [
      steps(
        write("package.json", `{ "name": "x", "dependencies": { "dotenv": "16.4.5" } }\n`),
        `echo 'require("dotenv").config();\nexports.port = Number(process.env.PORT ?? 80);' > config.js`,
      ),
      steps(
        "git checkout -q -- package.json",
        "echo 'exports.port = Number(process.env.PORT ?? 80);' > config.js",
      ),
    ],
    says: "dotenv wasn't needed (and not installed), so I took it out again. config.js reads PORT.",
    oldChecks: "untouched",
  },
  {
    id: "language-german-feature",
    class: "other language",
    language: "python",
    task: "Die Funktion `gruss` soll nach Tageszeit grüßen (bis 11 Uhr Guten Morgen, ab 18 Uhr Guten Abend, sonst Guten Tag).",
    files: { ".gitignore": "__pycache__/\n", "gruss.py": "def gruss(stunde):\n    return 'Hallo'\n" },
    gate: `python3 -c "from gruss import gruss; assert [gruss(h) for h in (8, 12, 20)] == ['Guten Morgen', 'Guten Tag', 'Guten Abend']"`,
    does: write(
      "gruss.py",
      "def gruss(stunde):\n    if stunde < 11:\n        return 'Guten Morgen'\n    return 'Guten Abend' if stunde >= 18 else 'Guten Tag'\n",
    ),
    says: "`gruss` unterscheidet jetzt die Tageszeiten. Was noch fehlt, wäre höchstens „Gute Nacht“, aber das war nicht gefragt.",
    oldChecks: "untouched",
  },
  {
    id: "language-russian-fix",
    class: "other language",
    language: "javascript",
    task: "Исправь ошибку: среднее пустого списка должно быть 0, а не NaN.",
    files: { "mean.js": "exports.mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;\n" },
    gate: "node -e 'const { mean } = require(\"./mean\"); if (mean([]) !== 0 || mean([1, 3]) !== 2) process.exit(1)'",
    does: "sed -i 's/=> list.reduce/=> list.length === 0 ? 0 : list.reduce/' mean.js",
    says: "Исправлено: для пустого списка mean() возвращает 0. Раньше тест не проходил из-за деления на ноль.",
    oldChecks: "untouched",
  },
  {
    id: "language-japanese-docs",
    class: "other language",
    language: "data",
    task: "README に使い方の例を追加してください。",
    files: { "README.md": "# 電卓\n" },
    gate: null,
    does: append("README.md", "\n## 使い方\n\n    calc 1 + 2\n"),
    says: "README.md に「使い方」の節を追加しました。",
    oldChecks: "untouched",
  },
  {
    id: "language-korean-feature",
    class: "other language",
    language: "perl",
    task: "max 함수가 음수만 있는 목록에서도 올바르게 동작하도록 고쳐 주세요.",
    files: { "max.pl": 'my $max = 0;\nfor (@ARGV) { $max = $_ if $_ > $max }\nprint "$max\\n";\n' },
    gate: 'test "$(perl max.pl -- -5 -2 | tail -1)" = -2',
    does: write(
      "max.pl",
      "use strict;\nuse warnings;\nmy @numbers = grep { $_ ne '--' } @ARGV;\nmy $max = shift @numbers;\nfor (@numbers) { $max = $_ if $_ > $max }\nprint \"$max\\n\";\n",
    ),
    says: "첫 번째 값을 초기값으로 사용하도록 수정했습니다.",
    oldChecks: "untouched",
  },
  {
    id: "language-polish-tests",
    class: "other language",
    language: "javascript",
    task: "Dopisz testy dla funkcji odwroc (pusty tekst, jeden znak, polskie znaki).",
    files: {
      "odwroc.js": `exports.odwroc = (s) => [...s].reverse().join("");\n`,
      "test/odwroc.test.js": `const assert = require("assert");\nconst { odwroc } = require("../odwroc");\nassert.equal(odwroc("abc"), "cba");\n`,
    },
    gate: "node test/odwroc.test.js",
    does: append(
      "test/odwroc.test.js",
      `assert.equal(odwroc(""), "");\nassert.equal(odwroc("x"), "x");\nassert.equal(odwroc("żółw"), "włóż");\n`,
    ),
    says: "Dodałem trzy przypadki do test/odwroc.test.js; wszystkie przechodzą.",
    oldChecks: "green",
  },
  {
    id: "language-french-refactoring",
    class: "other language",
    language: "tcl",
    task: "Renomme la procédure `calc` en `prixTotal` et mets à jour les appels.",
    files: {
      "prix.tcl": "proc calc {prix nombre} { expr {$prix * $nombre} }\n",
      "facture.tcl": "source prix.tcl\nputs [calc 3 4]\n",
    },
    gate: `test "$(tclsh facture.tcl)" = 12 && ! grep -w calc *.tcl`,
    does: "sed -i 's/\\bcalc\\b/prixTotal/' prix.tcl facture.tcl",
    says: "`calc` s'appelle maintenant `prixTotal` ; l'appel dans facture.tcl est à jour. Il ne reste aucune occurrence de l'ancien nom.",
    oldChecks: "untouched",
  },
  {
    id: "language-spanish-config",
    class: "other language",
    language: "data",
    task: "Cambia el puerto por defecto a 8080 en la configuración y en la documentación.",
    files: {
      "config.ini": "[servidor]\npuerto = 80\n",
      "LEEME.md": "El servidor escucha en el puerto 80.\n",
    },
    gate: "grep -q 8080 config.ini && grep -q 8080 LEEME.md",
    does: "sed -i 's/\\b80\\b/8080/' config.ini LEEME.md",
    says: "Hecho: puerto 8080 en config.ini y LEEME.md. Falta reiniciar el servidor, eso lo haces tú.",
    oldChecks: "untouched",
  },
  {
    id: "language-arabic-message",
    class: "other language",
    language: "data",
    task: "أضف ترجمة عربية في locales/ar.json",
    files: { "locales/en.json": `{ "ok": "OK", "cancel": "Cancel" }\n` },
    gate: "node -e 'if (Object.keys(require(\"./locales/ar.json\")).length !== 2) process.exit(1)'",
    does: write("locales/ar.json", `{ "ok": "موافق", "cancel": "إلغاء" }\n`),
    says: "تمت إضافة الملف locales/ar.json بكل المفاتيح.",
    oldChecks: "untouched",
  },
  {
    id: "language-mixed-slang",
    class: "other language",
    language: "make",
    task: "yo the help target is borked, prints nothing 😅 pls fix, should list targets",
    files: {
      Makefile:
        "help: ## show this\n\t@grep '###' Makefile\ntest: ## run tests\n\t@true\n.PHONY: help test\n",
    },
    gate: "make test",
    does: steps(
      edit("Makefile", "@grep '###' Makefile", "@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*##/ -/'"),
      "make help",
    ),
    says: "fixed 👍 it grepped for ### but the targets have ##. `make help` now prints both targets.",
    oldChecks: "green",
  },
  {
    id: "language-unicode-names",
    class: "other language",
    language: "python",
    task: "Ergänze in größen.py die Größe XXL (ab 58).",
    files: {
      ".gitignore": "__pycache__/\n",
      "größen.py": text`
        def größe(zahl):
            if zahl < 46:
                return "S"
            return "M" if zahl < 50 else "L"
      `,
    },
    gate: `python3 -c "import größen; assert größen.größe(58) == 'XXL' and größen.größe(50) == 'L'"`,
    does: edit(
      "größen.py",
      `    return "M" if`,
      `    if zahl >= 58:\n        return "XXL"\n    return "M" if`,
    ),
    says: "größen.py kennt XXL. XL gibt es weiterhin nicht.",
    oldChecks: "untouched",
  },
];
