# In the morning nothing is done. Why?
git init --quiet . && mkdir .ralph
printf -- '- [ ] **report**: make the report\n' > TODO.md
printf 'agent = "demo"\n[agents.demo]\nscript = ".ralph/script.json"\n' > .ralph/ralph.toml
echo '{"default": [[{"say": "I would start by reading the data."}]]}' > .ralph/script.json
git add --all && git commit --quiet --message start
ralph run; echo "exit code $?"
ralph why
ralph why report
ralph logs
ralph unblock report
ralph prompt | sed -n '/DO NOT IGNORE/,/^$/p'
