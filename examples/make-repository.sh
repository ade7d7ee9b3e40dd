#!/bin/sh
# Makes a repository of an example, and prints where: examples/make-repository.sh NAME [FOLDER]
# Without a folder, which must not exist, it is a temporary one.
set -eu

examples=$(cd "$(dirname "$0")" && pwd)
name=$1
folder=${2:-}
[ -n "$folder" ] || folder=$(mktemp -d)/$name

mkdir -p "$folder/.ralph"
cp -R "$examples/$name/." "$folder"
cd "$folder"
rm README.md run.sh
mv ralph.toml .ralph/
printf '.ralph/\n.set-up\n' >.gitignore
git init --quiet .
git add --all
git -c user.name=Example -c user.email=example@localhost commit --quiet --message "An example"
echo "In $folder:" >&2
echo "$folder"
