#!/bin/sh
# Runs one of the examples in a repository of its own: examples/plugins/run.sh guards
# A second word is the folder for it, which must not exist; a temporary one without it.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
kind=${1:?give the name of an example: $(ls -d "$here"/*/ | xargs -n 1 basename | tr '\n' ' ')}
folder=${2:-$(mktemp -d)/$kind}

mkdir -p "$folder/.ralph"
cp -R "$here/$kind/." "$folder"
cd "$folder"
for name in ralph.toml script.json tickets.json; do
  if [ -f "$name" ]; then mv "$name" ".ralph/$name"; fi
done
# As npm would install it.
if [ "$kind" = package ]; then mkdir node_modules && mv ralph-plugin-house-rules node_modules/; fi
printf '.ralph/\nnode_modules/\n' >.gitignore

git init --quiet .
git add --all
git -c user.name=Example -c user.email=example@localhost commit --quiet --message "An example"
echo "In $folder:"
exec "$here/../../bin/ralph" run
