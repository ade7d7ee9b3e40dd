# The issues that another program keeps are worked on where they lie, and closed there.
git init --quiet . && mkdir .beads
printf '%s\n' '{"id":"bd-1","title":"Second","status":"open","dependencies":[{"depends_on_id":"bd-2","type":"blocks"}]}' '{"id":"bd-2","title":"First","status":"in_progress"}' '{"id":"bd-3","title":"Some day","status":"deferred"}' > .beads/issues.jsonl
git add . && git commit --quiet --message "the issues"
ralph tasks
ralph run --agent demo | grep -v Duration
cat .beads/issues.jsonl
git log --format=%s
# Or they become a list of our own, once; the original stays as it is.
ralph import .beads --dry-run > /dev/null
ralph import .beads
head -n 13 .ralph/tasks.json
