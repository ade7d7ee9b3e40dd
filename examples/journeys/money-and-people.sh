# A budget for the night, a message on the way, a question with a default, and a fresh list in the morning
git init --quiet . && mkdir .ralph
printf -- '- [ ] **login**: make the login page\n- [ ] **colour**: choose a colour\n' > TODO.md
printf 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n' > .ralph/ralph.toml
echo '{"tasks": {"login": [[{"usage": {"cost_usd": 1.2}}, {"write": {"path": "login.html", "text": "<form>\n"}}, {"say": "half of it is there"}], [{"usage": {"cost_usd": 0.8}}, {"append": {"path": "login.html", "text": "<button>\n"}}, {"promise": "COMPLETE"}]], "colour": [[{"usage": {"cost_usd": 0.5}}, {"decide": "Which colour? | red | blue | default=blue | deadline=1s"}], [{"usage": {"cost_usd": 0.5}}, {"expectPrompt": "blue"}, {"write": {"path": "colour.txt", "text": "blue\n"}}, {"promise": "COMPLETE"}]]}}' > .ralph/script.json
git add --all && git commit --quiet --message start
ralph steer login "use a button, not a link"
ralph run --budget 2 --keep-going; echo "exit code $?"
ralph status
ralph run --budget 5 --keep-going; echo "exit code $?"
ralph steer
ralph archive --label first-page | sed 's/20[0-9-]*-first/<date>-first/'
