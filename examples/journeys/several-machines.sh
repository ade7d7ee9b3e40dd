# A laptop and a server share one queue: the laptop submits and answers, the server works. RALPH_QUEUE_URL names the database.
git init --quiet --bare --initial-branch=main team.git && git clone --quiet team.git laptop 2>/dev/null; cd laptop && mkdir .ralph
printf -- '- [ ] **logo**: draw the logo\n- [ ] **paint**: paint the door\n' > TODO.md
printf 'agent = "sh"\n[agents.sh]\ncommand = ["sh", ".ralph/agent.sh"]\n[[gates]]\nname = "not-empty"\ncommand = "test ! -e door || test -s door"\n' > .ralph/ralph.toml
printf 'answer=$(grep --only-matching --max-count=1 "blue")\nif [ $RALPH_TASK_ID = logo ]; then echo star > logo; elif [ -n "$answer" ]; then echo $answer > door; else echo "<promise>DECIDE:Which colour? | red | blue</promise>"; exit; fi\necho "<promise>COMPLETE</promise>"\n' > .ralph/agent.sh
git add --all && git commit --quiet --message start && git push --quiet origin main
ralph submit
cd .. && git clone --quiet team.git server && cd server && ralph worker --drain --quiet; echo "exit code $?"
cd ../laptop && ralph inbox
ralph decide paint blue
cd ../server && ralph worker --drain --quiet; echo "exit code $?"
cd ../laptop && git pull --quiet && cat TODO.md logo door && git log --format=%s
ralph submit
