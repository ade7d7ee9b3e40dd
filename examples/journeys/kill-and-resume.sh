# The machine loses power in the middle of the night.
git init --quiet . && mkdir .ralph
printf -- '- [ ] **one**: first\n- [ ] **two**: second\n' > TODO.md
printf 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n' > .ralph/ralph.toml
echo '{"tasks": {"two": [[{"append": {"path": "two.txt", "text": "half"}}, {"hang": true}], [{"append": {"path": "two.txt", "text": " and half"}}, {"promise": "COMPLETE"}]]}}' > .ralph/script.json
git add --all && git commit --quiet --message start
ralph run --quiet > /dev/null 2>&1 & until [ -s two.txt ]; do sleep 0.1; done; kill -9 $!
ralph status
ralph run
ralph history
cat two.txt
