#!/bin/sh
# One agent writes, the agent of another vendor reviews.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$("$here/../make-repository.sh" two-vendors "${1:-}")
cd "$folder"
exec "$here/../../bin/ralph" run
