# Two lanes, and both tasks write the same file: the later one is told, and brings both together.
git init --quiet --initial-branch=main . && mkdir .ralph
printf -- '- [ ] **net**: show the net price\n- [ ] **gross**: show the gross price\n' > TODO.md
printf 'agent = "sh"\n[agents.sh]\ncommand = ["sh", ".ralph/agent.sh"]\n[[gates]]\nname = "no-doubles"\ncommand = "test -z \\"$(sort price.txt | uniq -d)\\""\n' > .ralph/ralph.toml
printf 'if grep --quiet "conflicts in price.txt"; then git merge main; printf "gross\\nnet\\n" > price.txt; git add --all; git commit --message together\nelif [ $RALPH_TASK_ID = net ]; then echo net > price.txt; else sleep 3; echo gross > price.txt; fi\necho "<promise>COMPLETE</promise>"\n' > .ralph/agent.sh
touch price.txt && git add --all && git commit --quiet --message start
ralph run --parallel 2 > night.log; echo "exit code $?"
grep --only-matching --extended-regexp '(⇒|←).*' night.log && rm night.log
cat price.txt TODO.md
git status --short
ralph why gross | sed 's/^  [0-9]  /  /; s/iteration [0-9]/its last iteration/'
ralph worktrees
ralph undo
cat price.txt TODO.md
