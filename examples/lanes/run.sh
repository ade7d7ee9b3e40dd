#!/bin/sh
# Three tasks at a time, each in a worktree of its own.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$("$here/../make-repository.sh" lanes "${1:-}")
cd "$folder"
exec "$here/../../bin/ralph" run --parallel 3
