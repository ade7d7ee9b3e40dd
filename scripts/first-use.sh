#!/bin/sh
# Makes a fresh checkout ready: dependencies and dist. Called by bin/ralph with the root of the checkout.
# Several may start at once: one does the work, the others wait for it.

cd "$1" || exit 64
lock=.first-use
log=.first-use.log

ready() { [ -f node_modules/.package-lock.json ] && [ -f dist/main.js ]; }
lives() { kill -0 "$1" 2>/dev/null || ps -p "$1" >/dev/null 2>&1; }
fail() { echo "ralph: $1" >&2; exit 64; }

# The lock is a symlink to the owner's process id: made in one step, never without its owner.
# Removing a dead owner's lock is itself guarded, or two waiters could remove each other's new lock.
remove_dead_lock() {
  ln -s $$ "$lock.takeover" 2>/dev/null || return 0
  [ "$(readlink "$lock")" = "$1" ] && rm -f "$lock"
  rm -f "$lock.takeover"
}

tries=0
until ln -s $$ "$lock" 2>/dev/null; do
  ready && exit 0
  [ -w . ] || fail "this checkout is not set up, and $(pwd) is not writable; run npm ci and npm run build there first"
  owner=$(readlink "$lock")
  if [ -n "$owner" ] && ! lives "$owner"; then remove_dead_lock "$owner"
  elif [ $tries -eq 0 ]; then echo "ralph: waiting for process $owner, which is setting up this checkout…" >&2
  fi
  tries=$((tries + 1))
  [ $tries -lt 600 ] || fail "process $owner has been setting up this checkout for ten minutes; if it hangs, stop it and remove $(pwd)/$lock"
  sleep 1
done
trap 'rm -f "$lock" "$log"' EXIT
trap 'exit 64' HUP INT TERM
ready && exit 0

command -v npm >/dev/null || fail "this checkout is not set up, and there is no npm to do it; install Node.js with npm, then try again"
echo "ralph: first use of this checkout: installing dependencies and building (about half a minute)…" >&2

# --include=dev: NODE_ENV=production would leave out what the build needs.
if ! [ -f node_modules/.package-lock.json ] || ! [ -x node_modules/node/bin/node ]; then
  if ! npm ci --include=dev --loglevel=error >"$log" 2>&1; then
    head -n 20 "$log" >&2
    fail "npm ci failed in $(pwd); its messages are above"
  fi
fi
if ! [ -f dist/main.js ] && ! npm run build >"$log" 2>&1; then
  head -n 20 "$log" >&2
  fail "npm run build failed in $(pwd); its messages are above"
fi
[ -f dist/main.js ] || fail "npm run build made no dist/main.js in $(pwd)"
