#!/bin/bash
# What action.yml does, in two steps: `action.sh install` and `action.sh run`. Its inputs come as variables.
set -eu

place=${RUNNER_TEMP:?}/ralph

# Without a version it is the one of this very checkout.
install() {
  mkdir -p "$place"
  spec=${RALPH_ACTION_VERSION:-}
  if [ -z "$spec" ]; then
    root=$(cd "$(dirname "$0")/.." && pwd)
    [ -d "$root/node_modules" ] || npm ci --prefix "$root" --include=dev --no-audit --no-fund
    spec=$place/$(cd "$root" && npm pack --silent --pack-destination "$place" | tail -n 1)
  fi
  npm install --prefix "$place" --omit=dev --ignore-scripts --no-audit --no-fund "$spec"
  echo "$place/node_modules/.bin" >>"$GITHUB_PATH"
  "$place/node_modules/.bin/ralph" --version
}

# Quotes in the arguments are understood; nothing else in them is, so that no word of a workflow becomes a command.
run() {
  kept=$(git rev-parse --git-common-dir)/ralph/work.bundle
  if [ -f "$kept" ]; then git fetch --quiet "$kept" '+refs/heads/ralph/*:refs/heads/ralph/*'; fi
  args=()
  if [ -n "${RALPH_ACTION_AGENT:-}" ]; then args+=(--agent "$RALPH_ACTION_AGENT"); fi
  if [[ ${RALPH_ACTION_ARGS:-} = *[![:space:]]* ]]; then
    # A loop over xargs does not see it fail, and would go on without the words after the quote: limits, say.
    if ! xargs printf '%s\0' <<<"$RALPH_ACTION_ARGS" >/dev/null; then
      echo 'ralph: the input "args" has a quote that is not closed' >&2
      echo "exit-code=64" >>"$GITHUB_OUTPUT"
      exit 64
    fi
    while IFS= read -r -d '' word; do args+=("$word"); done < <(xargs printf '%s\0' <<<"$RALPH_ACTION_ARGS")
  fi
  if [ -n "${RALPH_ACTION_GOAL:-}" ]; then args+=(-- "$RALPH_ACTION_GOAL"); fi
  code=0
  "$place/node_modules/.bin/ralph" run ${args[@]+"${args[@]}"} || code=$?
  keep_branches
  echo "exit-code=$code" >>"$GITHUB_OUTPUT"
  case " ${RALPH_ACTION_PASS_ON:-} 0 " in *" $code "*) exit 0 ;; esac
  exit "$code"
}

# Work that is not merged yet is in branches, which a fresh checkout does not have; with the state it is cached.
keep_branches() {
  if [ -z "$(git for-each-ref 'refs/heads/ralph/')" ]; then rm -f "$kept"
  elif [ -d "${kept%/*}" ]; then git bundle create --quiet "$kept" '--branches=ralph/*' || rm -f "$kept"
  fi
}

case ${1:-} in
  install) install ;;
  run) run ;;
  *) echo "action.sh: expected install or run" >&2 && exit 64 ;;
esac
