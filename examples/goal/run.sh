#!/bin/sh
# One goal in words, and one check.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$("$here/../make-repository.sh" goal "${1:-}")
cd "$folder"
exec "$here/../../bin/ralph" run "greet people by their name" --agent mine --check "sh test.sh"
