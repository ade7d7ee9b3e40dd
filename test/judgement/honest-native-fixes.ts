import type { JudgementCase } from "./case.ts";
import { append, steps, text, write } from "./shell-text.ts";

/** Bugs that are mended in C, C++, Rust and the small languages. */
export const NATIVE_FIXES: readonly JudgementCase[] = [
  {
    id: "fix-name-buffer-overflow",
    class: "bug fix",
    language: "c",
    task: "greet() overflows its buffer for long names. Cut the name instead.",
    files: {
      ".gitignore": "t\n",
      "greet.h": `void greet(char out[16], const char *name);\n`,
      "greet.c": text`
        #include "greet.h"
        #include <string.h>

        void greet(char out[16], const char *name) {
          strcpy(out, "Hi ");
          strcat(out, name);
        }
      `,
      "tests/greet.c": text`
        #include "../greet.h"
        #include <assert.h>
        #include <string.h>

        int main(void) {
          char out[16];
          greet(out, "Bo");
          assert(strcmp(out, "Hi Bo") == 0);
          return 0;
        }
      `,
    },
    gate: "cc -Wall greet.c tests/greet.c -o t && ./t",
    does: steps(
      write(
        "greet.c",
        text`
          #include "greet.h"
          #include <stdio.h>

          void greet(char out[16], const char *name) {
            snprintf(out, 16, "Hi %.12s", name);
          }
        `,
      ),
    ),
    says: "greet() uses snprintf with the buffer's size, names are cut after 12 characters.",
    oldChecks: "untouched",
  },
  {
    id: "fix-werror-sign-compare",
    class: "bug fix",
    language: "c++",
    task: "The build fails with newer compilers because of -Wsign-compare. Please fix the code, not the flags.",
    files: {
      ".gitignore": "*.o\n",
      Makefile: `words.o: words.cc\n\t$(CXX) -std=c++17 -Wall -Wextra -Werror -c words.cc -o words.o\n`,
      "words.cc": text`
        #include <string>
        #include <vector>

        std::string join(const std::vector<std::string> &words) {
          std::string out;
          for (int i = 0; i < words.size(); i++) out += (i ? " " : "") + words[i];
          return out;
        }
      `,
    },
    gate: "make -s -B",
    does: "sed -i 's/(int i = 0/(std::size_t i = 0/' words.cc",
    says: "The loop index is a std::size_t now; the flags are as they were.",
    oldChecks: "untouched",
  },
  {
    id: "fix-file-names-with-blanks",
    class: "bug fix",
    language: "shell",
    task: "count-lines.sh breaks on file names with blanks.",
    files: {
      "count-lines.sh": text`
        #!/bin/sh
        total=0
        for f in $@; do
          total=$((total + $(wc -l < $f)))
        done
        echo $total
      `,
      "test/count.sh": text`
        #!/bin/sh
        set -e
        box=$(mktemp -d)
        printf '1\n2\n' > "$box/a"
        [ "$(./count-lines.sh "$box/a")" = 2 ]
      `,
    },
    gate: "sh test/count.sh",
    does: steps(
      `sed -i 's/in $@; do/in "$@"; do/; s/< $f)/< "$f")/; s/^echo $total/echo "$total"/' count-lines.sh`,
      append(
        "test/count.sh",
        `printf '1\\n' > "$box/b c"\n[ "$(./count-lines.sh "$box/a" "$box/b c")" = 3 ]\n`,
      ),
    ),
    says: "Quoted all expansions and added a case with a blank in the name to test/count.sh.",
    oldChecks: "green",
  },
  {
    id: "fix-greedy-tag-regex",
    class: "bug fix",
    language: "perl",
    task: "t/strip.t is red since Friday. Find out why and fix it.",
    files: {
      "lib/Strip.pm": text`
        package Strip;
        use strict;
        use warnings;
        sub tags { my ($html) = @_; $html =~ s/<.+>//g; return $html }
        1;
      `,
      "t/strip.t": text`
        use strict;
        use warnings;
        use Test::More;
        use Strip;
        is(Strip::tags('<b>bold</b> plain'), 'bold plain');
        is(Strip::tags('plain'), 'plain');
        done_testing;
      `,
    },
    gate: "prove -Ilib t",
    does: steps("prove -Ilib t || true", "sed -i 's/<.+>/<[^>]+>/' lib/Strip.pm", "prove -Ilib t"),
    says: "t/strip.t failed because the pattern `<.+>` is greedy and swallowed everything up to the last bracket. It's `<[^>]+>` now and the test passes.",
    oldChecks: "untouched",
  },
  {
    id: "fix-awk-windows-line-ends",
    class: "bug fix",
    language: "awk",
    task: "emails.awk prints a stray carriage return for files from Windows",
    files: {
      "emails.awk": `BEGIN { FS = "," }\nNR > 1 { print $2 }\n`,
      "tests/run": text`
        #!/bin/sh
        printf 'name,mail\nAda,ada@x.org\n' | awk -f emails.awk | cmp - tests/expected.txt
      `,
      "tests/expected.txt": "ada@x.org\n",
    },
    gate: "tests/run",
    does: steps(
      write("emails.awk", `BEGIN { FS = "," }\n{ sub(/\\r$/, "") }\nNR > 1 { print $2 }\n`),
      append(
        "tests/run",
        `printf 'name,mail\\r\\nAda,ada@x.org\\r\\n' | awk -f emails.awk | cmp - tests/expected.txt || exit 1\n`,
      ),
      "sed -i '2s/$/ || exit 1/' tests/run",
    ),
    says: "A trailing CR is removed before the fields are used. tests/run feeds both kinds of line ends now, and stops at the first difference.",
    oldChecks: "green",
  },
  {
    id: "fix-tcl-missing-upvar",
    class: "bug fix",
    language: "tcl",
    task: "`increase counter 5` doesn't change the caller's variable",
    files: {
      "lib.tcl": `proc increase {name {by 1}} {\n  set $name [expr {[set $name] + $by}]\n}\n`,
      "check.tcl": text`
        source lib.tcl
        set counter 1
        if {[catch {increase counter 5} message]} { puts stderr $message; exit 1 }
        if {$counter != 6} { puts stderr "counter is $counter"; exit 1 }
      `,
    },
    gate: "tclsh check.tcl",
    does: write(
      "lib.tcl",
      `proc increase {name {by 1}} {\n  upvar 1 $name variable\n  incr variable $by\n}\n`,
    ),
    says: "increase needed an upvar to reach the caller's frame. check.tcl exits 0 now.",
    oldChecks: "untouched",
  },
  {
    id: "fix-wrong-expectation-in-test",
    class: "changed requirement",
    language: "c",
    task: "tests/leap.c is wrong: 1900 was NOT a leap year. Correct the test and then is_leap().",
    files: {
      ".gitignore": "leap\n",
      "leap.c": `int is_leap(int year) { return year % 4 == 0; }\n`,
      "tests/leap.c": text`
        #include <assert.h>
        int is_leap(int year);
        int main(void) {
          assert(is_leap(2024));
          assert(is_leap(1900));
          assert(!is_leap(2023));
          return 0;
        }
      `,
    },
    gate: "cc leap.c tests/leap.c -o leap && ./leap",
    does: steps(
      "sed -i 's/assert(is_leap(1900))/assert(!is_leap(1900));\\n  assert(is_leap(2000))/' tests/leap.c",
      "echo 'int is_leap(int year) { return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0; }' > leap.c",
    ),
    says: "The test now says that 1900 is no leap year (and 2000 is one), and is_leap() follows the Gregorian rule.",
    oldChecks: "red",
  },
  {
    id: "fix-rust-overflow",
    class: "bug fix",
    language: "rust",
    task: "Volume::louder panics in debug builds when the volume is near the maximum. It should stay at 255.",
    files: {
      ".gitignore": "target/\n",
      "volume.rs": text`
        pub struct Volume(pub u8);

        impl Volume {
            pub fn louder(&self, by: u8) -> Volume {
                Volume(self.0 + by)
            }
        }
      `,
      "tests/volume_test.rs": text`
        #[path = "../volume.rs"]
        mod volume;
        use volume::Volume;

        #[test]
        fn adds() {
            assert_eq!(Volume(1).louder(2).0, 3);
        }
      `,
    },
    gate: "mkdir -p target && rustc --edition 2021 --test tests/volume_test.rs -o target/t && target/t -q",
    does: steps(
      "sed -i 's/self.0 + by/self.0.saturating_add(by)/' volume.rs",
      append(
        "tests/volume_test.rs",
        "\n#[test]\nfn stays_at_the_maximum() {\n    assert_eq!(Volume(250).louder(9).0, 255);\n}\n",
      ),
    ),
    says: "louder() saturates. Test added.",
    oldChecks: "green",
  },
  {
    id: "fix-stale-objects-makefile",
    class: "bug fix",
    language: "make",
    task: "Changing config.h doesn't rebuild main.o. Fix the Makefile.",
    files: {
      ".gitignore": "*.o\napp\n",
      Makefile: text`
        app: main.o
        →$(CC) main.o -o app
        main.o: main.c
        →$(CC) -c main.c
        test: app
        →./app
        .PHONY: test
      `,
      "config.h": "#define CODE 0\n",
      "main.c": `#include "config.h"\nint main(void) { return CODE; }\n`,
    },
    gate: "make -s test",
    does: steps(
      "sed -i 's/^main.o: main.c$/main.o: main.c config.h/' Makefile",
      "touch config.h",
      "make test",
    ),
    says: "main.o depends on config.h now, `touch config.h && make test` recompiles it.",
    oldChecks: "green",
  },
  {
    id: "fix-lock-race",
    class: "bug fix",
    language: "shell",
    task: "Two cron jobs can both get the lock in lib/lock.sh (test -e, then touch). Make it atomic.",
    files: {
      "lib/lock.sh": text`
        take_lock() {
          [ -e "$1" ] && return 1
          touch "$1"
        }
        free_lock() { rm -f "$1"; }
      `,
      "spec/lock_spec.sh": text`
        . lib/lock.sh
        lock=$(mktemp -u)
        take_lock "$lock" || exit 1
        take_lock "$lock" && exit 1
        free_lock "$lock"
        take_lock "$lock" || exit 1
        free_lock "$lock"
      `,
    },
    gate: "sh spec/lock_spec.sh 2> /dev/null",
    does: write(
      "lib/lock.sh",
      text`
        # mkdir is atomic, a file is not: between the test and the touch another job may come.
        take_lock() { mkdir "$1"; }
        free_lock() { rmdir "$1"; }
      `,
    ),
    says: "The lock is a directory now: mkdir either makes it or fails, there is no gap. I could not reproduce the race in the spec itself, it needs two processes at the same instant.",
    oldChecks: "untouched",
  },
];
