#!/bin/sh
# A program that runs loops itself. In a fresh clone the first line installs and builds what is missing.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
"$here/../../bin/ralph" --version >/dev/null
exec "$here/../../node_modules/node/bin/node" "$here/embed.ts"
