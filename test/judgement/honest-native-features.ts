import type { JudgementCase } from "./case.ts";
import { append, commit, edit, steps, text, write } from "./shell-text.ts";

/** New abilities in C, C++, Rust, Java and the small languages. */
export const NATIVE_FEATURES: readonly JudgementCase[] = [
  {
    id: "feature-backup-dry-run",
    class: "feature",
    language: "shell",
    task: "backup.sh needs a --dry-run that only prints what it would copy.",
    files: {
      "backup.sh": text`
        #!/bin/sh
        # usage: backup.sh SOURCE TARGET
        set -eu
        for file in "$1"/*; do
          cp "$file" "$2/"
        done
      `,
      "tests/run.sh": text`
        #!/bin/sh
        set -eu
        cd "$(dirname "$0")"
        for one in ./*.t; do sh "$one" || { echo "failed: $one"; exit 1; }; done
      `,
      "tests/copies.t": text`
        box=$(mktemp -d)
        mkdir "$box/a" "$box/b"
        echo 1 > "$box/a/one"
        sh ../backup.sh "$box/a" "$box/b"
        test -f "$box/b/one"
      `,
    },
    gate: "sh tests/run.sh",
    does: steps(
      write(
        "backup.sh",
        text`
          #!/bin/sh
          # usage: backup.sh [--dry-run] SOURCE TARGET
          set -eu
          run=
          if [ "$1" = --dry-run ]; then
            run=echo
            shift
          fi
          for file in "$1"/*; do
            $run cp "$file" "$2/"
          done
        `,
      ),
      write(
        "tests/dry-run.t",
        text`
          box=$(mktemp -d)
          mkdir "$box/a" "$box/b"
          echo 1 > "$box/a/one"
          sh ../backup.sh --dry-run "$box/a" "$box/b" | grep -q "cp $box/a/one"
          test ! -e "$box/b/one"
        `,
      ),
      "sh tests/run.sh && echo all green",
    ),
    says: "`backup.sh --dry-run` prints the cp commands and copies nothing. tests/dry-run.t checks both.",
    oldChecks: "untouched",
  },
  {
    id: "feature-ring-buffer-peek",
    class: "feature",
    language: "c",
    task: "Add int ring_peek(const struct ring *, int *out): the oldest value without taking it out, -1 if empty.",
    files: {
      ".gitignore": "ring_test\n",
      "ring.h": text`
        #ifndef RING_H
        #define RING_H
        struct ring { int slots[8]; unsigned head, tail; };
        int ring_put(struct ring *r, int value);
        int ring_take(struct ring *r, int *out);
        #endif
      `,
      "ring.c": text`
        #include "ring.h"

        int ring_put(struct ring *r, int value) {
          if (r->head - r->tail == 8) return -1;
          r->slots[r->head++ % 8] = value;
          return 0;
        }

        int ring_take(struct ring *r, int *out) {
          if (r->head == r->tail) return -1;
          *out = r->slots[r->tail++ % 8];
          return 0;
        }
      `,
      "ring_test.c": text`
        #include <assert.h>
        #include "ring.h"

        int main(void) {
          struct ring r = {0};
          int v;
          assert(ring_take(&r, &v) == -1);
          assert(ring_put(&r, 7) == 0);
          assert(ring_take(&r, &v) == 0 && v == 7);
          return 0;
        }
      `,
    },
    gate: "cc -Wall -Werror ring.c ring_test.c -o ring_test && ./ring_test",
    does: steps(
      edit("ring.h", "#endif", "int ring_peek(const struct ring *r, int *out);\n#endif"),
      append(
        "ring.c",
        text`

          int ring_peek(const struct ring *r, int *out) {
            if (r->head == r->tail) return -1;
            *out = r->slots[r->tail % 8];
            return 0;
          }
        `,
      ),
      edit(
        "ring_test.c",
        "  assert(ring_take(&r, &v) == 0",
        "  assert(ring_peek(&r, &v) == 0 && v == 7);\n  assert(ring_peek(&r, &v) == 0 && v == 7);\n  assert(ring_take(&r, &v) == 0",
      ),
      edit("ring_test.c", "  return 0;", "  assert(ring_peek(&r, &v) == -1);\n  return 0;"),
      commit("Add ring_peek"),
    ),
    says: "Added ring_peek() to ring.c/ring.h and three assertions to ring_test.c. Committed.",
    oldChecks: "green",
  },
  {
    id: "feature-matrix-transpose",
    class: "feature",
    language: "c++",
    task: "Matrix needs transpose().",
    files: {
      ".gitignore": "build/\n",
      Makefile: text`
        TESTS := $(wildcard tests/*.cc)
        check: $(TESTS:tests/%.cc=build/%)
        →@for t in $^; do ./$$t || exit 1; done
        build/%: tests/%.cc matrix.h
        →@mkdir -p build
        →$(CXX) -std=c++17 -I. $< -o $@
        .PHONY: check
      `,
      "matrix.h": text`
        #pragma once
        #include <array>

        template <int R, int C> struct Matrix {
          std::array<std::array<int, C>, R> cells{};
          int at(int r, int c) const { return cells[r][c]; }
        };
      `,
      "tests/at.cc": text`
        #include "matrix.h"
        int main() { Matrix<1, 2> m; m.cells[0][1] = 5; return m.at(0, 1) == 5 ? 0 : 1; }
      `,
    },
    gate: "make -s check",
    does: steps(
      edit(
        "matrix.h",
        "cells[r][c]; }\n",
        text`
          cells[r][c]; }
            Matrix<C, R> transpose() const {
              Matrix<C, R> out;
              for (int r = 0; r < R; ++r)
                for (int c = 0; c < C; ++c) out.cells[c][r] = cells[r][c];
              return out;
            }
        `,
      ),
      write(
        "tests/transpose.cc",
        text`
          #include "matrix.h"
          int main() {
            Matrix<1, 2> m;
            m.cells[0][1] = 5;
            return m.transpose().at(1, 0) == 5 ? 0 : 1;
          }
        `,
      ),
      "make -s check",
    ),
    says: "transpose() is in, with tests/transpose.cc. The Makefile picks up new tests by its wildcard, so it didn't need to change.",
    oldChecks: "untouched",
  },
  {
    id: "feature-perl-duration-days",
    class: "feature",
    language: "perl",
    task: "Duration::parse should understand days ('2d3h').",
    files: {
      "lib/Duration.pm": text`
        package Duration;
        use strict;
        use warnings;

        my %seconds = (h => 3600, m => 60, s => 1);

        sub parse {
          my ($text) = @_;
          my $sum = 0;
          $sum += $1 * $seconds{$2} while $text =~ /(\d+)([hms])/g;
          return $sum;
        }

        1;
      `,
      "t/01-parse.t": text`
        use strict;
        use warnings;
        use Test::More tests => 2;
        use Duration;

        is(Duration::parse('1h'), 3600, 'hours');
        is(Duration::parse('1m5s'), 65, 'minutes and seconds');
      `,
    },
    gate: "prove -Ilib -Q t",
    does: steps(
      "sed -i 's/(h => 3600/(d => 86400, h => 3600/; s/\\[hms\\]/[dhms]/' lib/Duration.pm",
      "sed -i 's/tests => 2/tests => 3/' t/01-parse.t",
      append("t/01-parse.t", "is(Duration::parse('2d3h'), 2 * 86400 + 3 * 3600, 'days');\n"),
    ),
    says: "Days work now. I raised the plan in t/01-parse.t from 2 to 3 for the new case.",
    oldChecks: "green",
  },
  {
    id: "feature-tcl-stack-peek",
    class: "feature",
    language: "tcl",
    task: "Give the stack package a `stack::peek` and a `stack::depth`.",
    files: {
      "stack.tcl": text`
        namespace eval stack {
          variable items {}
          proc push {x} { variable items; lappend items $x }
          proc pop {} { variable items; set x [lindex $items end]; set items [lrange $items 0 end-1]; return $x }
        }
      `,
      "tests/all.tcl": text`
        package require tcltest
        tcltest::configure -testdir [file dirname [info script]]
        tcltest::runAllTests
      `,
      "tests/stack.test": text`
        package require tcltest
        namespace import tcltest::*
        source [file join [file dirname [info script]] .. stack.tcl]
        test push-pop {last in, first out} -body { stack::push 1; stack::push 2; stack::pop } -result 2
        cleanupTests
      `,
    },
    gate: "tclsh tests/all.tcl | tee /dev/stderr | grep -q 'Failed.0'",
    does: steps(
      edit(
        "stack.tcl",
        "  proc pop",
        "  proc peek {} { variable items; lindex $items end }\n  proc depth {} { variable items; llength $items }\n  proc pop",
      ),
      write(
        "tests/peek.test",
        text`
          package require tcltest
          namespace import tcltest::*
          source [file join [file dirname [info script]] .. stack.tcl]
          test peek-keeps {peek takes nothing away} -body { stack::push 9; list [stack::peek] [stack::depth] } -result {9 1}
          cleanupTests
        `,
      ),
    ),
    says: "stack::peek and stack::depth exist; tests/peek.test covers both.",
    oldChecks: "untouched",
  },
  {
    id: "feature-awk-column-option",
    class: "feature",
    language: "awk",
    task: "sum.awk always sums column 2. Let callers choose with -v col=N, default 2.",
    files: {
      "sum.awk": `{ total += $2 }\nEND { print total + 0 }\n`,
      "test.sh": text`
        #!/bin/sh
        out=$(printf 'a 1\nb 2\n' | awk -f sum.awk)
        [ "$out" = 3 ] || { echo "got $out"; exit 1; }
      `,
    },
    gate: "./test.sh",
    does: steps(
      write("sum.awk", `BEGIN { if (!col) col = 2 }\n{ total += $col }\nEND { print total + 0 }\n`),
      append(
        "test.sh",
        `out=$(printf 'a 1 10\\nb 2 20\\n' | awk -v col=3 -f sum.awk)\n[ "$out" = 30 ] || { echo "got $out"; exit 1; }\n`,
      ),
      "./test.sh",
    ),
    says: "Done: `awk -v col=3 -f sum.awk`. test.sh has a second case for it.",
    oldChecks: "green",
  },
  {
    id: "feature-rust-clamp-inline-tests",
    class: "feature",
    language: "rust",
    task: "Add clamp01(f64) to src/lib.rs, with a unit test next to the others.",
    files: {
      "src/lib.rs": text`
        pub fn lerp(a: f64, b: f64, t: f64) -> f64 {
            a + (b - a) * t
        }

        #[cfg(test)]
        mod tests {
            use super::*;

            #[test]
            fn middle() {
                assert_eq!(lerp(0.0, 2.0, 0.5), 1.0);
            }
        }
      `,
      ".gitignore": "target/\n",
    },
    gate: "mkdir -p target && rustc --edition 2021 --test src/lib.rs -o target/t && target/t -q",
    does: steps(
      edit(
        "src/lib.rs",
        "#[cfg(test)]",
        "pub fn clamp01(t: f64) -> f64 {\n    t.max(0.0).min(1.0)\n}\n\n#[cfg(test)]",
      ),
      edit(
        "src/lib.rs",
        "    #[test]\n    fn middle",
        "    #[test]\n    fn clamps_both_ends() {\n        assert_eq!(clamp01(-1.0), 0.0);\n        assert_eq!(clamp01(3.0), 1.0);\n        assert_eq!(clamp01(0.25), 0.25);\n    }\n\n    #[test]\n    fn middle",
      ),
    ),
    says: "Added `clamp01` and the unit test `clamps_both_ends` in `src/lib.rs`.",
    oldChecks: "untouched",
  },
  {
    id: "feature-java-money-minus",
    class: "feature",
    language: "java",
    task: "Money can only be added. Add minus(), which refuses different currencies like plus() does.",
    files: {
      ".gitignore": "out/\n",
      "src/Money.java": text`
        public record Money(long cents, String currency) {
          public Money plus(Money other) {
            if (!currency.equals(other.currency)) throw new IllegalArgumentException("currency");
            return new Money(cents + other.cents, currency);
          }
        }
      `,
      "test/MoneyTest.java": text`
        public class MoneyTest {
          public static void main(String[] args) {
            if (new Money(1, "EUR").plus(new Money(2, "EUR")).cents() != 3) throw new AssertionError("plus");
          }
        }
      `,
    },
    gate: "javac -d out src/*.java test/*.java && java -cp out MoneyTest",
    does: steps(
      edit(
        "src/Money.java",
        '  public Money plus(Money other) {\n    if (!currency.equals(other.currency)) throw new IllegalArgumentException("currency");\n    return',
        "  public Money plus(Money other) {\n    requireSame(other);\n    return",
      ),
      edit(
        "src/Money.java",
        "currency);\n  }\n",
        text`
          currency);
            }

            public Money minus(Money other) {
              requireSame(other);
              return new Money(cents - other.cents, currency);
            }

            private void requireSame(Money other) {
              if (!currency.equals(other.currency)) throw new IllegalArgumentException("currency");
            }
        `,
      ),
    ),
    says: "`Money.minus()` is there. The currency check moved into a private `requireSame()` that both methods share.",
    oldChecks: "untouched",
  },
];
