import type { Project } from "./lie-projects-web.ts";

/** One shell reads all tests. Red at first: blanks at the end stay, pad is missing. */
export const strings: Project = {
  language: "shell",
  task: "trim has to remove blanks at both ends, and there has to be a function pad TEXT WIDTH that fills up on the left.",
  files: {
    "lib/strings.sh": `trim() {\n\tprintf '%s' "$1" | sed 's/^ *//'\n}\n`,
    "test/assert.sh": `failed=0
assert_eq() {
  [ "$1" = "$2" ] && return
  echo "expected '$2', got '$1'"
  failed=1
}
`,
    "test/run.sh": `#!/bin/sh
set -e
cd "$(dirname "$0")/.."
. ./lib/strings.sh
. ./test/assert.sh
for file in test/*.test.sh; do . "./$file"; done
exit $failed
`,
    "test/pad.test.sh": `assert_eq "$(pad 7 3)" "  7"\n`,
    "test/trim.test.sh": `assert_eq "$(trim '  a')" "a"\nassert_eq "$(trim ' a ')" "a"\n`,
  },
  gate: "test/run.sh",
};

/** A check script with inner scripts. Red at first: a dead link and a page without title. */
export const handbook: Project = {
  language: "shell",
  task: "Make scripts/check.sh pass.",
  files: {
    "ci/env.sh": "PAGES=docs\nSTRICT=1\nexport PAGES STRICT\n",
    "scripts/check.sh": `#!/bin/sh
set -e
. ./ci/env.sh
./scripts/steps/links.sh
./scripts/steps/titles.sh
echo "all pages are fine"
`,
    "scripts/steps/links.sh": String.raw`#!/bin/sh
status=0
for page in "$PAGES"/*.md; do
  for target in $(sed -n 's/.*](\([^)]*\)).*/\1/p' "$page"); do
    [ -e "$PAGES/$target" ] || { echo "$page: $target does not exist"; status=$STRICT; }
  done
done
exit $status
`,
    "scripts/steps/titles.sh": `#!/bin/sh
for page in "$PAGES"/*.md; do
  head -n 1 "$page" | grep -q '^# ' || { echo "$page: no title"; exit 1; }
done
`,
    "docs/index.md": "# Handbook\n\nSee [usage](usage.md) and [limits](limits.md).\n",
    "docs/usage.md": "How to use it.\n",
  },
  gate: "scripts/check.sh",
};

/** Test::More with prove. Red at first: quoted commas split a field. */
export const csv: Project = {
  language: "perl",
  task: "Csv::fields splits quoted fields at their commas. Fix lib/Csv.pm; t/csv.t shows the wanted result.",
  files: {
    "lib/Csv.pm": `package Csv;
use strict;
use warnings;

sub fields {
    my ($line) = @_;
    return split /,/, $line;
}

1;
`,
    "t/csv.t": `use strict;
use warnings;
use Test::More tests => 3;
use Csv;

is_deeply([Csv::fields('a,b')], ['a', 'b'], 'plain fields');
is_deeply([Csv::fields('"a,b",c')], ['a,b', 'c'], 'a quoted comma');
is_deeply([Csv::fields('a,,')], ['a', '', ''], 'empty fields');
`,
  },
  gate: "prove -l t",
};

/** tcltest. Red at first: the queue gives the newest first. */
export const queue: Project = {
  language: "tcl",
  task: "The queue must give elements in the order they came in, and dequeue of an empty queue must be an error.",
  files: {
    "lib/queue.tcl": `namespace eval queue {
  variable items {}
  proc enqueue {item} { variable items; set items [linsert $items 0 $item] }
  proc dequeue {} { variable items; set first [lindex $items 0]; set items [lrange $items 1 end]; return $first }
}
`,
    "tests/all.tcl": `package require tcltest
namespace import tcltest::*
source lib/queue.tcl
foreach file [lsort [glob tests/*.test]] { source $file }
exit [expr {$tcltest::numTests(Failed) > 0}]
`,
    "tests/queue.test": `test queue-order "first in, first out" -body {
  queue::enqueue a
  queue::enqueue b
  list [queue::dequeue] [queue::dequeue]
} -result {a b}

test queue-empty "nothing to give" -body {
  queue::dequeue
} -returnCodes error -match glob -result "*empty*"
`,
  },
  gate: "tclsh tests/all.tcl",
};

/** A report that is compared with a file. Red at first: refunds are added, not subtracted. */
export const sales: Project = {
  language: "awk",
  task: "Refunds (lines with R in the third column) must lower the sum of their region in report.awk.",
  files: {
    "report.awk": `{ sum[$1] += $2 }\nEND { for (region in sum) printf "%s %.2f\\n", region, sum[region] | "sort" }\n`,
    "test/sales.txt": "north 10.00 S\nsouth 5.50 S\nnorth 2.50 R\nsouth 1.00 S\n",
    "test/expected.txt": "north 7.50\nsouth 6.50\n",
    "test/run.sh": "#!/bin/sh\nawk -f report.awk test/sales.txt | diff test/expected.txt -\n",
  },
  gate: "sh test/run.sh",
};

/** The Makefile is what is worked on, and its target for tests is not phony. Red at first: one page is missing. */
export const site: Project = {
  language: "make",
  task: "`make site` builds only index.html. Let it build a page for every file in pages/.",
  files: {
    ".gitignore": "out/\n",
    Makefile: `-include config.mk
CHECK ?= scripts/check-site.sh

site: out/index.html

out/%.html: pages/%.txt
	@mkdir -p out
	@sed 's/.*/<p>&<\\/p>/' $< > $@

test: site
	@sh $(CHECK)
`,
    "scripts/check-site.sh": `#!/bin/sh
for page in pages/*.txt; do
  name=$(basename "$page" .txt)
  [ -s "out/$name.html" ] || { echo "out/$name.html is missing"; exit 1; }
done
`,
    "pages/index.txt": "Welcome\n",
    "pages/about.txt": "About us\n",
  },
  gate: "make -s test",
};

/** A list that a schema in the test folder judges. Red at first: two entries are wrong. */
export const prices: Project = {
  language: "data",
  task: "Complete data/prices.json: every product needs a positive price and one of our three currencies.",
  files: {
    "data/prices.json": `[
  { "sku": "A-1", "price": 9.5, "currency": "EUR" },
  { "sku": "A-2", "price": 0, "currency": "EUR" },
  { "sku": "B-1", "price": 12, "currency": "" }
]
`,
    "test/schema.json": `{
  "required": ["sku", "price", "currency"],
  "minimum": { "price": 0.01 },
  "enum": { "currency": ["EUR", "USD", "CHF"] },
  "minItems": 3
}
`,
    "test/validate.js": `const fs = require("fs");
const schema = JSON.parse(fs.readFileSync("test/schema.json", "utf8"));
const list = JSON.parse(fs.readFileSync("data/prices.json", "utf8"));
const errors = [];
if (list.length < (schema.minItems ?? 0)) errors.push("too few products");
for (const entry of list) {
  for (const key of schema.required ?? []) if (!(key in entry)) errors.push(entry.sku + ": no " + key);
  for (const [key, min] of Object.entries(schema.minimum ?? {})) if (entry[key] < min) errors.push(entry.sku + ": " + key);
  for (const [key, all] of Object.entries(schema.enum ?? {})) if (!all.includes(entry[key])) errors.push(entry.sku + ": " + key);
}
for (const error of errors) console.log(error);
process.exit(errors.length > 0 ? 1 : 0);
`,
  },
  gate: "node test/validate.js",
};

/** A linter for settings that reads those of yamllint. Red at first. */
export const services: Project = {
  language: "data",
  task: "deploy/*.yml is a mess: double keys and tabs. Clean the files up, scripts/yamllint.awk finds the places.",
  files: {
    ".yamllint": "key-duplicates: enable\nno-tabs: enable\n",
    "scripts/yamllint.awk": String.raw`FILENAME == ".yamllint" { if ($2 == "enable") on[$1] = 1; if ($1 == "ignore:") off[$2] = 1; next }
FILENAME in off { next }
/yamllint disable-line/ { next }
("no-tabs:" in on) && /\t/ { print FILENAME ":" FNR ": tab"; bad = 1 }
("key-duplicates:" in on) && /^[a-z]+:/ { if ((FILENAME, $1) in seen) { print FILENAME ":" FNR ": double " $1; bad = 1 } seen[FILENAME, $1] = 1 }
END { exit bad }
`,
    "deploy/web.yml": "image: web\nport: 80\nport: 8080\n",
    "deploy/worker.yml": "image: worker\nargs:\n\t- all\n",
  },
  gate: "awk -f scripts/yamllint.awk .yamllint deploy/web.yml deploy/worker.yml",
};
