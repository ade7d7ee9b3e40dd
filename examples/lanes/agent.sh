# Stands for your agent. It works in a worktree, where it sees what was merged before, and nothing of its neighbours.
if [ "$RALPH_TASK_ID" = index ]; then ls *.page >index.txt; else echo "It is far." >"$RALPH_TASK_ID.page"; fi
echo "<promise>COMPLETE</promise>"
