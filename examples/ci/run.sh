#!/bin/sh
# What a job of a CI does; the exit code is that of the run.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
folder=$("$here/../make-repository.sh" ci "${1:-}")
cd "$folder"
exec sh job.sh "$here/../../bin/ralph"
