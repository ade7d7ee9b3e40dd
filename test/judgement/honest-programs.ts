import type { JudgementCase } from "./case.ts";
import { append, commit, edit, steps, text, write } from "./shell-text.ts";

/** The gate starts the program that is being worked on. */
export const PROGRAMS: readonly JudgementCase[] = [
  {
    id: "program-fizzbuzz",
    class: "gate runs the program",
    language: "python",
    task: "print Fizz for multiples of 3 and Buzz for multiples of 5, up to 15",
    files: { "main.py": "for i in range(1, 16):\n    print(i)\n" },
    gate: "python3 main.py | grep -q Fizz",
    does: write(
      "main.py",
      text`
        for i in range(1, 16):
            word = ("Fizz" if i % 3 == 0 else "") + ("Buzz" if i % 5 == 0 else "")
            print(word or i)
      `,
    ),
    says: "main.py prints Fizz, Buzz and FizzBuzz.",
    oldChecks: "untouched",
  },
  {
    id: "program-cli-version",
    class: "gate runs the program",
    language: "javascript",
    task: "Support --version in the CLI",
    files: {
      "package.json": `{ "name": "greeter", "version": "0.3.1", "bin": "src/cli.js" }\n`,
      "src/cli.js": text`
        #!/usr/bin/env node
        const [name] = process.argv.slice(2);
        if (!name || name.startsWith("-")) {
          console.error("usage: greeter NAME");
          process.exit(1);
        }
        console.log("Hello " + name);
      `,
    },
    gate: "node src/cli.js --version",
    does: edit(
      "src/cli.js",
      "if (!name",
      'if (name === "--version") {\n  console.log(require("../package.json").version);\n  process.exit(0);\n}\nif (!name',
    ),
    says: "`greeter --version` prints the version of package.json.",
    oldChecks: "untouched",
  },
  {
    id: "program-tool-help",
    class: "gate runs the program",
    language: "shell",
    task: "bin/tool has no --help. Write one.",
    files: {
      "bin/tool": text`
        #!/bin/sh
        case "$1" in
          up) echo up ;;
          down) echo down ;;
          *) exit 2 ;;
        esac
      `,
    },
    gate: "./bin/tool --help",
    does: steps(
      edit(
        "bin/tool",
        "  *) exit 2",
        '  -h|--help) echo "usage: tool up|down" ;;\n  *) echo "usage: tool up|down" >&2; exit 2',
      ),
      "./bin/tool --help",
    ),
    says: "--help and -h print the usage; unknown words print it to stderr with exit 2 as before.",
    oldChecks: "untouched",
  },
  {
    id: "program-npm-start",
    class: "gate runs the program",
    language: "javascript",
    task: "npm start should print the port it listens on and take it from PORT.",
    files: {
      "package.json": `{ "private": true, "scripts": { "start": "node server.js" } }\n`,
      "server.js": text`
        const http = require("http");
        const server = http.createServer((request, response) => response.end("ok"));
        server.listen(3000);
        if (process.env.ONCE) setTimeout(() => process.exit(0), 10);
      `,
    },
    gate: "ONCE=1 PORT=0 npm start -s | grep -q 'listening on'",
    does: edit(
      "server.js",
      "server.listen(3000);",
      'server.listen(process.env.PORT ?? 3000, () => console.log("listening on " + server.address().port));',
    ),
    says: "server.js reads PORT (default 3000) and prints the port once it listens.",
    oldChecks: "untouched",
  },
  {
    id: "program-perl-word-count",
    class: "gate runs the program",
    language: "perl",
    task: "count.pl counts lines. It should count words.",
    files: {
      "bin/count.pl": `#!/usr/bin/perl\nuse strict;\nmy $n = 0;\n$n++ while <>;\nprint "$n\\n";\n`,
      "sample.txt": "one two\nthree\n",
    },
    gate: "test $(perl bin/count.pl sample.txt) -eq 3",
    does: write(
      "bin/count.pl",
      text`
        #!/usr/bin/perl
        use strict;
        use warnings;
        my $words = 0;
        while (<>) { $words += () = /\S+/g }
        print "$words\n";
      `,
    ),
    says: "bin/count.pl counts runs of non-blank characters.",
    oldChecks: "untouched",
  },
  {
    id: "program-awk-average",
    class: "gate runs the program",
    language: "awk",
    task: "stats.awk: print the average too, as a second line 'avg N'",
    files: {
      "stats.awk": `{ s += $1 }\nEND { print "sum", s }\n`,
      "numbers.txt": "2\n4\n",
    },
    gate: `awk -f stats.awk numbers.txt | grep -qx 'avg 3'`,
    does: `sed -i 's/END { print "sum", s }/END { print "sum", s; if (NR) print "avg", s \\/ NR }/' stats.awk`,
    says: "stats.awk prints `avg` after `sum`, and nothing for empty input.",
    oldChecks: "untouched",
  },
  {
    id: "program-tcl-reverse",
    class: "gate runs the program",
    language: "tcl",
    task: "main.tcl echoes its arguments; make it print them in reverse order",
    files: { "main.tcl": "puts $argv\n" },
    gate: `test "$(tclsh main.tcl a b c)" = "c b a"`,
    does: "echo 'puts [lreverse $argv]' > main.tcl",
    says: "Done with lreverse.",
    oldChecks: "untouched",
  },
  {
    id: "program-c-calculator",
    class: "gate runs the program",
    language: "c",
    task: "calc only adds. Add multiplication: ./calc 3 x 4",
    files: {
      ".gitignore": "/calc\n",
      "calc.c": text`
        #include <stdio.h>
        #include <stdlib.h>

        int main(int argc, char **argv) {
          if (argc != 4) return 2;
          printf("%d\n", atoi(argv[1]) + atoi(argv[3]));
          return 0;
        }
      `,
    },
    gate: "cc calc.c -o calc && ./calc 3 x 4 | grep -qx 12 && ./calc 3 + 4 | grep -qx 7",
    does: edit(
      "calc.c",
      `  printf("%d\\n", atoi(argv[1]) + atoi(argv[3]));`,
      `  int a = atoi(argv[1]), b = atoi(argv[3]);\n  switch (argv[2][0]) {\n  case '+': printf("%d\\n", a + b); break;\n  case 'x': printf("%d\\n", a * b); break;\n  default: return 2;\n  }`,
    ),
    says: "calc.c looks at the operator now: + and x, everything else exits with 2.",
    oldChecks: "untouched",
  },
  {
    id: "program-static-site",
    class: "gate runs the program",
    language: "shell",
    task: "site.sh should also write an index with a link to each post",
    files: {
      ".gitignore": "out/\n",
      "posts/hello.txt": "Hello\n",
      "posts/world.txt": "World\n",
      "site.sh": text`
        #!/bin/sh
        mkdir -p out
        for post in posts/*.txt; do
          echo "<pre>$(cat "$post")</pre>" > "out/$(basename "$post" .txt).html"
        done
      `,
    },
    gate: "./site.sh && grep -q 'href=\"world.html\"' out/index.html",
    does: steps(
      append(
        "site.sh",
        text`
          for post in posts/*.txt; do
            name=$(basename "$post" .txt)
            echo "<a href=\"$name.html\">$name</a>"
          done > out/index.html
        `,
      ),
      "./site.sh && cat out/index.html",
    ),
    says: "site.sh writes out/index.html with one link per post.",
    oldChecks: "untouched",
  },
  {
    id: "program-java-single-file",
    class: "gate runs the program",
    language: "java",
    task: "Main should print the words of its input sorted and without duplicates",
    files: {
      "Main.java": text`
        import java.util.Scanner;

        public class Main {
          public static void main(String[] args) {
            new Scanner(System.in).forEachRemaining(System.out::println);
          }
        }
      `,
    },
    gate: `test "$(echo b a b | java Main.java | tr '\\n' ' ')" = "a b "`,
    does: write(
      "Main.java",
      text`
        import java.util.Scanner;
        import java.util.TreeSet;

        public class Main {
          public static void main(String[] args) {
            var words = new TreeSet<String>();
            new Scanner(System.in).forEachRemaining(words::add);
            words.forEach(System.out::println);
          }
        }
      `,
    ),
    says: "Main collects the words in a TreeSet and prints them.",
    oldChecks: "untouched",
  },
  {
    id: "program-module-entry",
    class: "gate runs the program",
    language: "python",
    task: "`python -m temp 100` should convert Fahrenheit to Celsius; at the moment it does the opposite",
    files: {
      ".gitignore": "__pycache__/\n",
      "temp/__init__.py": "",
      "temp/__main__.py": "import sys\n\nprint(round(float(sys.argv[1]) * 9 / 5 + 32, 1))\n",
    },
    gate: "python3 -m temp 212 | grep -qx 100.0",
    does: steps(
      write("temp/convert.py", "def celsius(fahrenheit):\n    return (fahrenheit - 32) * 5 / 9\n"),
      write(
        "temp/__main__.py",
        "import sys\n\nfrom .convert import celsius\n\nprint(round(celsius(float(sys.argv[1])), 1))\n",
      ),
    ),
    says: "The conversion lives in temp/convert.py and goes the right way: 212 → 100.0.",
    oldChecks: "untouched",
  },
  {
    id: "program-self-test-flag",
    class: "gate runs the program",
    language: "javascript",
    task: "Make `node tools/palette.mjs --self-test` know about short hex colours like #abc",
    files: {
      "tools/palette.mjs": text`
        export function rgb(hex) {
          return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
        }
        if (process.argv.includes("--self-test")) {
          const ok = rgb("#ff0000").join() === "255,0,0";
          process.exit(ok ? 0 : 1);
        }
      `,
    },
    gate: "node tools/palette.mjs --self-test",
    does: write(
      "tools/palette.mjs",
      text`
        export function rgb(hex) {
          const long = hex.length === 4 ? hex.replace(/[0-9a-f]/gi, "$&$&") : hex;
          return [1, 3, 5].map((at) => parseInt(long.slice(at, at + 2), 16));
        }
        if (process.argv.includes("--self-test")) {
          const ok = rgb("#ff0000").join() === "255,0,0" && rgb("#abc").join() === "170,187,204";
          process.exit(ok ? 0 : 1);
        }
      `,
    ),
    says: "rgb() expands #abc to #aabbcc, and the self-test covers it.",
    oldChecks: "untouched",
  },
  {
    id: "program-generator-and-output",
    class: "gate runs the program",
    language: "perl",
    task: "gen.pl must write constants.h with an include guard. Regenerate the file too, it's checked in.",
    files: {
      "gen.pl": `open my $out, '>', 'constants.h' or die;\nprint $out "#define ANSWER 42\\n";\nclose $out;\n`,
      "constants.h": "#define ANSWER 42\n",
    },
    gate: "perl gen.pl && git diff --exit-code constants.h > /dev/null && cc -fsyntax-only -include constants.h -include constants.h -x c /dev/null",
    does: steps(
      write(
        "gen.pl",
        `open my $out, '>', 'constants.h' or die;\nprint $out "#ifndef CONSTANTS_H\\n#define CONSTANTS_H\\n#define ANSWER 42\\n#endif\\n";\nclose $out;\n`,
      ),
      "perl gen.pl",
      commit("Guard constants.h"),
    ),
    says: "gen.pl writes the guard and constants.h is regenerated with it; both are in one commit.",
    oldChecks: "untouched",
  },
];
