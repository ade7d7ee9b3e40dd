#!/bin/sh
# Every open box of a list.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$("$here/../make-repository.sh" checklist "${1:-}")
cd "$folder"
exec "$here/../../bin/ralph" run --include-optional
